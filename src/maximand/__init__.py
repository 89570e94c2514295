"""maximand: structured prediction with guarantees."""
