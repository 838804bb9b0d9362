"""From rows to a results file: statistics and verdicts by the promise's rules. No torch; seconds, not hours."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import merge, results
from wm_audit.core import AuditError, Key, Row
from wm_audit.core.record import Record
from wm_audit.instruments.audit.protocol import planned
from wm_audit.prereg import archive
from wm_audit.prereg.audit_config import executed_of
from wm_audit.prereg.claims import EXPLORATORY, Claim, Made, claim_of
from wm_audit.prereg.promise import Promise
from wm_audit.verdict import Rules, judge


def conclude(folders: Iterable[Path], *, promise: Promise | None = None, configs: Path | None = None) -> dict[str, Any]:
    """Merges the records of all folders and judges them.

    Args:
        folders: of records.
        promise: of the records, where the caller holds it.
        configs: otherwise, the folder in which it is found by its digest; a draft needs none.

    Raises:
        AuditError: records that do not belong together, or none; a locked promise that is not in `configs`; a run that it refuses.
    """
    records = merge.gather(folders)
    merged = merge.merge(records, _planned(*records[0]) if records else ())
    made = Made.of(merged.preregistration, merged.rows, len(merged.missing))
    claim = standing(merged.preregistration, merged.config, promise, configs, made)
    return document(merged.rows, merged.preregistration, merged.config, merged.environment, missing=merged.missing, claim=claim)


def _planned(where: str, record: Record) -> frozenset[Key]:
    try:
        return frozenset(planned(record.config))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what, fix = f"holds a configuration that plans no cells ({error!r})", "run this cell again with --resume"
        raise AuditError(what, where=where, expected="the configuration of a run", fix=fix) from error


def standing(
    preregistration: Mapping[str, Any],
    config: Mapping[str, Any],
    promise: Promise | None = None,
    configs: Path | None = None,
    made: Made | None = None,
) -> Claim:
    """What rows with this header, made like this, may claim; a draft is exploratory without looking further.

    The lock and the log are read beside the promise, so that a run and a merge elsewhere come to the same.

    Raises:
        AuditError: a locked promise that is not in `configs`, or as for `claim_of`.
    """
    if preregistration["status"] != "locked":
        return EXPLORATORY
    executed = executed_of(config)
    found = promise or (archive.need(configs, preregistration["digest"], executed) if configs else None)
    return claim_of(found, executed, preregistration["locked_on"], made) if found else EXPLORATORY


def recompute(old: Mapping[str, Any]) -> dict[str, Any]:
    """A results document made anew from its rows, configuration and headers; claim and deviations have checks of their own.

    Raises:
        AuditError, KeyError, TypeError, ValueError: rows or a configuration that no run writes.
    """
    present = {Key(**row["key"]) for row in old["rows"]}
    return _judged(old, missing=[key for key in planned(old["config"]) if key not in present], claim=old["claim"])


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
    evidence = {"rows": rows, "preregistration": preregistration, "config": config, "environment": environment}
    return _judged(evidence | {"deviations": [entry.to_json() for entry in claim.deviations]}, missing=missing, claim=claim.label)


def _judged(evidence: Mapping[str, Any], *, missing: Iterable[Key], claim: str) -> dict[str, Any]:
    """The one way from rows to a results document, for those who write one and those who check it."""
    rules = Rules.of_promise(results.ordered(evidence["config"]))
    statistics, verdicts = judge([Row.from_json(dict(row)) for row in evidence["rows"]], rules)
    given = {name: evidence[name] for name in ("rows", "preregistration", "config", "environment", "deviations")}
    return results.build(**given, statistics=statistics, verdicts=verdicts, missing=missing, claim=claim)
