"""Ping, Liu, Ihler: Marginal structured SVM with hidden variables."""
