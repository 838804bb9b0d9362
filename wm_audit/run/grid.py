"""The grid, run: what is there is kept, what is missing is made, and every row is on the disk as soon as it exists."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from wm_audit.core import Key
from wm_audit.run.cells import Cell, groups
from wm_audit.run.pool import Begun, Died, Event, Pool
from wm_audit.run.progress import Progress
from wm_audit.run.shards import WHOLE, Shard
from wm_audit.run.store import Store, Survey
from wm_audit.run.worker import Broken, Made, Note, Task, Work


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that could not be made, and why, in one line."""

    key: Key
    line: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did.

    Attributes:
        kept: cells whose record stood already.
        made: cells made now, in the order in which they were finished.
        failed: cells that could not be made.
        elsewhere: cells of other shards that have no record here.
    """

    kept: tuple[Key, ...]
    made: tuple[Key, ...]
    failed: tuple[Failure, ...]
    elsewhere: tuple[Key, ...]

    @property
    def exit_code(self) -> int:
        """0, or 2 where a cell failed; a shard whose own cells are done is done."""
        return 2 if self.failed else 0


def run_grid(
    cells: Sequence[Cell],
    store: Store,
    work: Work,
    *,
    jobs: int = 1,
    shard: Shard = WHOLE,
    resume: bool = False,
    prepare: Callable[[], None] | None = None,
    fresh: bool = False,
    progress: Callable[[int, int], Progress] | None = None,
) -> Outcome:
    """Makes every cell of the shard that has no standing record.

    Ctrl-C ends the workers and goes on to the caller as KeyboardInterrupt; the rows made so far stand, and `resume` continues.

    Args:
        cells: the whole grid, also with a shard.
        store: the folder of records, entered.
        work: makes the cells of one group (`worker.Work`).
        jobs: worker processes.
        shard: which groups are this run's.
        resume: whether the folder may hold records already.
        prepare: called once in every worker.
        fresh: whether every group gets a process of its own.
        progress: makes the progress from total and kept; on stderr by default.

    Raises:
        AuditError: a cell is planned twice, or the folder does not belong to this run (`Store.survey`).
        UsageError: `jobs` is smaller than 1.
    """
    pool = Pool(work, jobs=jobs, prepare=prepare, fresh=fresh)
    mine = {cell.key for members in shard.of(groups(cells)).values() for cell in members}
    survey = store.survey(cells, resume=resume)
    todo = [cell for cell in survey.todo if cell.key in mine]
    kept = [cell.key for cell in survey.kept]
    own = len(todo) + sum(key in mine for key in kept)
    with (progress or _on_stderr)(own, own - len(todo)) as shown:
        _report(survey, shown)
        keeper = _Keeper(store, shown, {cell.key: cell for cell in todo})
        tasks = [Task(name, members) for name, members in groups(todo).items()]
        with closing(pool.run(tasks)) as events:
            for task, event in events:
                keeper.hear(task, event)
    elsewhere = tuple(cell.key for cell in survey.todo if cell.key not in mine)
    return Outcome(tuple(kept), tuple(keeper.made), tuple(keeper.failed), elsewhere)


class _Keeper:
    """Puts rows on the disk and failures on record, and tells the progress."""

    def __init__(self, store: Store, progress: Progress, cells: dict[Key, Cell]) -> None:
        self._store, self._progress, self._cells = store, progress, cells
        self.made: list[Key] = []
        self.failed: list[Failure] = []

    def hear(self, task: Task, event: Event) -> None:
        """Acts on what a worker did."""
        if isinstance(event, Begun):
            self._progress.now(task.group)
        elif isinstance(event, Note):
            self._progress.now(f"{task.group}: {event.text}")
        elif isinstance(event, Made):
            self._store.save(self._cells[event.row.key], event.row, event.seconds, event.took)
            self.made.append(event.row.key)
            self._progress.done(event.row.key.text())
        elif isinstance(event, Broken):
            self._broken(event)
        elif isinstance(event, Died):
            self._progress.say(f"{task.group}: {event.line}; trying once more")

    def _broken(self, event: Broken) -> None:
        for key in event.keys:
            self._store.note("failed", self._cells[key], line=event.line, trace=event.trace)
            self.failed.append(Failure(key, event.line))
            self._progress.failed(key.text(), event.line)


def _report(survey: Survey, progress: Progress) -> None:
    """Says which records are made again, and why."""
    for names, why in ((survey.torn, "is not whole"), (survey.stale, "was made from other settings or sources")):
        for name in names:
            progress.say(f"{name} {why}: this cell is run again")


def _on_stderr(total: int, kept: int) -> Progress:
    return Progress(total, kept=kept)
