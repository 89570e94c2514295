"""Stored results as one page that any browser shows."""

from maximand.report.page import write_report

__all__ = ["write_report"]
