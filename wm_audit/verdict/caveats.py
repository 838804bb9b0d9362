"""Caveats: short codes in files, sentences for people."""

from collections.abc import Mapping
from types import MappingProxyType

from wm_audit.core import Reason

NOISY, TIED, BELOW = "noisy_outcome", "tied_outcome", Reason.BELOW_NOISE_FLOOR.value

_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "control_failed": "the control {0} did not give its known answer: something in the chain of measurement is broken",
        "control_missing": "the planned control {0} was not run",
        "null_member": "{0} is missing in {2} of the planned cells: {1}",
        "incomplete_seeds": "{0} planned seeds are incomplete and left out",
        "constant_capacity": "nothing varies at capacity {0}, which is left out",
        NOISY: "less than half of the outcome's variance between seeds is signal, the rest is evaluation noise",
        TIED: "fewer than half of the outcomes are distinct",
        BELOW: "every change is smaller than the evaluation noise",
        "fragile": "another reasonable analysis changes the answer",
        "incomplete_seeds:1": "1 planned seed is incomplete and left out",
        "row_missing": "the row is missing",
    }
)


def sentence(caveat: str) -> str:
    """A caveat or a reason code in words; an unknown code stays as it is."""
    if caveat in _SENTENCES and caveat not in set(Reason):
        return _SENTENCES[caveat]
    name, *parts = caveat.split(":")
    if name in _SENTENCES and (parts or name not in set(Reason)):
        return _SENTENCES[name].format(*(sentence(part) for part in parts))
    return Reason(name).sentence if name in set(Reason) else caveat


def null_member(member: str, counts: Mapping[str, int]) -> str:
    """The caveat of a member with gaps: its name, its most frequent reason, and how many cells are missing."""
    reason = max(sorted(counts), key=lambda code: counts[code])
    return f"null_member:{member}:{reason}:{sum(counts.values())}"
