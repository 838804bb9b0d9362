"""What fixes a dreamer_lite model: its capacity, and the settings a preregistration locks."""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Config:
    """Sizes and loss weights.

    Attributes:
        image: (C, h, w) of the observations.
        actions: A.
        hidden: width of the deterministic path; half of a capacity.
        embed: width of the image embedding and of every head; the other half.
        stoch: dimensions of the Gaussian latent.
        patch: side of a square image patch, in pixels; divides h and w.
        width: numbers that describe one patch; the decoder's last one is the constant 1, whose weights are the mean picture's correction.
        variance: "pixel" learns one log-variance per pixel value, "scalar" one for the whole image.
        log_variance: bounds of every log-variance, in log squared intensity.
        variance_beta: 0 trains on the plain likelihood; 1 gives every pixel's error the same weight, whatever its variance.
        min_std: floor of the latent's standard deviations.
        free_nats: KL below this, per time step and summed over the latent, is not penalised.
        kl_dynamics, kl_representation: weights of the two halves of the balanced KL.
        reward_scale, continue_scale: weights of the reward and continue likelihoods, in nats per step.
    """

    image: tuple[int, int, int]
    actions: int
    hidden: int
    embed: int
    stoch: int = 32
    patch: int = 8
    width: int = 16
    variance: Literal["pixel", "scalar"] = "pixel"
    log_variance: tuple[float, float] = (-8.0, 0.0)
    variance_beta: float = 1.0
    min_std: float = 0.1
    free_nats: float = 1.0
    kl_dynamics: float = 100.0
    kl_representation: float = 3.0
    reward_scale: float = 1000.0
    continue_scale: float = 1.0

    def __post_init__(self) -> None:
        """Refuses sizes that cannot be built and words that mean nothing.

        Raises:
            ValueError: names the setting.
        """
        for name in ("actions", "hidden", "embed", "stoch", "patch", "width"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"{name} must be an integer of at least 1, found {getattr(self, name)!r}")
        if self.width < 2:
            raise ValueError(f"width must be at least 2, one number and the constant, found {self.width}")
        channels, height, width = self.image
        if channels < 1 or height < 1 or width < 1 or height % self.patch or width % self.patch:
            raise ValueError(f"patch {self.patch} does not divide the image {channels}x{height}x{width}")
        if self.variance not in ("pixel", "scalar"):
            raise ValueError(f"variance must be pixel or scalar, found {self.variance!r}")
        for name in ("variance_beta", "min_std", "free_nats", "kl_dynamics", "kl_representation", "reward_scale", "continue_scale"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be finite and not negative, found {getattr(self, name)!r}")
        low, high = self.log_variance
        if not -math.inf < low < high < math.inf:
            raise ValueError(f"log_variance must be a finite lower and a larger upper bound, found {self.log_variance!r}")

    @property
    def patches(self) -> int:
        """P: patches per image."""
        return (self.image[1] // self.patch) * (self.image[2] // self.patch)

    @property
    def values(self) -> int:
        """V: values per patch, colour channels included."""
        return self.image[0] * self.patch * self.patch

    @property
    def features(self) -> int:
        """Width of what the heads see: deterministic and stochastic part side by side."""
        return self.hidden + self.stoch
