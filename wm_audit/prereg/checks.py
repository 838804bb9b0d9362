"""What a promise must not contradict itself in; the schema sees one field at a time, these rules see several."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from wm_audit.core import AuditError
from wm_audit.prereg.strict_yaml import nearest

Problem = tuple[str, str, str, str]
"""Field, what is wrong, what was expected, what to write."""


def check(data: Mapping[str, Any], place: Callable[[str], str]) -> None:
    """Refuses a promise that contradicts itself.

    Args:
        data: every field of the promise.
        place: file and line of a field's path, for the message.

    Raises:
        AuditError: names file, line and the first such field.
    """
    for rule in (_hypotheses, _shares, _composites, _family, _grid, _planning, _windows):
        for field, what, expected, fix in rule(data):
            raise AuditError(what, where=place(field), expected=expected, fix=fix)


def _hypotheses(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Each question once, with the bound its rule needs and composites that exist."""
    seen: set[str] = set()
    for index, item in enumerate(data["hypotheses"]):
        field = f"hypotheses[{index}]"
        if item["id"] in seen:
            yield f"{field}.id", f"names {item['id']} a second time", "every hypothesis once", "remove one of the two"
        seen.add(item["id"])
        if ("margin" in item) == ("threshold" in item):
            yield field, "needs a margin or a threshold", "exactly one of them", "keep the one that the rule compares with"
        sides = 2 if item["estimand"] == "degradation_contrast" else 1
        if len(item["composites"]) != sides:
            yield (
                f"{field}.composites",
                f"names {len(item['composites'])} composites",
                f"{sides} for {item['estimand']}",
                "correct the list",
            )
        for place, name in enumerate(item["composites"]):
            if name not in data["composites"]:
                yield f"{field}.composites[{place}]", f"names {name!r}", "a composite", nearest(name, data["composites"])


def _shares(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Shares of a whole are positive and sum to one, exactly."""
    collection = data["collection"]
    behaviours = {name: item["share"] for name, item in collection["behaviours"].items()}
    for field, shares in (("behaviours", behaviours), ("split", collection["split"])):
        for name in (name for name, share in shares.items() if share == 0):
            yield f"collection.{field}.{name}", "has a share of 0", "a share above 0", "give it a share"
        total = sum(shares.values(), Decimal(0))
        if total != 1:
            yield f"collection.{field}", f"has shares that sum to {total}", "a sum of 1", "correct one of them"


def _composites(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Composites are made of diagnostics, never of extras, and only of oriented ones."""
    for name, members in data["composites"].items():
        for index, member in enumerate(members):
            field = f"composites.{name}[{index}]"
            if member not in data["diagnostics"]:
                yield field, f"names {member!r}", "a diagnostic", nearest(member, data["diagnostics"])
            elif data["diagnostics"][member]["orientation"] == 0:
                yield field, f"names {member!r}, which has no orientation", "an oriented diagnostic", "take it out"
    for name in data["extras"]:
        if name in data["diagnostics"]:
            yield f"extras.{name}", "is a diagnostic already", "another name", "rename it"


def _family(data: Mapping[str, Any]) -> Iterator[Problem]:
    """The number m is that of the members, and each exists."""
    known = list(data["diagnostics"]) + list(data["composites"])
    for index, member in enumerate(data["family"]["members"]):
        if member not in known:
            yield f"family.members[{index}]", f"names {member!r}", "a diagnostic or composite", nearest(member, known)
    count = len(data["family"]["members"])
    if data["family"]["m"] != count:
        yield "family.m", f"is {data['family']['m']}", f"the number of members, {count}", f"write {count}"


def _grid(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Without trained models there is nothing to audit."""
    if "trained" not in data["arms"]:
        yield "arms", "does not name trained", "the arm that is audited", "add trained"


def _planning(data: Mapping[str, Any]) -> Iterator[Problem]:
    """A search needs candidates that are not elites, and a spread that can shrink."""
    planning = data["planning"]
    if planning["elites"] >= planning["candidates"]:
        yield "planning.elites", f"is {planning['elites']}", f"fewer than the {planning['candidates']} candidates", "lower it"
    if planning["std_floor"] > planning["init_std"]:
        yield "planning.std_floor", f"is {planning['std_floor']}", f"at most init_std, {planning['init_std']}", "lower it"


def _windows(data: Mapping[str, Any]) -> Iterator[Problem]:
    """A segment and a probe fit into an episode, where the environment says how long one is."""
    evaluation = data["evaluation"]
    for name, settings in data["environments"].items():
        limit = settings.get("limit")
        for window in ("horizon", "probe_hold"):
            length = evaluation["context"] + evaluation[window] - 1
            if isinstance(limit, int) and not isinstance(limit, bool) and length > limit:
                what = f"needs {length} steps with its context, but episodes of {name} have {limit}"
                yield f"evaluation.{window}", what, "a window inside an episode", "shorten it"
