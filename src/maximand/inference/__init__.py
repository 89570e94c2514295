"""Algorithms on pairwise factor graphs, one file each, and what their answers are worth."""

from maximand.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
