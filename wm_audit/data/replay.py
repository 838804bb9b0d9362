"""Sequences for training, drawn from the episodes of the train split laid end to end.

    episode 1: obs0 obs1 ... obsL | episode 2: obs0 obs1 ...        one long axis of N observations
    a sequence: T neighbours on that axis, from any start where T observations fit

Beside obs[t] stand the action that led to it, the reward received on arriving and whether it is terminal; at the first
observation of an episode (`is_first`) nothing led to it, so action and reward are zero. A sequence may run over the end
of an episode; what was before `is_first` belongs to another episode and must not be carried over it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, Stream
from wm_audit.data.dataset import Dataset
from wm_audit.data.episode import Bytes, Flags, Ints, Singles

Arrange = Callable[[Bytes], Bytes]
_PIECE = 4096  # frames arranged at a time, so that the rearranged copy is the only large one


class Batch(NamedTuple):
    """Training sequences of K members.

    Attributes:
        obs: (K, B, T, ...) uint8; trailing axes (C, h, w), or what `arrange` made of them.
        action: (K, B, T, A) float32, the action that led to obs[t]; zero where is_first.
        reward: (K, B, T) float32, received on arriving at obs[t]; zero where is_first.
        is_first: (K, B, T) obs[t] begins an episode.
        terminal: (K, B, T) the world ended at obs[t]; running out of time is not an end.
    """

    obs: Bytes
    action: Singles
    reward: Singles
    is_first: Flags
    terminal: Flags


class Replay:
    """The train split as flat arrays (N, ...), and sequences gathered from them.

    Args:
        dataset: only its train episodes are read.
        batch: B, sequences per member.
        length: T, observations per sequence; 1 is allowed.
        arrange: rearranges frames once, (N, C, h, w) -> (N, ...) uint8, frame by frame; None keeps them.

    Raises:
        AuditError: batch or length below 1, or fewer than `length` observations.
    """

    def __init__(self, dataset: Dataset, batch: int, length: int, arrange: Arrange | None = None) -> None:
        episode, step = _positions(dataset)
        if batch < 1 or not 1 <= length <= episode.size:
            expected = f"both at least 1 and a length of at most {episode.size}, the observations of the train split"
            raise AuditError(f"batch is {batch} and length {length}", where="replay", expected=expected)
        self.batch, self.length = batch, length
        data, first, before = dataset.episodes, step == 0, np.maximum(step - 1, 0)
        self.obs = _arranged(data.obs, episode, step, arrange)
        self.action: Singles = np.where(first[:, None], np.float32(0), data.action[episode, before])
        self.reward: Singles = np.where(first, 0.0, data.reward[episode, before]).astype(np.float32)
        self.is_first: Flags = first
        self.terminal: Flags = ~first & data.terminated[episode, before]

    @property
    def starts(self) -> int:
        """How many different sequences there are."""
        return int(self.is_first.size) - self.length + 1

    def sample(self, stream: Stream, members: int) -> Batch:
        """The next batch of every member; advances `stream` by B words whatever K is.

        Raises:
            AuditError: fewer than one member.
        """
        if members < 1:
            raise AuditError(f"is {members}", where="replay.members", expected="at least 1")
        return self.gather(self.draw(stream, members))

    def draw(self, stream: Stream, members: int) -> Ints:
        """(K, B) start indices, uniform over all starts; member k's do not depend on how many members there are."""
        words = _member_words(stream.words(self.batch), members)
        unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.minimum((unit * self.starts).astype(np.int64), self.starts - 1)

    def gather(self, start: Ints) -> Batch:
        """The sequences that begin at `start` (K, B)."""
        index = start[..., None] + np.arange(self.length)
        return Batch(
            obs=self.obs.take(index, axis=0),
            action=self.action.take(index, axis=0),
            reward=self.reward.take(index),
            is_first=self.is_first.take(index),
            terminal=self.terminal.take(index),
        )


def _positions(dataset: Dataset) -> tuple[Ints, Ints]:
    """Episode id and step of every observation of the train split, episode after episode, each (N,)."""
    ids = dataset.split["train"]
    lived = np.arange(dataset.episodes.limit + 1) <= dataset.episodes.length[ids, None]
    row, step = np.nonzero(lived)
    return ids[row], step


def _arranged(obs: Bytes, episode: Ints, step: Ints, arrange: Arrange | None) -> Bytes:
    """(N, ...): the frames in order, through `arrange` in pieces."""
    frames: Bytes | None = None
    for begin in range(0, episode.size, _PIECE):
        piece = obs[episode[begin : begin + _PIECE], step[begin : begin + _PIECE]]
        ready = piece if arrange is None else arrange(piece)
        if ready.dtype != np.uint8 or ready.shape[0] != piece.shape[0]:
            raise AuditError(f"gives {ready.dtype} {ready.shape}", where="replay.arrange", expected=f"uint8 ({piece.shape[0]}, ...)")
        if frames is None:
            frames = np.empty((episode.size, *ready.shape[1:]), dtype=np.uint8)
        frames[begin : begin + _PIECE] = ready
    assert frames is not None  # noqa: S101 -- the constructor has seen at least one observation
    return frames


def _member_words(words: NDArray[np.uint64], members: int) -> NDArray[np.uint64]:
    """(K, B) from (B,): every word split into one per member.

    Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators": word k of the SplitMix64 sequence
    that starts at the given word. Every member's words are a bijection of the stream's, hence exactly as uniform.
    """
    z: NDArray[np.uint64] = words + np.arange(1, members + 1, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
