"""A run may select and shrink; whatever else it changes is refused by name."""

import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError, strict_json
from wm_audit.prereg.audit_config import MODES, executed_of, load_config
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import load_promise, loads_promise
from wm_audit.prereg.slice import BUDGETS, SELECTED, SWITCHES, differences, relation

Write = Callable[..., Path]
RUNS = ("smoke_pixel_nav", "pilot_pixel_nav", "main_pixel_nav", "main_pixel_nav_full", "main_pixel_nav_20")


@pytest.mark.parametrize("name", RUNS)
def test_every_run_of_the_project_is_an_exploratory_slice(configs: Path, name: str) -> None:
    run = load_config(configs / "audit" / f"{name}.yaml")
    assert (run.name, run.relation, run.claim().label) == (name, "slice", "exploratory")
    assert run.mode == name.partition("_")[0]
    assert run.promise.digest == load_promise(configs / "preregistration.yaml").digest
    assert list(run.environments) == ["pixel_nav"]


def test_every_file_of_runs_is_known(configs: Path) -> None:
    assert {path.stem for path in (configs / "audit").glob("*.yaml")} == set(RUNS)


def test_the_sizes_of_the_runs(configs: Path) -> None:
    runs = {name: load_config(configs / "audit" / f"{name}.yaml") for name in RUNS}
    full = runs["main_pixel_nav_full"]
    assert (full.section("training")["steps"], full.section("collection")["steps"]) == (200_000, 100_000)
    assert (len(full.seeds), full.capacities, full.section("statistics")["resamples"]) == (5, ((16, 16), (32, 32), (64, 64)), 2000)
    assert "int8" in full.section("levers")
    assert (len(runs["smoke_pixel_nav"].seeds), len(runs["smoke_pixel_nav"].capacities)) == (3, 2)
    assert (len(runs["pilot_pixel_nav"].seeds), len(runs["pilot_pixel_nav"].capacities)) == (3, 3)
    assert len(runs["main_pixel_nav_20"].seeds) == 20
    twenty, five = (exact(runs[name].executed) | {"seeds": []} for name in ("main_pixel_nav_20", "main_pixel_nav_full"))
    assert twenty == five


def test_a_run_that_says_nothing_is_equal(with_promise: Write) -> None:
    run = load_config(with_promise(""))
    assert run.relation == "equal"
    assert run.claim().label == "exploratory"
    assert run.to_json() == {"name": "run", "mode": "smoke", **exact(run.promise.data)}
    assert strict_json.digest(executed_of(run.to_json())) == run.promise.digest


def test_saying_what_is_promised_changes_nothing(with_promise: Write) -> None:
    run = load_config(with_promise("training: {learning_rate: 0.0020, batch: 4}\nmodel: {free_nats: 1.0}\n"))
    assert run.relation == "equal"


def test_selections_take_the_promises_order(with_promise: Write) -> None:
    first = load_config(with_promise("seeds: [2, 0]\narms: [random, trained]\nenvironments: [two_room, pixel_nav]\n"))
    assert first.seeds == (0, 2)
    assert first.section("arms") == ["trained", "random"]
    assert list(first.environments) == ["pixel_nav", "two_room"]
    second = load_config(with_promise("arms: [trained, random]\nseeds: [0, 2]\n"))
    assert strict_json.digest(first.to_json()) == strict_json.digest(second.to_json())


@pytest.mark.parametrize("field", BUDGETS)
def test_every_budget_may_shrink_and_not_grow(with_promise: Write, text: str, field: str) -> None:
    section, _, name = field.partition(".")
    promised = loads_promise(text).data[section][name]
    assert isinstance(promised, int)
    extra = {"planning.candidates": 63, "planning.elites": 7}.get(field, promised - 1)
    assert load_config(with_promise(f"{section}: {{{name}: {extra}}}\n")).relation == "slice"
    with pytest.raises(AuditError, match=rf"line 3, field {re.escape(field)}: .*found {promised + 1}; expected at most {promised}"):
        load_config(with_promise(f"{section}: {{{name}: {promised + 1}}}\n"))


