"""Why a number is missing: one enumeration, each member a sentence a person understands."""

from enum import StrEnum


class Reason(StrEnum):
    """Null reasons of every instrument. The value is the code in files; `sentence` is what people read."""

    # statistics
    NO_FINITE_PAIRS = "no_finite_pairs"
    CONSTANT_X = "constant_x"
    CONSTANT_Y = "constant_y"
    CONSTANT_BOTH = "constant_both"
    TOO_FEW_PAIRS = "too_few_pairs"
    TOO_FEW_DISTINCT = "too_few_distinct"
    TOO_FEW_SEEDS = "too_few_seeds"
    COVERAGE = "coverage"
    PERFECT_CORRELATION = "perfect_correlation"
    PERFECT_REPLICATE = "perfect_replicate"
    DEGENERATE_RESAMPLES = "degenerate_resamples"
    ESTIMATE_OUTSIDE = "estimate_outside"
    NO_SPREAD = "no_spread"
    NO_TRIALS = "no_trials"
    NO_DISCORDANT_PAIRS = "no_discordant_pairs"
    NULL_MEMBER = "null_member"
    OUTCOME_WITHOUT_VARIATION = "outcome_without_variation"
    # diagnostics
    SINGLE_MEMBER = "single_member"
    IDENTICAL_MEMBERS = "identical_members"
    ZERO_DISPERSION = "zero_dispersion"
    NONFINITE_PREDICTION = "nonfinite_prediction"
    PROBE_DEGENERATE = "probe_degenerate"
    FEATURE_WEIGHTS_MISSING = "feature_weights_missing"
    IMAGE_TOO_SMALL = "image_too_small"
    TOO_FEW_SAMPLES = "too_few_samples"
    CAPABILITY_MISSING = "capability_missing"
    COLLAPSED_LATENT = "collapsed_latent"
    NO_TERMINATION_EVENTS = "no_termination_events"
    NO_REWARD_HEAD = "no_reward_head"
    NOT_APPLICABLE = "not_applicable"
    NOT_MEASURED = "not_measured"
    # closed loop
    REFERENCE_DEGENERATE = "reference_degenerate"
    REFERENCE_MISSING = "reference_missing"
    # compression
    NO_LEVER_ROWS = "no_lever_rows"
    LEVER_WITHOUT_EFFECT = "lever_without_effect"
    BELOW_NOISE_FLOOR = "below_noise_floor"
    # design
    POWER_NOT_REACHED = "power_not_reached"
    # other instruments
    NO_CHANGE = "no_change"
    NO_DECISIVE_TESTS = "no_decisive_tests"
    THRESHOLDS_MISSING = "thresholds_missing"
    TIED_WINNER = "tied_winner"
    TIED_BOUNDARY = "tied_boundary"

    @property
    def sentence(self) -> str:
        """What the code means, for people."""
        return _SENTENCES[self]


_SENTENCES: dict[Reason, str] = {
    Reason.NO_FINITE_PAIRS: "no pair of values is finite on both sides",
    Reason.CONSTANT_X: "the first variable does not vary",
    Reason.CONSTANT_Y: "the second variable does not vary",
    Reason.CONSTANT_BOTH: "neither variable varies",
    Reason.TOO_FEW_PAIRS: "too few pairs are left to say anything",
    Reason.TOO_FEW_DISTINCT: "too few distinct values are left to say anything",
    Reason.TOO_FEW_SEEDS: "too few complete seeds for this statistic",
    Reason.COVERAGE: "fewer than the required share of the planned seeds is complete",
    Reason.PERFECT_CORRELATION: "the correlation is perfect, so its sampling error cannot be estimated",
    Reason.PERFECT_REPLICATE: "a leave-one-out replicate is perfect, so the sampling error cannot be estimated",
    Reason.DEGENERATE_RESAMPLES: "too many resamples are degenerate for an interval",
    Reason.ESTIMATE_OUTSIDE: "the resamples lie to one side of the estimate, so their quantiles are no interval for it",
    Reason.NO_SPREAD: "the float models do not differ between seeds, so there is no scale to measure against",
    Reason.NO_TRIALS: "nothing was tried",
    Reason.NO_DISCORDANT_PAIRS: "no pair disagrees, so there is nothing to test",
    Reason.NULL_MEMBER: "a member of the composite is undefined",
    Reason.OUTCOME_WITHOUT_VARIATION: "the outcome takes too few distinct values for the question to be asked",
    Reason.SINGLE_MEMBER: "one member has no dispersion",
    Reason.IDENTICAL_MEMBERS: "all members predict exactly the same",
    Reason.ZERO_DISPERSION: "the members differ somewhere, but their dispersion is zero on this probe",
    Reason.NONFINITE_PREDICTION: "the model predicted a value that is not finite",
    Reason.PROBE_DEGENERATE: "no probe state tells its actions apart",
    Reason.FEATURE_WEIGHTS_MISSING: "the weight file of this learned feature is not installed",
    Reason.IMAGE_TOO_SMALL: "the images are smaller than this feature can see",
    Reason.TOO_FEW_SAMPLES: "too few samples for this estimate",
    Reason.CAPABILITY_MISSING: "the model does not offer what this diagnostic needs",
    Reason.COLLAPSED_LATENT: "the latent carries no information",
    Reason.NO_TERMINATION_EVENTS: "no episode of the probe terminates",
    Reason.NO_REWARD_HEAD: "the model does not predict rewards",
    Reason.NOT_APPLICABLE: "this quantity does not exist for this arm",
    Reason.NOT_MEASURED: "it was not measured",
    Reason.REFERENCE_DEGENERATE: "the oracle planner is no better than the random policy, so returns cannot be normalised",
    Reason.REFERENCE_MISSING: "a reference arm is missing, so returns cannot be normalised",
    Reason.NO_LEVER_ROWS: "no compressed row was measured for this lever",
    Reason.LEVER_WITHOUT_EFFECT: "the compression changed no weight",
    Reason.BELOW_NOISE_FLOOR: "every change is smaller than the evaluation noise",
    Reason.POWER_NOT_REACHED: "no true value that was tried is recognised often enough",
    Reason.NO_CHANGE: "nothing changed",
    Reason.NO_DECISIVE_TESTS: "no test is decisive",
    Reason.THRESHOLDS_MISSING: "no thresholds were selected beforehand",
    Reason.TIED_WINNER: "two candidates share the first place",
    Reason.TIED_BOUNDARY: "the elite set is cut through a tie",
}
