"""How good a model is: forecast times, climate, exponents, features, regressions."""
