"""From rows to a results file: statistics and verdicts by the promise's rules. No torch; seconds, not hours."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import merge, results
from wm_audit.core import Key, Row
from wm_audit.instruments.audit.protocol import planned
from wm_audit.prereg import archive
from wm_audit.prereg.audit_config import executed_of
from wm_audit.prereg.claims import EXPLORATORY, Claim, claim_of
from wm_audit.verdict import Rules, judge


def conclude(folders: Iterable[Path], *, claim: Claim | None = None, configs: Path | None = None) -> dict[str, Any]:
    """Merges the records of all folders and judges them.

    Args:
        folders: of records.
        claim: what the run may claim, where the caller holds the promise.
        configs: otherwise, the folder in which the promise of the records is found by its digest; a draft needs none.

    Raises:
        AuditError: records that do not belong together, or none; or a locked promise that is not in `configs`.
    """
    records = merge.gather(folders)
    merged = merge.merge(records, planned(records[0][1].config))
    claim = claim or standing(merged.preregistration, merged.config, configs)
    return document(merged.rows, merged.preregistration, merged.config, merged.environment, missing=merged.missing, claim=claim)


def standing(preregistration: Mapping[str, Any], config: Mapping[str, Any], configs: Path | None) -> Claim:
    """What rows may claim that ran under this promise; a draft is exploratory without looking further.

    Raises:
        AuditError: a locked promise that is not in `configs`.
    """
    if preregistration["status"] != "locked" or configs is None:
        return EXPLORATORY
    return claim_of(archive.need(configs, preregistration["digest"]), executed_of(config))


def recompute(old: Mapping[str, Any]) -> dict[str, Any]:
    """A results document made anew from its rows, configuration and headers; claim and deviations have checks of their own.

    Raises:
        AuditError, KeyError, TypeError, ValueError: rows or a configuration that no run writes.
    """
    statistics, verdicts = judge([Row.from_json(dict(row)) for row in old["rows"]], Rules.of_promise(old["config"]))
    present = {Key(**row["key"]) for row in old["rows"]}
    return results.build(
        rows=old["rows"],
        statistics=statistics,
        verdicts=verdicts,
        preregistration=old["preregistration"],
        config=old["config"],
        environment=old["environment"],
        claim=old["claim"],
        missing=[key for key in planned(old["config"]) if key not in present],
        deviations=old["deviations"],
    )


def document(
    rows: Sequence[Mapping[str, Any]],
    preregistration: Mapping[str, Any],
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    *,
    missing: Iterable[Key] = (),
    claim: Claim = EXPLORATORY,
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
        claim=claim.label,
        deviations=[entry.to_json() for entry in claim.deviations],
        missing=missing,
    )
