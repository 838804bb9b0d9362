"""`--jobs N`: N worker processes, fed one group at a time; N = 1 is a process of its own too."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait

from wm_audit.core import UsageError
from wm_audit.run.process import END, NOTHING, Worker, ending, hire, news_of, stop
from wm_audit.run.worker import Broken, Made, Note, Over, Task, Work

_ATTEMPTS = 2
_GO_HOME_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_BLINK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Begun:
    """A worker took the task."""


@dataclass(frozen=True, slots=True)
class Died:
    """A worker was killed or ended itself; the task's open cells will be tried again in a fresh one."""

    line: str


Event = Begun | Made | Broken | Note | Over | Died


class Pool:
    """Workers that make groups of cells."""

    def __init__(self, work: Work, *, jobs: int, prepare: Callable[[], None] | None = None, fresh: bool = False) -> None:
        """Nothing is started yet.

        Args:
            work: makes the cells of one task, inside a worker.
            jobs: how many workers.
            prepare: called once in every worker before its first task; a top-level function.
            fresh: whether a worker makes one task and goes home, so that no task finds what another left behind in its process.

        Raises:
            UsageError: `jobs` is smaller than 1.
        """
        if jobs < 1:
            raise UsageError(f"found {jobs}", where="--jobs", expected="at least 1", fix="write the number of cores to use")
        self._work, self._jobs, self._prepare, self._fresh = work, jobs, prepare, fresh
        self._workers: list[Worker] = []
        self._leaving: list[Worker] = []
        self._waiting: deque[tuple[Task, int]] = deque()

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Event], None, None]:
        """Makes all tasks, beginning them in order, and yields what happens as it happens; closing the iterator ends all workers.

        A worker that dies takes no task with it: its open cells are tried once more in a fresh process, then reported as broken.
        """
        self._waiting = deque((task, 1) for task in tasks)
        try:
            while self._waiting or self._busy():
                yield from self._begin()
                yield from self._hear()
            self._send_home()
        finally:
            self._end()

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _begin(self) -> Iterator[tuple[Task, Event]]:
        """Hands waiting tasks to idle workers, and to new ones up to `jobs`."""
        while self._waiting and len(self._busy()) < self._jobs:
            idle = [worker for worker in self._workers if worker.task is None]
            worker = idle[0] if idle else self._hired()
            task, worker.attempt = self._waiting.popleft()
            worker.task, worker.open = task, tuple(cell.key for cell in task.cells)
            try:
                worker.connection.send(task)
            except (BrokenPipeError, ConnectionResetError):
                continue  # it died idle: its pipe says so when it is read
            yield task, Begun()

    def _hear(self) -> Iterator[tuple[Task, Event]]:
        """Waits for news and takes one message from every worker that has some; looks now and then who died without a word."""
        wait([worker.connection for worker in self._busy()], timeout=_LOOK_SECONDS)
        for worker in self._busy():
            task, news = worker.task, news_of(worker)
            if task is None or news is NOTHING:
                continue
            if news is END:
                yield task, self._bury(worker, task)
            else:
                yield task, self._heard(worker, news)

    def _heard(self, worker: Worker, event: Event) -> Event:
        """Notes what a message says of its worker."""
        if isinstance(event, Made):
            worker.open = tuple(key for key in worker.open if key != event.row.key)
        if isinstance(event, Broken):
            worker.open = tuple(key for key in worker.open if key not in event.keys)
        if isinstance(event, Over):
            worker.task = None
            if self._fresh:
                self._dismiss(worker)
        return event

    def _bury(self, worker: Worker, task: Task) -> Event:
        """Takes a dead worker off the list; its open cells wait for another, once."""
        self._workers.remove(worker)
        stop(worker)
        line = ending(worker.process.exitcode)
        left = tuple(cell for cell in task.cells if cell.key in worker.open)
        if not left:
            return Over()
        if worker.attempt >= _ATTEMPTS:
            return Broken(worker.open, f"{line}, {_ATTEMPTS} times", "")
        self._waiting.appendleft((Task(task.group, left), worker.attempt + 1))
        return Died(line)

    def _hired(self) -> Worker:
        """A new worker; what is left of those that went home is cleared away, or a large grid would run out of file descriptors."""
        for gone in [worker for worker in self._leaving if worker.process.exitcode is not None]:
            self._leaving.remove(gone)
            stop(gone)
        return hire(self._work, self._prepare, self._workers.append)

    def _dismiss(self, worker: Worker) -> None:
        """Tells an idle worker to go home, and does not wait until it is gone."""
        self._workers.remove(worker)
        self._leaving.append(worker)
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.connection.send(None)

    def _send_home(self) -> None:
        for worker in list(self._workers):
            self._dismiss(worker)
        until = time.monotonic() + _GO_HOME_SECONDS
        while any(worker.process.exitcode is None for worker in self._leaving) and time.monotonic() < until:
            time.sleep(_BLINK_SECONDS)  # not `join`, which waits for a sentinel that a forked child may hold open

    def _end(self) -> None:
        for worker in (*self._workers, *self._leaving):
            stop(worker)
        self._workers.clear()
        self._leaving.clear()
