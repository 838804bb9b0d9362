"""From rows to a results file: statistics and verdicts by the promise's rules. No torch; seconds, not hours."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import merge, results
from wm_audit.core import Key, Row
from wm_audit.instruments.audit.protocol import planned
from wm_audit.verdict import Rules, judge


def conclude(folders: Iterable[Path], *, claim: str = "exploratory") -> dict[str, Any]:
    """Merges the records of all folders and judges them.

    Raises:
        AuditError: records that do not belong together, or none.
    """
    records = merge.gather(folders)
    merged = merge.merge(records, planned(records[0][1].config))
    return document(merged.rows, merged.preregistration, merged.config, merged.environment, missing=merged.missing, claim=claim)


def document(
    rows: Sequence[Mapping[str, Any]],
    preregistration: Mapping[str, Any],
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    *,
    missing: Iterable[Key] = (),
    claim: str = "exploratory",
) -> dict[str, Any]:
    """The results of these rows under this configuration.

    Judged is the configuration in the order in which it is written: whoever reads the file finds the same lists, in the same
    order, and sums that were rounded the same way.
    """
    statistics, verdicts = judge([Row.from_json(dict(row)) for row in rows], Rules.of_promise(results.ordered(config)))
    return results.build(
        rows=rows,
        statistics=statistics,
        verdicts=verdicts,
        preregistration=preregistration,
        config=config,
        environment=environment,
        claim=claim,
        missing=missing,
    )
