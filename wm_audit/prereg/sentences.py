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
    yield from _power(data["power"])
    yield "Exploratory whatever happens: " + "; ".join(data["exploratory"]) + "."


def _rule(item: Mapping[str, Any]) -> str:
    about = _RULES[item["estimand"]].format(*item["composites"])
    level = f"{plain_decimal(item['level'] * 100)}% interval"
    if "margin" in item:
        low, high = plain_decimal(-item["margin"]), plain_decimal(item["margin"])
        return f"Supported when the {level} of {about} lies inside ({low}, {high}), contradicted when wholly outside."
    return f"Supported when the {level} of {about} lies above {plain_decimal(item['threshold'])}, contradicted when wholly below."


def _power(power: Mapping[str, Any] | None) -> Iterator[str]:
    """One sentence for each question, design and intra-seed correlation."""
    if power is None:
        yield "Power: not stated yet; a promise without it cannot be locked."
        return
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in power["table"]:
        design = f"{item['seeds']} seeds x {item['capacities']} capacities"
        key = (item["question"], design, plain_decimal(item["intra_seed_correlation"]))
        groups.setdefault(key, []).append(f"{plain_decimal(item['share_decided'])} at {plain_decimal(item['true_value'])}")
    for (question, design, correlation), shares in groups.items():
        yield f"Power: {question} with {design}, intra-seed correlation {correlation}: share decided by true value: {', '.join(shares)}."
    yield f"Where these intra-seed correlations come from: {power['source']}."
