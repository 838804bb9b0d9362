"""The grid: cells, records, workers, shards, progress, provenance. Knows nothing of models."""