@pytest.mark.parametrize(
    ("run", "field", "words"),
    [
        ("seeds: [0, 20]", "seeds[1]", "found 20"),
        ("capacities: [{hidden: 16, embed: 32}]", "capacities[0]", "found {'hidden': 16, 'embed': 32}"),
        ("environments: [pixel_nav, tworoom]", "environments[1]", "write two_room"),
        ("environments: {pixel_nav: {image: 16}}", "environments", "found a map"),
        ("environments: []", "environments", "found 0 items"),
        ("arms: [trained, lucky]", "arms[1]", "found lucky"),
        ("arms: [random]", "arms", "add trained"),
        ("levers: [int4]", "levers[0]", "found int4"),
        ("training: {learning_rate: 0.01}", "training.learning_rate", "found 0.01; expected 0.002, as promised"),
        ("training: {batch: 2}", "training.batch", "found 2; expected 4"),
        ("evaluation: {horizon: 8}", "evaluation.horizon", "found 8"),
        ("model: {members: 2}", "model.members", "found 2"),
        ("model: {variance: scalar}", "model.variance", "found scalar; expected pixel"),
        ("statistics: {coverage: 0.5}", "statistics.coverage", "found 0.5"),
        ("statistics: {ties: {float32: 0.01}}", "statistics.ties.float32", "found 0.01"),
        ("diagnostics: {pixel_mse: {orientation: 1}}", "diagnostics.pixel_mse.orientation", "found 1; expected -1"),
        ("extras: {pixel_mae: {orientation: 1}}", "extras.pixel_mae", "no such field"),
        ("composites: {perceptual: [pixel_mse]}", "composites.perceptual", "as promised"),
        ("exclusion: none\nroot: 4", "root", "found 4"),
        ("status: locked", "status", "found locked"),
        ("power: {source: a pilot}", "power.source", "found a pilot; expected assumed"),
        ("collection: {behaviours: {uniform: {share: 1}}}", "collection.behaviours.uniform.share", "found 1"),
        ("model: {own: {width: 3}}", "model.own", "no such field"),
        ("planning: {candidates: 8}", "planning.elites", "fewer than the 8 candidates"),
        ("training: {stepz: 3}", "training.stepz", "write steps"),
        ("training: {steps: 3e2}", "training.steps", "write 300"),
        ("training: {steps: 0}", "training.steps", "at least 1"),
        ("budget: 3", "budget", "is not known here"),
    ],
)
def test_anything_else_is_refused_by_name(with_promise: Write, run: str, field: str, words: str) -> None:
    with pytest.raises(AuditError) as caught:
        load_config(with_promise(run + "\n"))
    line = str(caught.value)
    assert f"field {field}: " in line, line
    assert words in line, line
    assert "\n" not in line
    assert caught.value.exit_code == 2


def test_a_run_may_switch_compilation_off_and_not_on(with_promise: Write, text: str) -> None:
    off = load_config(with_promise("training: {compiled: false}\n"))
    assert (off.relation, off.section("training")["compiled"]) == ("slice", False)
    eager = text.replace("compiled: true", "compiled: false")
    assert eager != text
    with pytest.raises(AuditError, match=r"field training\.compiled: .*found True; expected False, as promised"):
        load_config(with_promise("training: {compiled: true}\n", eager))


def test_a_model_family_of_ones_own_gets_settings_of_its_own(with_promise: Write, text: str) -> None:
    own = text.replace("  continue_scale: 1\n", "  continue_scale: 1\n  own: {layers: 2, rate: 0.5, kind: mlp}\n")
    assert load_config(with_promise("", own)).section("model")["own"] == {"layers": 2, "rate": 0.5, "kind": "mlp"}


