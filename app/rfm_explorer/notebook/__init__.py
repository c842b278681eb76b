"""The explorer as the result of a notebook cell."""
