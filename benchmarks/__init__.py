"""Speed, each time against a named peer or the machine's own limit, measured in the same run."""
