"""The peer of `training`: the same model as it is usually written, one member at a time.

`nn.Linear`, `nn.GRUCell`, a loop over time, pictures decoded and compared value by value, one `torch.optim.Adam` for each
member. The same sizes, weights, noise and loss as dreamer_lite; `training` checks that both give the same loss.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from wm_audit.models.dreamer_lite import Config
from wm_audit.models.dreamer_lite.cell import Gaussian, bounded, latent
from wm_audit.models.dreamer_lite.image_loss import LOG_2PI
from wm_audit.models.dreamer_lite.layout import unpack
from wm_audit.models.dreamer_lite.loss import kl_divergence


class Head(nn.Module):
    """Two layers with one hidden activation."""

    def __init__(self, inputs: int, inner: int, outputs: int) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(inputs, inner), nn.Linear(inner, outputs)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.out(functional.silu(self.into(x)))
        return found


class Plain(nn.Module):
    """One member."""

    def __init__(self, config: Config, centre: Tensor) -> None:
        super().__init__()
        c, self.config, self.centre = config, config, centre
        tokens, described = c.patches * c.width, c.patches * (c.width - 1)
        self.patch_in = nn.Linear(c.values, c.width, bias=False)
        self.patch_in_bias = nn.Parameter(torch.zeros(c.patches, c.width))
        self.embedding = nn.Linear(tokens, c.embed)
        self.cell = nn.GRUCell(c.stoch + c.actions, c.hidden)
        self.posterior, self.prior = Head(c.hidden + c.embed, c.hidden, 2 * c.stoch), Head(c.hidden, c.hidden, 2 * c.stoch)
        self.decoder_in, self.decoder_out = nn.Linear(c.features, c.embed), nn.Linear(c.embed, described)
        self.patch_out = nn.Linear(c.width - 1, c.values, bias=False)
        self.patch_out_bias = nn.Parameter(torch.zeros(c.patches, c.values))
        self.reward, self.alive = Head(c.features, c.embed, 1), Head(c.features, c.embed, 1)
        self.picture_variance, self.reward_variance = nn.Parameter(torch.zeros(c.patches, c.values)), nn.Parameter(torch.zeros(1))

    def loss(self, sequences: Iterable[Tensor], noise: Tensor) -> Tensor:
        """The loss of obs (B, T, P, V) uint8, action (B, T, A), reward, is_first and terminal (B, T) under noise (B, T, D)."""
        obs, action, reward, is_first, terminal = sequences
        c, (batch, steps) = self.config, reward.shape
        pictures = obs.float() / 255.0 - self.centre
        tokens = functional.silu(self.patch_in(pictures) + self.patch_in_bias)
        embedded, keep = functional.silu(self.embedding(tokens.transpose(-2, -1).flatten(2))), (~is_first).float().unsqueeze(-1)
        hidden, sample = torch.zeros(batch, c.hidden), torch.zeros(batch, c.stoch)
        hiddens, samples, outs = [], [], []
        for t in range(steps):
            push = torch.cat([sample, action[:, t]], dim=-1) * keep[:, t]
            hidden = self.cell(push, hidden * keep[:, t])
            out = self.posterior(torch.cat([hidden, embedded[:, t]], dim=-1))
            belief = latent(out, c.min_std)
            sample = belief.mean + belief.std * noise[:, t]
            hiddens.append(hidden)
            samples.append(sample)
            outs.append(out)
        hidden, sample, out = (torch.stack(items, dim=1) for items in (hiddens, samples, outs))
        features = torch.cat([hidden, sample], dim=-1)
        kl = self._kl(latent(out, c.min_std), latent(self.prior(hidden), c.min_std))
        return self._pictures(features, pictures) + self._rewards(features, reward, keep) + self._ends(features, terminal) + kl

    def load(self, member: dict[str, Tensor]) -> None:
        """Takes one member's weights from dreamer_lite's."""
        pairs: dict[str, Callable[[], Tensor]] = {
            "patch_in.weight": lambda: member["encoder.patch_w"].T,
            "patch_in_bias": lambda: member["encoder.patch_b"].T,
            "cell.weight_ih": lambda: member["dynamics.input_w"].T,
            "cell.weight_hh": lambda: member["dynamics.hidden_w"].T,
            "cell.bias_ih": lambda: member["dynamics.input_b"],
            "cell.bias_hh": lambda: member["dynamics.hidden_b"],
            "posterior.into.weight": lambda: torch.cat([member["dynamics.posterior_hidden_w"], member["dynamics.posterior_embed_w"]]).T,
            "posterior.into.bias": lambda: member["dynamics.posterior_b"],
            "patch_out.weight": lambda: member["decoder.patch_w"].T,
            "patch_out_bias": lambda: member["decoder.patch_b"],
            "picture_variance": lambda: member["decoder.variance_b"],
            "reward_variance": lambda: member["reward.variance_b"],
        }
        linear = {"embedding": "encoder.out", "posterior.out": "dynamics.posterior_out", "prior.into": "dynamics.prior"}
        linear |= {"prior.out": "dynamics.prior_out", "decoder_in": "decoder.in", "decoder_out": "decoder.tokens"}
        linear |= {"reward.into": "reward.in", "reward.out": "reward.out", "alive.into": "continue.in", "alive.out": "continue.out"}
        state = {name: make() for name, make in pairs.items()}
        for ours, theirs in linear.items():
            state |= {f"{ours}.weight": member[f"{theirs}_w"].T, f"{ours}.bias": member[f"{theirs}_b"]}
        self.load_state_dict(state)

    def _pictures(self, features: Tensor, pictures: Tensor) -> Tensor:
        c = self.config
        tokens = functional.silu(self.decoder_out(functional.silu(self.decoder_in(features))))
        mean = self.patch_out(tokens.view(*tokens.shape[:-1], c.patches, c.width - 1)) + self.patch_out_bias
        spread = bounded(self.picture_variance, c.log_variance)
        nats = 0.5 * (LOG_2PI + spread + (pictures - mean).square() * torch.exp(-spread))
        weight = torch.exp(c.variance_beta * spread.detach())
        loss: Tensor = (nats * (weight / weight.mean())).sum(dim=(-2, -1)).mean()
        return loss

    def _rewards(self, features: Tensor, reward: Tensor, keep: Tensor) -> Tensor:
        spread, arrived = bounded(self.reward_variance, self.config.log_variance), keep.squeeze(-1)
        miss = (self.reward(features).squeeze(-1) - reward).square()
        nats = 0.5 * (LOG_2PI + spread + torch.exp(-spread) * miss)
        loss: Tensor = self.config.reward_scale * (nats * arrived).sum() / arrived.sum().clamp_min(1.0)
        return loss

    def _ends(self, features: Tensor, terminal: Tensor) -> Tensor:
        logit = self.alive(features).squeeze(-1)
        return self.config.continue_scale * functional.binary_cross_entropy_with_logits(logit, (~terminal).float())

    def _kl(self, q: Gaussian, p: Gaussian) -> Tensor:
        c = self.config
        dynamics = kl_divergence(Gaussian(q.mean.detach(), q.std.detach()), p).clamp_min(c.free_nats)
        representation = kl_divergence(q, Gaussian(p.mean.detach(), p.std.detach())).clamp_min(c.free_nats)
        return (c.kl_dynamics * dynamics + c.kl_representation * representation).mean()


def members_of(parameters: Tensor, config: Config, centre: Tensor) -> list[Plain]:
    """One plain model for each member of dreamer_lite's parameters (K, n), with the same weights."""
    found = []
    for k in range(parameters.shape[0]):
        model = Plain(config, centre)
        model.load({name: view[0] for name, view in unpack(parameters[k : k + 1].detach(), config).items()})
        found.append(model)
    return found


def step(model: Plain, optimiser: torch.optim.Optimizer, batch: Any, k: int, noise: Tensor, *, clip: float, scale: float) -> float:
    """One ordinary training step of member k on its part of the batch; returns the loss."""
    optimiser.zero_grad()
    loss = model.loss((torch.from_numpy(array[k]) for array in batch), noise)
    torch.autograd.backward(loss / scale)
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
    return float(loss.detach())
