"""Tracking: tables of detections, the events that may have happened, and what is known of them."""
