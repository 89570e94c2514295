"""Pure functions on arrays. They know nothing of spaces, features or losses."""
