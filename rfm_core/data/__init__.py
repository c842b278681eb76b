"""What is learnt from: generated data, cached by digest, and series of a user's own."""
