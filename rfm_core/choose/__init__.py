"""Choosing for the user: beta, the halo, the model to start from, what it costs."""
