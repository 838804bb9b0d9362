"""The audit: does perceptual fidelity predict control? Read `run.py` first."""
