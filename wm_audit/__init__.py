"""wm_audit: measures whether a world model's looks predict its use, and whether its word may be trusted."""

__version__ = "0.1.0"
