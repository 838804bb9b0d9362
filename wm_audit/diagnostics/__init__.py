"""Numbers about a world model: how its predictions look, what they are worth to a planner, whether its doubt can be believed."""
