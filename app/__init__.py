"""The interactive explorer of random feature maps."""
