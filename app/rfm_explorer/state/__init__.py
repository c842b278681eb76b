"""The state of an experiment: its controls, links, stories and code; no widget."""
