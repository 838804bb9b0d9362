"""The promise: strict reading of YAML, the typed preregistration, and runs as slices of it."""
