"""Learned perceptual features: trunks in plain torch around weight files that ship inside published packages.

A feature is never swapped for another: where its weight file is not installed the measurement is null, `feature_weights_missing`.
"""
