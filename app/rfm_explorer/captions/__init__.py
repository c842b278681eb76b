"""Sentences that read the pictures aloud."""
