"""The three questions in words, and their rules."""

from wm_audit.verdict.rules import Rules

QUESTIONS = {
    "H1": "pixel fidelity only weakly predicts return",
    "H2": "control diagnostics strongly predict return",
    "H3": "compression degrades calibration and uncertainty faster than pixel fidelity",
}


def rule(question: str, rules: Rules) -> str:
    """The decision rule of a question, with its thresholds."""
    level, margin, threshold = f"{100 * rules.level:g}%", f"{rules.margin:g}", f"{rules.threshold:g}"
    within = f"{level} interval of the within-capacity rank correlation of the"
    contrast = f"{level} interval of calibration minus pixel degradation, in seed standard deviations:"
    return {
        "H1": f"{within} perceptual composite with the return: inside (-{margin}, {margin}) SUPPORTED, wholly outside CONTRADICTED",
        "H2": f"{within} control composite with the return: above {threshold} SUPPORTED, below {threshold} CONTRADICTED",
        "H3": f"{contrast} above 0 SUPPORTED, below 0 CONTRADICTED",
    }[question]
