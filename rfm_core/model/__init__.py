"""What a model is, how it is trained, how it forecasts, how it is kept."""
