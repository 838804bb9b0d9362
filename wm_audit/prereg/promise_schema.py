"""What the audit's promise holds: every field of `configs/preregistration.yaml`, with its type and its bounds."""

from wm_audit.prereg.schema import Exact, Fields, Flag, Items, Maybe, Named, Scalar, Text, Whole

_SHARE = Exact(low="0", high="1")
_POSITIVE = Exact(low="0", strict=True)
_AT_LEAST_ONE = Whole(low=1)
_NAME = Text(pattern=r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")
_NAMES = Items(_NAME, at_least=1, distinct=True)
_DIGEST = Text(pattern=r"sha256:[0-9a-f]{64}")

CAPACITY = Fields({"hidden": _AT_LEAST_ONE, "embed": _AT_LEAST_ONE})

_HYPOTHESIS = Fields(
    {
        "id": Text(choices=("H1", "H2", "H3")),
        "question": Text(),
        "estimand": Text(choices=("within_capacity_rho", "degradation_contrast")),
        "composites": _NAMES,
        "margin": Exact(low="0", high="1", strict=True),
        "threshold": _SHARE,
        "level": Exact(low="0.5", high="1", strict=True),
    },
    optional=frozenset({"margin", "threshold"}),
)

_BEHAVIOURS = Fields(
    {
        "uniform": Fields({"share": _SHARE}),
        "held": Fields({"share": _SHARE, "steps": _AT_LEAST_ONE}),
        "correlated": Fields({"share": _SHARE, "correlation": _SHARE, "scale": _POSITIVE}),
        "oracle": Fields({"share": _SHARE, "noise": Fields({"least": Exact(low="0"), "most": Exact(low="0")})}),
    },
    optional=frozenset({"uniform", "held", "correlated", "oracle"}),
)

_COLLECTION = Fields(
    {
        "steps": _AT_LEAST_ONE,
        "behaviours": _BEHAVIOURS,
        "split": Fields({"train": _SHARE, "probe": _SHARE, "held_out": _SHARE}),
    }
)

_MODEL = Fields(
    {
        "members": _AT_LEAST_ONE,
        "stoch": _AT_LEAST_ONE,
        "patch": _AT_LEAST_ONE,
        "width": Whole(low=2),
        "variance": Text(choices=("pixel", "scalar")),
        "log_variance": Fields({"low": Exact(), "high": Exact()}),
        "variance_beta": _SHARE,
        "min_std": _POSITIVE,
        "free_nats": Exact(low="0"),
        "kl_dynamics": Exact(low="0"),
        "kl_representation": Exact(low="0"),
        "reward_scale": Exact(low="0"),
        "continue_scale": Exact(low="0"),
        "family": Text(),
        "own": Named(Scalar()),
    },
    optional=frozenset({"family", "own"}),
)

_TRAINING = Fields(
    {
        "steps": _AT_LEAST_ONE,
        "batch": _AT_LEAST_ONE,
        "length": _AT_LEAST_ONE,
        "learning_rate": _POSITIVE,
        "warmup": Whole(low=0),
        "decay": _SHARE,
        "clip": _POSITIVE,
        "weight_decay": Exact(low="0"),
        "compiled": Flag(),
    }
)

_PLANNING = Fields(
    {
        "horizon": _AT_LEAST_ONE,
        "candidates": Whole(low=3),
        "elites": Whole(low=2),
        "iterations": _AT_LEAST_ONE,
        "init_std": _POSITIVE,
        "std_floor": _POSITIVE,
        "alpha": Exact(low="0", high="1"),
        "hold": _AT_LEAST_ONE,
        "discount": _SHARE,
    }
)

EVALUATION = Fields(
    {
        "starts": Whole(low=20),
        "segments": _AT_LEAST_ONE,
        "context": _AT_LEAST_ONE,
        "horizon": _AT_LEAST_ONE,
        "probe_states": _AT_LEAST_ONE,
        "probe_actions": Whole(low=2),
        "probe_hold": _AT_LEAST_ONE,
        "frames": _AT_LEAST_ONE,
        "clips": _AT_LEAST_ONE,
        "clip_components": _AT_LEAST_ONE,
        "filter_banks": _AT_LEAST_ONE,
        "batch": _AT_LEAST_ONE,
        "bins": _AT_LEAST_ONE,
    }
)

_DIAGNOSTIC = Fields(
    {
        "groups": Items(Text(choices=("perceptual", "control", "calibration")), distinct=True),
        "orientation": Whole(low=-1, high=1),
        "unit": Text(),
        "probe": Text(choices=("segments", "counterfactual")),
        "computed_in": Text(choices=("float32", "float64")),
        "feature": _NAME,
    },
    optional=frozenset({"feature"}),
)

_STATISTICS = Fields(
    {
        "ties": Fields({"float64": _SHARE, "float32": _SHARE}),
        "min_n": Whole(low=3),
        "min_distinct": Whole(low=2),
        "min_outcomes": Whole(low=2),
        "coverage": _SHARE,
        "resamples": _AT_LEAST_ONE,
        "permutations": _AT_LEAST_ONE,
        "control_tolerance": _SHARE,
    }
)

_POWER = Fields(
    {
        "source": Text(),  # of the intra-seed correlations: assumed, or the digest of the result that gave them
        "table": Items(
            Fields(
                {
                    "question": Text(),
                    "seeds": _AT_LEAST_ONE,
                    "capacities": _AT_LEAST_ONE,
                    "intra_seed_correlation": _SHARE,
                    "true_value": Exact(),
                    "share_decided": _SHARE,
                }
            ),
            at_least=1,
        ),
    }
)

PROMISE = Fields(
    {
        "version": Whole(low=0),
        "status": Text(choices=("draft", "locked")),
        "supersedes": Maybe(_DIGEST),
        "pilots": Items(_DIGEST, distinct=True),
        "root": Whole(low=0),
        "hypotheses": Items(_HYPOTHESIS, at_least=1, distinct=True),
        "environments": Named(Named(Scalar()), at_least=1),
        "capacities": Items(CAPACITY, at_least=1, distinct=True),
        "seeds": Items(Whole(low=0), at_least=1, distinct=True),
        "arms": _NAMES,
        "levers": Items(Text(), distinct=True),
        "collection": _COLLECTION,
        "model": _MODEL,
        "training": _TRAINING,
        "planning": _PLANNING,
        "evaluation": EVALUATION,
        "diagnostics": Named(_DIAGNOSTIC, at_least=1),
        "extras": Named(_DIAGNOSTIC),
        "composites": Named(_NAMES, at_least=1),
        "family": Fields({"method": Text(choices=("holm",)), "m": _AT_LEAST_ONE, "members": _NAMES}),
        "statistics": _STATISTICS,
        "exclusion": Text(choices=("none",)),
        "stopping": Text(choices=("fixed_n",)),
        "power": Maybe(_POWER),
        "exploratory": Items(Text(), distinct=True),
    }
)
"""The schema of `configs/preregistration.yaml`."""
