"""Many realizations: run, resumed, kept and exported."""
