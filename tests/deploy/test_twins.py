"""Levers: what they leave alone, what they change, and that a row's prediction is its own."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from wm_audit.core import AuditError
from wm_audit.deploy import LEVERS, NULL_LEVER, Twin, compress, twins
from wm_audit.deploy.int8 import ENGINE, Int8Matrix, int8_product
from wm_audit.models.dreamer_lite import DreamerLite
from wm_audit.models.dreamer_lite.layout import PATHS

Make = Callable[..., Any]
BATCH = 512


@pytest.mark.parametrize("lever", LEVERS)
def test_every_lever_gives_a_model_of_the_same_shapes(lever: str, model: DreamerLite, scene: Make, predictions: Make) -> None:
    twin = compress(model, lever)
    assert twin.engine
    assert set(twin.share) == set(PATHS)
    assert all(0.0 <= share <= 1.0 for share in twin.share.values())
    assert (twin.model.config, twin.model.members) == (model.config, 3)
    seen = scene(model, 5)
    ours, theirs = predictions(twin.model, seen), predictions(model, seen)
    for name, item in theirs.items():
        assert ours[name].shape == item.shape
        assert ours[name].dtype == item.dtype == torch.float32
        assert bool(torch.isfinite(ours[name]).all())


def test_the_null_lever_changes_no_bit_and_shares_no_memory(model: DreamerLite, scene: Make, predictions: Make) -> None:
    twin = compress(model, NULL_LEVER)
    seen = scene(model, 7)
    before = predictions(model, seen)
    for name, item in predictions(twin.model, seen).items():
        assert torch.equal(item, before[name]), name
    assert twin.engine == "float32"
    assert set(twin.share.values()) == {0.0}
    for item in twin.model.weights.values():
        item.add_(1.0)
    for name, item in predictions(model, seen).items():
        assert torch.equal(item, before[name]), name


def test_k36_every_matrix_is_int8_and_no_path_multiplies_floats(model: DreamerLite, scene: Make, predictions: Make) -> None:
    """Int8 is what multiplies, not what the record calls it: every product of every path is seen."""
    twin = compress(model, "int8")
    for name, item in twin.model.weights.items():
        assert isinstance(item, Int8Matrix) == name.endswith("_w"), name
        if not name.endswith("_w"):
            assert torch.equal(item, model.weights[name])
    multiplied = []

    def watched(x: Tensor, weight: Any) -> Tensor:
        multiplied.append(weight)
        return int8_product(x, weight)

    predictions(twin.model.reweighted(twin.model.weights, watched), scene(model, 2))
    assert all(isinstance(item, Int8Matrix) for item in multiplied)
    assert {id(item) for item in multiplied} == {id(item) for item in twin.model.weights.values() if isinstance(item, Int8Matrix)}
    assert twin.engine == ENGINE
    assert "emulated" in ENGINE


def test_shares_count_the_numbers_of_a_path(model: DreamerLite) -> None:
    twin = compress(model, "int8")
    for path in PATHS:
        sizes = {name: item[0].numel() for name, item in model.weights.items() if name.startswith(path + ".")}
        matrices = sum(size for name, size in sizes.items() if name.endswith("_w"))
        assert twin.share[path] == pytest.approx(matrices / sum(sizes.values()))
        assert 0.0 < twin.share[path] < 1.0


def test_int8_predicts_nearly_what_its_float_does(model: DreamerLite, scene: Make, predictions: Make) -> None:
    seen = scene(model, 32)
    exact, near = predictions(model, seen), predictions(compress(model, "int8").model, seen)
    for name in ("seen.latent", "ahead.hidden", "ahead.mean", "ahead.reward", "ahead.continues"):
        error = (near[name] - exact[name]).norm() / exact[name].norm()
        assert 1e-5 < float(error) < 0.1, name
    assert torch.equal(near["ahead.log_variance"], exact["ahead.log_variance"])


@pytest.mark.parametrize(
    "sizes",
    [{}, {"hidden": 32, "embed": 32, "stoch": 16, "variance": "scalar"}, {"members": 1, "hidden": 1, "embed": 1, "stoch": 1}],
    ids=["odd", "round", "least"],
)
def test_k35_a_row_of_an_int8_model_is_its_own(sizes: dict[str, Any], make_model: Make, scene: Make, predictions: Make) -> None:
    """Alone, among 7 and among 512, first, last and between: the same bits, along every path."""
    model = compress(make_model(**sizes), "int8").model
    seen = scene(model, BATCH)
    together = predictions(model, seen)
    for begin, end in ((0, 1), (1, 2), (255, 256), (BATCH - 1, BATCH), (0, 7), (3, 10), (300, 307), (BATCH - 7, BATCH), (5, 69)):
        for name, item in predictions(model, seen.rows(slice(begin, end))).items():
            assert torch.equal(item, together[name][:, begin:end]), (name, begin, end)


def test_k35_a_row_does_not_know_how_many_threads_share_its_batch(model: DreamerLite, scene: Make) -> None:
    """512 rows in two shares, and rows near the cut alone in one."""
    twin = compress(model, "int8").model
    seen = scene(twin, BATCH)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        together = twin.imagine(seen.state, seen.action)
    finally:
        torch.set_num_threads(before)
    for at in (0, 254, 255, 256, BATCH - 1):
        row = seen.rows(slice(at, at + 1))
        for name, item in twin.imagine(row.state, row.action).items():
            assert torch.equal(item, together[name][:, at : at + 1]), (name, at)


def test_a_row_of_a_float_model_is_its_own_to_rounding(model: DreamerLite, scene: Make, predictions: Make) -> None:
    """Alone, among 7, among 64: within 1e-5."""
    seen = scene(model, 64)
    together = predictions(model, seen)
    for begin, end in ((0, 1), (63, 64), (0, 7), (30, 37)):
        for name, item in predictions(model, seen.rows(slice(begin, end))).items():
            torch.testing.assert_close(item, together[name][:, begin:end], rtol=1e-5, atol=1e-5)


def test_a_member_of_an_int8_ensemble_is_compressed_alone(make_model: Make, scene: Make, predictions: Make) -> None:
    """The twin of three is the twins of each."""
    together = make_model(members=3)
    seen = scene(together, 3)
    said = predictions(compress(together, "int8").model, seen)
    for k in range(3):
        weights = {name: item[k : k + 1] for name, item in together.weights.items()}
        alone = together.reweighted(weights, together.product)
        mine = seen._replace(state={name: item[k : k + 1] for name, item in seen.state.items()})
        for name, item in predictions(compress(alone, "int8").model, mine).items():
            assert torch.equal(item[0], said[name][k]), (name, k)


def test_a_lever_that_changes_nothing_is_refused(model: DreamerLite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVERS, "idle", twins.copy)
    with pytest.raises(AuditError, match="lever idle: changed no weight"):
        compress(model, "idle")

    def one_number(model: DreamerLite) -> Twin:
        twin = twins.copy(model)
        twin.model.weights["reward.out_b"][1] += 1e-3
        return twin

    monkeypatch.setitem(LEVERS, "one number", one_number)
    assert compress(model, "one number").engine == "float32"


def test_an_unknown_lever_is_named_with_the_known() -> None:
    with pytest.raises(AuditError, match=r"'int4' is no lever; expected copy, int8"):
        compress(None, "int4")  # type: ignore[arg-type]  # nothing is looked at before the name


@pytest.mark.parametrize("lever", LEVERS)
def test_what_is_compressed_is_not_compressed_again(lever: str, model: DreamerLite) -> None:
    with pytest.raises(AuditError, match="compressed already"):
        compress(compress(model, "int8").model, lever)
