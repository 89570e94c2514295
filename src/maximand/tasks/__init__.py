"""Tasks bind a space, features and a cost to the user's data, and check it at the door."""

from maximand.lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
