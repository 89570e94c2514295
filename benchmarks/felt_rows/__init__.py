"""Rows of `felt.py`, topic by topic: functions that measure and say what they saw."""
