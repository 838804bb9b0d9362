"""Experiment entry points: `python -m experiments.NAME`."""
