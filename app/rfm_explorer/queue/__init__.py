"""Whose job runs when, what it will take, and which runs sessions share."""
