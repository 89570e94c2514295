"""Pure functions on arrays. They know nothing of spaces, features or losses."""

import maximand.compiling  # noqa: F401  listens from the first kernel on
