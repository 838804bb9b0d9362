"""A promise in sentences, for whoever is to agree to it."""

from collections.abc import Iterator, Mapping
from typing import Any

from wm_audit.core.strict_json import plain_decimal
from wm_audit.prereg.promise import Promise

_RULES = {
    "within_capacity_rho": "the rank correlation of {0} with the real return inside capacities",
    "degradation_contrast": "how much more {0} degrades than {1} under compression",
}


def sentences(promise: Promise) -> Iterator[str]:
    """What is asked, of what, with which budgets, decided how."""
    data = promise.data
    for item in data["hypotheses"]:
        yield f"{item['id']}: {item['question']} {_rule(item)}"
    capacities = ", ".join(f"{item['hidden']}x{item['embed']}" for item in data["capacities"])
    size = f"{len(data['seeds'])} seeds x {len(data['capacities'])} capacities ({capacities})"
    yield f"Design: {size} in each of {', '.join(data['environments'])}."
    yield f"Arms: {', '.join(data['arms'])}; compressed twins: {', '.join(data['levers']) or 'none'}."
    yield f"Data: {data['collection']['steps']} steps; training: {data['training']['steps']} steps of {data['model']['members']} members."
    yield f"Returns: {data['evaluation']['starts']} start states shared by all cells."
    for name, members in data["composites"].items():
        yield f"Composite {name}: {', '.join(members)}."
    yield f"Holm over {data['family']['m']} tests: {', '.join(data['family']['members'])}."
    least = plain_decimal(data["statistics"]["coverage"])
    yield f"A statistic needs {least} of the seeds complete; no row is excluded; the number of seeds is fixed, nobody looks before the end."
    if data["power"] is None:
        yield "Power: not stated yet; a promise without it cannot be locked."
    yield from (_power(item) for item in (data["power"] or {"table": []})["table"])
    yield "Exploratory whatever happens: " + "; ".join(data["exploratory"]) + "."


def _rule(item: Mapping[str, Any]) -> str:
    about = _RULES[item["estimand"]].format(*item["composites"])
    level = f"{plain_decimal(item['level'] * 100)}% interval"
    if "margin" in item:
        low, high = plain_decimal(-item["margin"]), plain_decimal(item["margin"])
        return f"Supported when the {level} of {about} lies inside ({low}, {high}), contradicted when wholly outside."
    return f"Supported when the {level} of {about} lies above {plain_decimal(item['threshold'])}, contradicted when wholly below."


def _power(item: Mapping[str, Any]) -> str:
    true, share = plain_decimal(item["true_value"]), plain_decimal(item["share_decided"])
    design = f"{item['seeds']} seeds x {item['capacities']} capacities"
    return f"Power: {item['question']} with {design} is decided in {share} of runs if the truth is {true}."
