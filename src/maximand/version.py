"""The version of this library, as it was installed."""

from importlib.metadata import version

__version__ = version("maximand")
