"""The posterior's path through a sequence, and its gradient by hand.

Left to autograd, every step would add its own small products to the gradient of every weight. Written out (Werbos 1990,
backpropagation through time), a step back is three products, and each weight's gradient is one product over all steps.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from wm_audit.models.dreamer_lite.cell import STD_SHIFT


class PathWeights(NamedTuple):
    """What meets the state at every step, with S = D + H numbers of state and G = 4H of the cell.

    Attributes:
        step: (K, S, G), from latent and hidden state to the gates' and the candidate's preactivations, see `joined`.
        look: (K, H, H), from the hidden state to the posterior's inner layer.
        out: (K, H, 2D), from there to the posterior's mean and raw deviation.
        bias: (K, 1, 2D).
    """

    step: Tensor
    look: Tensor
    out: Tensor
    bias: Tensor


def joined(from_latent: Tensor, from_hidden: Tensor) -> Tensor:
    """One weight for both halves of the cell: (K, D, 3H) and (K, H, 3H) to (K, D + H, 4H).

    Reset and update gates add the halves' products; the candidate needs them apart, hence its columns appear twice.
    """
    width = from_hidden.shape[1]
    gates, candidate = torch.split(from_hidden, [2 * width, width], dim=-1)
    latent = torch.cat([from_latent, torch.zeros_like(from_latent[..., :width])], dim=-1)
    hidden = torch.cat([gates, torch.zeros_like(candidate), candidate], dim=-1)
    return torch.cat([latent, hidden], dim=1)


def posterior_path(
    push: Tensor, seen: Tensor, keep: Tensor, noise: Tensor, weights: PathWeights, *, min_std: float
) -> tuple[Tensor, Tensor]:
    """Hidden states (K, T, B, H) and posterior outputs (K, T, B, 2D), from a zero state.

    Args:
        push: (K, T, B, 4H), what actions and biases add to the cell's preactivations, in the columns of `joined`.
        seen: (K, T, B, H), what the pictures and the bias add to the posterior's inner layer.
        keep: (K, T, B, 1), 0 where the state is forgotten first.
        noise: (K, T, B, D), standard normal.
        weights: of the path.
        min_std: floor of the latent's standard deviations.
    """
    found: tuple[Tensor, Tensor] = _Path.apply(push, seen, keep, noise, *weights, min_std)  # type: ignore[no-untyped-call]
    return found


class _Path(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, push: Tensor, seen: Tensor, keep: Tensor, noise: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
        step, look, out, bias, min_std = rest
        k, steps, batch, width = push.shape
        stoch, hidden_width = noise.shape[-1], width // 4
        state = push.new_zeros(k, batch, stoch + hidden_width)
        states, cells, inners, hiddens, outs = [], [], [], [], []
        for t in range(steps):
            cell = torch.baddbmm(push[:, t], state, step)
            hidden = _cell(cell, state[..., stoch:])
            inner = torch.baddbmm(seen[:, t], hidden, look)
            answer = torch.baddbmm(bias, functional.silu(inner), out)
            states.append(state)
            cells.append(cell)
            inners.append(inner)
            hiddens.append(hidden)
            outs.append(answer)
            if t + 1 < steps:
                sample = answer[..., :stoch] + (functional.softplus(answer[..., stoch:] - STD_SHIFT) + min_std) * noise[:, t]
                state = torch.cat([sample, hidden], dim=-1) * keep[:, t + 1]
        kept = tuple(torch.stack(items, dim=1) for items in (states, cells, inners, hiddens, outs))
        ctx.save_for_backward(keep, noise, step, look, out, *kept)
        return kept[3], kept[4]

    @staticmethod
    def backward(ctx: Any, d_hiddens: Tensor, d_outs: Tensor) -> tuple[Tensor | None, ...]:
        keep, noise, step, look, out, states, cells, inners, hiddens, outs = ctx.saved_tensors
        k, steps, batch, stoch = noise.shape
        step_t, look_t, out_t = step.transpose(1, 2), look.transpose(1, 2), out.transpose(1, 2)
        d_state = torch.zeros_like(states[:, 0])
        pushes, seens, answers = [], [], []
        for t in reversed(range(steps)):
            d_sample = d_state[..., :stoch]
            d_raw = d_sample * noise[:, t] * torch.sigmoid(outs[:, t, :, stoch:] - STD_SHIFT)
            d_answer = d_outs[:, t] + torch.cat([d_sample, d_raw], dim=-1)
            d_inner = torch.bmm(d_answer, out_t) * _silu_slope(inners[:, t])
            d_hidden = torch.bmm(d_inner, look_t) + d_hiddens[:, t] + d_state[..., stoch:]
            d_push, carried = _cell_back(d_hidden, cells[:, t], states[:, t, :, stoch:])
            back = torch.bmm(d_push, step_t)
            d_state = torch.cat([back[..., :stoch], back[..., stoch:] + carried], dim=-1) * keep[:, t]
            pushes.append(d_push)
            seens.append(d_inner)
            answers.append(d_answer)
        d_push, d_seen, d_answer = (torch.stack(items[::-1], dim=1) for items in (pushes, seens, answers))

        def over_all_steps(inputs: Tensor, gradient: Tensor) -> Tensor:
            return torch.bmm(inputs.view(k, steps * batch, -1).transpose(1, 2), gradient.view(k, steps * batch, -1))

        d_step, d_look = over_all_steps(states, d_push), over_all_steps(hiddens, d_seen)
        d_out, d_bias = over_all_steps(functional.silu(inners), d_answer), d_answer.sum(dim=(1, 2)).unsqueeze(1)
        return d_push, d_seen, None, None, d_step, d_look, d_out, d_bias, None


def _cell(x: Tensor, hidden: Tensor) -> Tensor:
    """The gated recurrent unit of `cell.gru` from its joint preactivations (K, B, 4H)."""
    _, update, candidate = _gates(x)
    new: Tensor = candidate + update * (hidden - candidate)
    return new


def _gates(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Reset, update and candidate."""
    width = x.shape[-1] // 4
    gates = torch.sigmoid(x[..., : 2 * width])
    reset, update = gates[..., :width], gates[..., width:]
    return reset, update, torch.tanh(x[..., 2 * width : 3 * width] + reset * x[..., 3 * width :])


def _cell_back(d_hidden: Tensor, x: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients with respect to the preactivations, and to the hidden state along the update gate."""
    width = hidden.shape[-1]
    reset, update, candidate = _gates(x)
    d_update = d_hidden * (hidden - candidate) * update * (1.0 - update)
    d_candidate = d_hidden * (1.0 - update) * (1.0 - candidate.square())
    d_reset = d_candidate * x[..., 3 * width :] * reset * (1.0 - reset)
    return torch.cat([d_reset, d_update, d_candidate, d_candidate * reset], dim=-1), d_hidden * update


def _silu_slope(x: Tensor) -> Tensor:
    gate = torch.sigmoid(x)
    return gate * (1.0 + x * (1.0 - gate))
