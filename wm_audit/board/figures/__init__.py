"""Figures as SVG. matplotlib is optional, and imported only when a figure is drawn."""
