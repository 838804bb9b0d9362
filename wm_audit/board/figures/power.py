"""Power curves: how often each question is decided, by true value and number of seeds."""

from collections.abc import Mapping, Sequence
from typing import Any

from wm_audit.board.figures.style import COLOURS, DASHES, INK, require_matplotlib, styled, svg

_WORDS = {"H1": "H1: weak?", "H2": "H2: strong?", "H3": "H3: faster?"}


def power_figure(document: Mapping[str, Any]) -> str:
    """One row of panels for every number of capacities and intra-seed correlation, one panel for every question.

    Args:
        document: schema `wm_audit/power/1`.

    Returns:
        SVG text; the same document gives the same bytes under one version of matplotlib.

    Raises:
        AuditError: matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415

    designs = document["designs"]
    rows = sorted({(item["capacities"], item["icc"]) for item in designs})
    seeds = sorted({item["seeds"] for item in designs})
    looks = {count: (COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]) for place, count in enumerate(seeds)}
    with styled():
        figure = Figure(figsize=(9.0, 0.6 + 2.2 * len(rows)), layout="constrained")
        panels = figure.subplots(len(rows), 3, squeeze=False, sharey=True)
        for line, row in zip(panels, rows, strict=True):
            chosen = [item for item in designs if (item["capacities"], item["icc"]) == row]
            for place, panel in enumerate(line):
                _panel(panel, chosen, place, looks, document["power"])
            line[0].set_ylabel(f"share decided\n{row[0]} capacities, icc {row[1]:g}")
        names = {text: handle for panel in panels.flat for handle, text in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(list(names.values()), list(names), loc="outside upper center", ncols=max(1, len(names)))
        return svg(figure)


def _panel(panel: Any, designs: Sequence[Mapping[str, Any]], place: int, looks: Mapping[int, tuple[Any, Any]], power: float) -> None:
    """The curves of one question, one for every number of seeds; a design without an interval has none."""
    for design in designs:
        found = design["questions"][place]
        colour, dash = looks[design["seeds"]]
        truths = [share["truth"] for share in found["curve"]]
        decided = [share["supported"] + share["contradicted"] for share in found["curve"]]
        if truths:
            panel.plot(truths, decided, color=colour, linestyle=dash, label=f"{design['seeds']} seeds")
    found = designs[0]["questions"][place]
    panel.axvline(found["bound"], color=INK, linewidth=0.8, alpha=0.7)
    panel.axhline(power, color=INK, linewidth=0.8, linestyle=":", alpha=0.7)
    panel.set_ylim(-0.02, 1.02)
    panel.set_title(_WORDS[found["question"]], fontsize=9, color=INK)
    panel.set_xlabel("true within-capacity rho" if found["unit"] == "rho" else "true contrast, SDs of a cell's")
