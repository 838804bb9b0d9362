"""World models: what they are, how an ensemble is built, and controls with known answers."""
