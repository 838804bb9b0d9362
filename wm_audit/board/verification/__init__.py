"""Verification of a results file: ten checks, one line each, from the file and the clone around it. No torch."""