def test_a_run_names_its_own_promise(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.yaml").write_text(text.replace("image: 32", "image: 16"), encoding="utf-8")
    (tmp_path / "runs").mkdir()
    run = tmp_path / "runs" / "run.yaml"
    run.write_text("name: own\nmode: pilot\npreregistration: ../mine.yaml\nenvironments: [pixel_nav]\n", encoding="utf-8")
    config = load_config(run)
    assert config.environments["pixel_nav"]["image"] == 16
    assert "preregistration" not in config.to_json()
    run.write_text("name: own\nmode: pilot\npreregistration: nothing.yaml\n", encoding="utf-8")
    with pytest.raises(AuditError, match=r"nothing\.yaml: cannot be read"):
        load_config(run)


def test_a_run_without_a_promise_says_how_to_name_one(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    run = tmp_path / "a" / "b" / "run.yaml"
    run.write_text("name: own\nmode: pilot\n", encoding="utf-8")
    with pytest.raises(AuditError, match="add the line 'preregistration: PATH'"):
        load_config(run)


@pytest.mark.parametrize("mode", [*MODES, "Main", "full"])
def test_modes(tmp_path: Path, text: str, mode: str) -> None:
    (tmp_path / "preregistration.yaml").write_text(text, encoding="utf-8")
    run = tmp_path / "run.yaml"
    run.write_text(f"name: own\nmode: {mode}\n", encoding="utf-8")
    if mode in MODES:
        assert load_config(run).mode == mode
    else:
        with pytest.raises(AuditError, match="one of smoke, pilot, main"):
            load_config(run)


def test_environment_numbers_are_ready_for_arithmetic(with_promise: Write) -> None:
    settings = load_config(with_promise("")).environments["pixel_nav"]
    assert settings["drag"] == 0.8
    assert type(settings["drag"]) is float
    assert type(settings["image"]) is int


PROMISED: dict[str, Any] = {
    "environments": {"a": {"size": 3}, "b": {"size": "0.5"}},
    "seeds": [0, 1, 2],
    "levers": ["copy"],
    "training": {"steps": 10, "rate": "0.1", "deep": {"list": [1, 2]}},
    "power": None,
}


def test_results_are_compared_in_their_own_form() -> None:
    assert list(differences(PROMISED, PROMISED)) == []
    assert relation(PROMISED, deepcopy(PROMISED)) == "equal"
    cases: list[tuple[str, Any, str]] = [
        ("seeds", [0, 1, 3], "seeds[2]"),
        ("seeds", "0", "seeds"),
        ("environments", {"c": {"size": 3}}, "environments.c"),
        ("environments", {"a": {"size": 4}}, "environments.a.size"),
        ("environments", {"a": {}}, "environments.a.size"),
        ("training", {**PROMISED["training"], "steps": True}, "training.steps"),
        ("training", {**PROMISED["training"], "steps": "9"}, "training.steps"),
        ("training", {**PROMISED["training"], "rate": 0.1}, "training.rate"),
        ("training", {**PROMISED["training"], "deep": {"list": [1, 3]}}, "training.deep.list[1]"),
        ("training", {**PROMISED["training"], "deep": {"list": [1]}}, "training.deep.list"),
        ("power", 0, "power"),
        ("other", 1, "other"),
    ]
    for name, value, field in cases:
        assert [item.field for item in differences(PROMISED, PROMISED | {name: value})] == [field]
    missing = {name: item for name, item in PROMISED.items() if name != "power"}
    assert [item.field for item in differences(PROMISED, missing)] == ["power"]


@given(st.data())
def test_whatever_only_shrinks_is_a_slice(data: st.DataObject) -> None:
    smaller = deepcopy(PROMISED)
    smaller["seeds"] = sorted(data.draw(st.sets(st.sampled_from(PROMISED["seeds"]))))
    smaller["levers"] = data.draw(st.sampled_from([[], ["copy"]]))
    kept = data.draw(st.sets(st.sampled_from(["a", "b"])))
    smaller["environments"] = {name: item for name, item in PROMISED["environments"].items() if name in kept}
    smaller["training"]["steps"] = data.draw(st.integers(1, 10))
    assert list(differences(PROMISED, smaller)) == []
    assert (relation(PROMISED, smaller) == "equal") == (smaller == PROMISED)


def test_what_may_shrink_exists_in_the_promise(text: str) -> None:
    data = loads_promise(text).data
    assert all(name in data for name in SELECTED)
    assert all(field.partition(".")[2] in data[field.partition(".")[0]] for field in (*BUDGETS, *SWITCHES))
