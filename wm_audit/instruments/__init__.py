"""Questions composed from the shared stages; instruments never import each other."""
