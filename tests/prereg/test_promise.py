"""The project's promise reads, does not contradict itself, and has one digest for one meaning."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from wm_audit.core import AuditError, strict_json
from wm_audit.prereg.forms import exact, floating
from wm_audit.prereg.promise import Promise, load_promise, loads_promise


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


def test_the_projects_promise_is_a_draft_of_the_promised_size(configs: Path) -> None:
    promise = load_promise(configs / "preregistration.yaml")
    data = promise.data
    assert (promise.version, promise.status) == (0, "draft")
    assert [item["id"] for item in data["hypotheses"]] == ["H1", "H2", "H3"]
    assert data["hypotheses"][0]["margin"] == Decimal("0.4")
    assert data["hypotheses"][1]["threshold"] == Decimal("0.6")
    assert {item["level"] for item in data["hypotheses"]} == {Decimal("0.90")}
    assert (len(data["seeds"]), len(data["capacities"])) == (20, 3)
    assert data["statistics"]["coverage"] == Decimal("0.8")
    assert (data["family"]["m"], len(data["diagnostics"])) == (11, 9)
    assert data["statistics"]["ties"] == {"float64": Decimal("1E-12"), "float32": Decimal("1E-6")}
    assert promise.header()["digest"] == promise.digest
    assert promise.header("2030-01-01")["locked_on"] == "2030-01-01"


def test_the_table_of_diagnostics_is_the_published_one(configs: Path) -> None:
    data = load_promise(configs / "preregistration.yaml").data
    orientation = {name: item["orientation"] for name, item in data["diagnostics"].items()}
    larger = {"pixel_ssim", "counterfactual_tau", "uncertainty_rho"}
    assert {name for name, sign in orientation.items() if sign == 1} == larger
    assert {name for name, sign in orientation.items() if sign == -1} == set(orientation) - larger
    for group, members in (("perceptual", data["composites"]["perceptual"]), ("control", data["composites"]["control"])):
        assert {name for name, item in data["diagnostics"].items() if group in item["groups"]} == set(members)
    assert {name for name, item in data["diagnostics"].items() if "calibration" in item["groups"]} == set(data["composites"]["calibration"])
    assert data["composites"]["pixel"] == data["composites"]["perceptual"]


def reordered(value: Any) -> Any:
    """Every map turned round; lists keep their order, which means something."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def test_two_files_with_one_meaning_have_one_digest(text: str) -> None:
    """Comments, order of names, block or flow style, quoting, line ends and trailing zeros."""
    promise = loads_promise(text)
    bare = re.sub(r"(?m)\s+#.*$|^#.*$", "", text)
    assert "#" not in bare
    assert loads_promise(bare).digest == promise.digest
    assert loads_promise(text.replace("\n", "\r\n")).digest == promise.digest
    assert loads_promise(text.replace("0.90", "0.9").replace("free_nats: 1 ", "free_nats: 1.0 ")).digest == promise.digest
    assert loads_promise(text.replace("reward: dense", "'reward': \"dense\"")).digest == promise.digest
    plain = yaml.safe_load(re.sub(r"0\.000000000001\b", "'T12'", text.replace("0.000001}", "'T6'}")))
    turned = yaml.safe_dump(reordered(plain), sort_keys=False, default_flow_style=None)
    turned = turned.replace("T12", "0.000000000001").replace("T6", "0.000001")
    assert loads_promise(turned).digest == promise.digest


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every scalar."""
    if isinstance(value, dict):
        return [leaf for name in value for leaf in leaves(value[name], (*path, name))]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path]


def altered(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool) or value is None:
        return "x"
    return value + 1 if isinstance(value, int | Decimal) else value + "x"


def test_every_value_matters(text: str) -> None:
    promise = loads_promise(text)
    digests = {promise.digest}
    paths = leaves(promise.data)
    for path in paths:
        data = exact(promise.data)
        place, source = data, promise.data
        for step in path[:-1]:
            place, source = place[step], source[step]
        place[path[-1]] = exact(altered(source[path[-1]]))
        digests.add(strict_json.digest(data))
    assert len(digests) == len(paths) + 1


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        ("  - id: H2", "  - id: H1", "hypotheses[1].id", "a second time"),
        ("    margin: 0.4 ", "    threshold: 0.4\n    margin: 0.4 ", "hypotheses[0]", "exactly one of them"),
        ("    margin: 0.4 ", "    #", "hypotheses[0]", "exactly one of them"),
        ("composites: [perceptual]", "composites: [perceptal]", "hypotheses[0].composites[0]", "write perceptual"),
        ("composites: [calibration, pixel]", "composites: [calibration]", "hypotheses[2].composites", "2 for degradation_contrast"),
        ("uniform: {share: 0.1}", "uniform: {share: 0.11}", "collection.behaviours", "sum to 1.01"),
        ("probe: 0.1, held_out: 0.1", "probe: 0, held_out: 0.2", "collection.split.probe", "share of 0"),
        ("train: 0.8", "train: 0.7999999999999999999999", "collection.split", "0.9999999999999999999999"),
        ("pixel: [pixel_mse,", "pixel: [pixel_msa,", "composites.pixel[0]", "write pixel_mse"),
        (
            "pixel_ssim: {groups: [perceptual], orientation: 1",
            "pixel_ssim: {groups: [perceptual], orientation: 0",
            "composites",
            "no orientation",
        ),
        ("m: 11", "m: 12", "family.m", "write 11"),
        ("    - control\n", "    - controll\n", "family.members[10]", "write control"),
        ("arms: [trained, ", "arms: [", "arms", "add trained"),
        ("elites: 8", "elites: 64", "planning.elites", "fewer than the 64"),
        ("std_floor: 0.05", "std_floor: 0.6", "planning.std_floor", "at most init_std"),
        ("horizon: 12", "horizon: 48", "evaluation.horizon", "episodes of pixel_nav have 50"),
        ("probe_hold: 5", "probe_hold: 60", "evaluation.probe_hold", "inside an episode"),
        ("  pixel_lpips.fixed_filters:", "  pixel_mse:", "extras.pixel_mse", "is a diagnostic already"),
        ("learning_rate: 0.002", "learning_rate: 1e-3", "training.learning_rate", "write 0.001"),
        ("steps: 200000", "steps: 200k", "training.steps", "write 200000"),
        ("reward: dense", "reward: off", "environments.pixel_nav.reward", "reads as false"),
        ("exclusion: none", "exclusion: some", "exclusion", "one of none"),
        ("status: draft", "status: drafted", "status", "one of draft, locked"),
        ("version: 0", "versoin: 0", "versoin", "write version"),
    ],
)
def test_contradictions_are_named(text: str, old: str, new: str, field: str, words: str) -> None:
    with pytest.raises(AuditError) as caught:
        loads_promise(changed(text, old, new), where="mine.yaml")
    line = str(caught.value)
    assert "\n" not in line
    assert re.match(rf"mine\.yaml, line \d+, field {re.escape(field)}", line), line
    assert words in line


def test_messages_name_the_line(text: str) -> None:
    number = text.splitlines().index("version: 0") + 1
    with pytest.raises(AuditError, match=f"line {number}, field version"):
        loads_promise(changed(text, "version: 0", "version: 1e0"))


def test_a_draft_may_have_no_power_table_and_what_it_says_names_its_design(text: str) -> None:
    block = text[text.index("\npower:\n") + 1 : text.index("\nexploratory:") + 1]
    assert loads_promise(text.replace(block, "power: null\n")).data["power"] is None
    for old, new, field in (
        (", intra_seed_correlation: 0,", ",", "intra_seed_correlation"),
        ("share_decided: 0.792", "share_decided: 1.2", "share_decided"),
    ):
        with pytest.raises(AuditError, match=field):
            loads_promise(changed(text, old, new))


def test_the_two_forms(text: str) -> None:
    promise: Promise = loads_promise(text)
    assert strict_json.digest(exact(promise.data)) == promise.digest
    assert exact(promise.data)["training"]["learning_rate"] == "0.002"
    assert floating(promise.data)["training"]["learning_rate"] == 0.002
    assert type(floating(promise.data)["training"]["steps"]) is int
    assert floating({"a": (Decimal("0.1"), [Decimal(2)])}) == {"a": [0.1, [2.0]]}
