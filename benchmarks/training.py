"""Training: all members in one compiled step, against the same step uncompiled and against a plain loop over members."""

import sys
import time
from collections.abc import Callable

import torch

from benchmarks.plain import members_of, step
from benchmarks.report import Report, interleaved, say
from wm_audit.core import stream
from wm_audit.data import Replay, assemble, collect, uniform
from wm_audit.envs import make
from wm_audit.instruments.audit.ensemble import mean_picture
from wm_audit.models.dreamer_lite import Config, Trainable
from wm_audit.models.dreamer_lite.gradient import gradient
from wm_audit.train import Settings, compiled, fit, is_compiled

MEMBERS, BATCH, LENGTH, STEPS, ROUNDS = 3, 4, 8, 60, 9
CONFIG = Config(image=(3, 32, 32), actions=2, hidden=64, embed=64)
SCALE = float(CONFIG.patches * CONFIG.values)
SETTINGS = Settings(steps=STEPS, batch=BATCH, length=LENGTH, warmup=1)


class Bench:
    """The data and the three ways to train on them."""

    def __init__(self) -> None:
        env = make("pixel_nav", {"image": 32})
        episodes = collect(env, {"uniform": uniform}, {"uniform": 1.0}, 3000, root=0, seed=0)
        data = assemble(episodes, env.spec, {"train": 0.8, "probe": 0.1, "held_out": 0.1}, 0, 0)
        self.centre = mean_picture(data)
        self.fast, self.slow = self.learner(compile_it=True), self.learner(compile_it=False)
        self.replay = Replay(data, BATCH, LENGTH, self.slow.arrange)
        self.plain = members_of(self.slow.parameters, CONFIG, self.slow.centre)
        self.optimisers = [torch.optim.Adam(model.parameters(), lr=SETTINGS.learning_rate) for model in self.plain]
        self.order, self.generator = stream(0, "benchmark", "order"), torch.Generator().manual_seed(0)

    def learner(self, *, compile_it: bool) -> Trainable:
        streams = [stream(0, "benchmark", "member", k) for k in range(MEMBERS)]
        return Trainable(CONFIG, streams, self.centre, compiled(gradient, wanted=compile_it))

    def same_loss(self) -> float:
        """Largest relative difference between the loss of a plain member and the batched one's, on one batch with one noise."""
        batch = self.replay.sample(self.order, MEMBERS)
        noise = torch.randn(MEMBERS, LENGTH, BATCH, CONFIG.stoch, generator=torch.Generator().manual_seed(1))
        together = self.slow.gradient(batch, torch.Generator().manual_seed(1))[0].total.tolist()
        worst = 0.0
        for k, (model, ours) in enumerate(zip(self.plain, together, strict=True)):
            still = torch.optim.SGD(model.parameters(), lr=0.0)
            theirs = step(model, still, batch, k, noise[k].transpose(0, 1), clip=SETTINGS.clip, scale=SCALE)
            worst = max(worst, abs(theirs - ours) / abs(ours))
        return worst

    def batched(self, learner: Trainable) -> Callable[[], object]:
        """`STEPS` steps of the trainer itself: sampling, loss, gradients, clipping, optimiser."""
        return lambda: fit(learner, self.replay, SETTINGS, self.order.child("fit"))

    def one_by_one(self) -> None:
        """One step of every member, each sampling for itself."""
        for model, optimiser in zip(self.plain, self.optimisers, strict=True):
            batch = self.replay.sample(self.order, 1)
            noise = torch.randn(BATCH, LENGTH, CONFIG.stoch, generator=self.generator)
            step(model, optimiser, batch, 0, noise, clip=SETTINGS.clip, scale=SCALE)


def measure() -> Report:
    """A training step of all members at once, compiled and not, beside the plain loop over members."""
    torch.set_num_threads(1)
    bench = Bench()
    difference = bench.same_loss()
    assert difference < 1e-4, f"the peer is another model: its loss differs by {difference:.1e}"
    say("compiling")
    begun = time.perf_counter()
    bench.batched(bench.fast)()
    took = time.perf_counter() - begun
    say("measuring")
    peers: dict[str, tuple[Callable[[], object], int]] = {
        "compiled": (bench.batched(bench.fast), 1),
        "eager": (bench.batched(bench.slow), 1),
        "plain": (bench.one_by_one, STEPS // 3),
    }
    times = interleaved(peers, ROUNDS)
    speed = {name: MEMBERS / times[name] * (1 if name == "plain" else STEPS) for name in peers}
    names = {"compiled": "all members at once, compiled", "eager": "all members at once, uncompiled", "plain": "plain loop over members"}
    rows = [[names[name], f"{speed[name]:,.0f}", f"{speed[name] / speed['plain']:.1f} x"] for name in peers]
    size = f"{MEMBERS} members, capacity (64, 64), 32 x 32 pictures, {BATCH} sequences of {LENGTH} transitions for each member"
    first = f"The first {STEPS} compiled steps took {took:.0f} s of wall time, compilation (or its cache) included."
    notes = [
        f"dreamer_lite, {size}; sampling, optimiser and checks included.",
        f"The plain loop is `benchmarks/plain.py`; its loss is the same to {difference:.0e}.",
        first if is_compiled(wanted=True) else "This machine cannot compile: the first row ran uncompiled.",
    ]
    return Report("Training", ("what", "member-steps/s", "of the plain loop"), rows, notes)


if __name__ == "__main__":
    sys.stdout.write(measure().markdown())
