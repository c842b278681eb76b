"""The published tables, and their repetition."""
