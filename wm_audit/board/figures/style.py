"""How every figure looks, and how it becomes the same bytes every time."""

import importlib.util
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wm_audit.core import AuditError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Four colours that stay apart for every common kind of colour blindness (Okabe and Ito 2008, vermillion and green a little darker), and
# a grey. Each has a contrast of at least 3 with white and with GitHub's dark page, since the figure itself has no background.
COLOURS = ("#0072b2", "#d55e00", "#00916a", "#b8659a", "#767676")
DASHES = ("-", "--", "-.", ":", (0, (1, 3)))  # colour is never the only difference
INK = "#767676"
"""Text and axes: contrast 4.5 with white, 4.1 with the dark page."""

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "wm_audit",  # element names, random otherwise
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: layout does not depend on the machine's fonts
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "path.simplify": False,
}


def require_matplotlib() -> None:
    """Refuses before any work is done where no figure could be drawn.

    Raises:
        AuditError: matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise AuditError(
            "matplotlib is not installed", where="figures", expected="the optional extra", fix="python -m pip install 'wm-audit[figures]'"
        )


@contextmanager
def styled() -> Iterator[None]:
    """A context in which figures have the project's style, and nothing of the user's own settings."""
    import matplotlib as mpl  # noqa: PLC0415

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def svg(figure: "Figure") -> str:
    """The figure as SVG text, without date or program version. Call inside `styled`."""
    target = io.BytesIO()
    figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in target.getvalue().decode("utf-8").splitlines()) + "\n"
