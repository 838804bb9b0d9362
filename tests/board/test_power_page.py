"""The published power table is what its own data and the command say."""

import importlib.util
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from wm_audit.board.figures import style
from wm_audit.board.figures.power import power_figure
from wm_audit.board.power_page import page, promise_block, terminal
from wm_audit.cli.power import with_sizes
from wm_audit.core import AuditError, strict_json
from wm_audit.instruments.audit.power import power_table
from wm_audit.instruments.audit.simulate import Plan
from wm_audit.instruments.audit.size import size
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import load_promise
from wm_audit.verdict import Rules

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PROMISE = ROOT / "configs" / "preregistration.yaml"
PINNED = next(line for line in (ROOT / "requirements-lock.txt").read_text(encoding="utf-8").splitlines() if line.startswith("matplotlib=="))


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    document: dict[str, Any] = strict_json.load(DOCS / "power" / "power.json")
    return document


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules.of_promise(exact(load_promise(PROMISE).data))


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def drawable() -> bool:
    return importlib.util.find_spec("matplotlib") is not None and f"matplotlib=={version('matplotlib')}" == PINNED


def test_pages_say_what_the_data_say(published: dict[str, Any]) -> None:
    assert read("power/power.json") == strict_json.dumps(published)
    assert read("power/power.md") == page(published)
    assert read("power/power.yaml") == promise_block(published, (20, 3))
    assert read("statistics.md") == with_sizes(read("statistics.md"), published["size"], where="statistics.md")


@pytest.mark.skipif(not drawable(), reason="the pinned matplotlib is not installed")
def test_the_figure_shows_what_the_data_say(published: dict[str, Any]) -> None:
    assert power_figure(published) == read("power/power.svg")


def test_the_smallest_design_simulates_to_the_published_numbers(published: dict[str, Any], rules: Rules) -> None:
    first = published["designs"][0]
    plan = Plan(first["seeds"], first["capacities"], first["icc"])
    assert power_table([plan], rules, repetitions=published["repetitions"], power=published["power"])["designs"] == [first]


def test_the_smallest_size_too(published: dict[str, Any], rules: Rules) -> None:
    first = published["size"]["rows"][0]
    assert size(first["null"], (first["seeds"], first["capacities"]), rules, published["size"]["repetitions"]) == first


def test_the_primary_test_keeps_its_level_and_the_naive_one_does_not(published: dict[str, Any]) -> None:
    assert published["size"]["repetitions"] >= 400
    assert max(row["primary"] for row in published["size"]["rows"]) <= 0.07
    assert min(row["naive"] for row in published["size"]["rows"] if row["null"] != "seeds") > 0.5


def test_the_rules_are_those_of_the_promise(published: dict[str, Any], rules: Rules) -> None:
    said = {"root": rules.root, "level": rules.level, "margin": rules.margin, "threshold": rules.threshold}
    assert published["rules"] == said
    grid = (len(rules.seeds), len(rules.capacities))
    assert grid in {(item["seeds"], item["capacities"]) for item in published["designs"]}


def test_the_promise_holds_what_was_simulated_for_its_own_design() -> None:
    assert read("power/power.yaml") in PROMISE.read_text(encoding="utf-8")
    promise = load_promise(PROMISE).data
    held = promise["power"]["table"]
    assert {(item["seeds"], item["capacities"]) for item in held} == {(len(promise["seeds"]), len(promise["capacities"]))}
    found = {(item["question"], item["intra_seed_correlation"]) for item in held}
    assert found == {(question, Decimal(icc)) for question in ("H1", "H2", "H3") for icc in ("0", "0.5")}


def test_missing_numbers_are_explained() -> None:
    document = power_table([Plan(1, 3, 0.5), Plan(5, 1, 0.5)], Rules.default(), repetitions=20)
    document |= {"source": "assumed", "estimates": []}
    assert "too few complete seeds" in page(document)
    assert "too few complete seeds" in terminal(document)
    assert "seeds: 1," not in promise_block(document)
    nothing = power_table([Plan(1, 3, 0.5)], Rules.default(), repetitions=20) | {"source": "assumed", "estimates": []}
    with pytest.raises(AuditError, match="seeds"):
        promise_block(nothing)


def test_a_page_without_its_block_is_refused(published: dict[str, Any]) -> None:
    with pytest.raises(AuditError, match="0 blocks"):
        with_sizes("nothing", published["size"], where="page.md")


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("page_colour", ["#ffffff", "#0d1117"])
def test_every_colour_is_readable_on_light_and_dark_pages(page_colour: str) -> None:
    for colour in (*style.COLOURS, style.INK):
        pair = sorted((luminance(colour), luminance(page_colour)))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3.0, colour
