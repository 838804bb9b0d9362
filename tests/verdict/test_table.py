from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from wm_audit.core import AuditError, Key, Measurement, Reason, Row
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Table, measured, reasons

Make = Callable[..., list[Row]]


def test_planned_cells_without_a_row_are_missing_not_forgotten(make: Make) -> None:
    rows = [row for row in make(seeds=3) if row.key.seed != 1]
    table = Table.of(rows, "pixel_nav", replace(Rules.default(), seeds=(0, 1, 2)))
    assert table.shape == (3, 3)
    assert np.isnan(table.outcome()[1]).all()
    assert reasons([row for line in table.cells() for row in line], "pixel_mse") == {"row_missing": 3}


def test_values_stand_where_their_key_says(make: Make) -> None:
    rows = make(seeds=4)
    table = Table.of(reversed(rows), "pixel_nav", Rules.default())
    for row in rows:
        place = table.seeds.index(row.key.seed), table.capacities.index((row.key.hidden, row.key.embed))
        assert table.values("pixel_ssim")[place] == row.diagnostics["pixel_ssim"].value
        assert table.values("pixel_ssim", repeat=True)[place] == row.diagnostics["pixel_ssim"].repeat
        assert table.outcome()[place] == row.outcome.value


def test_compressed_rows_and_other_environments_stay_apart(make: Make) -> None:
    rows = make(seeds=2, levers={"int8": (1.0, 1.0)}) + make(env="two_room", seeds=5)
    table = Table.of(rows, "pixel_nav", Rules.default())
    assert len(table.floats()) == 6
    assert table.shape == (2, 3)
    assert (table.values("pixel_mse", "int8") > table.values("pixel_mse")).all()


def test_the_same_key_twice_is_refused(make: Make) -> None:
    rows = make(seeds=2)
    with pytest.raises(AuditError, match="is there twice"):
        Table.of([*rows, rows[0]], "pixel_nav", Rules.default())


def test_a_row_outside_the_plan_is_refused(make: Make) -> None:
    with pytest.raises(AuditError, match="pixel_nav-32x16-seed2-trained-none: is outside the plan"):
        Table.of(make(seeds=3), "pixel_nav", replace(Rules.default(), seeds=(0, 1)))


def test_nothing_trained_and_nothing_planned_cannot_be_judged() -> None:
    with pytest.raises(AuditError, match="has no trained row"):
        Table.of([], "pixel_nav", Rules.default())


def test_a_measurement_may_lie_in_the_details() -> None:
    tau = Measurement(0.7, n=512, orientation=1)
    row = Row(Key("e", 1, 1, 0), Measurement(1.0), {}, {"counterfactual_tau.pooled": tau.to_json()})
    assert measured(row, "counterfactual_tau.pooled") == tau
    assert measured(row, "pixel_mse") is None


def test_reasons_are_counted_by_code(make: Make, change: Callable[..., list[Row]]) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION)
    rows = change(make(seeds=2), lambda key: key.seed == 1, {"pixel_mse": null})
    cells = [row for line in Table.of(rows, "pixel_nav", Rules.default()).cells() for row in line]
    assert reasons(cells, "pixel_mse") == {"nonfinite_prediction": 3}
    assert reasons(cells, "unheard_of") == {"not_measured": 6}
