"""What a reader of the board is promised: the answer first, nothing blank, every missing number explained, the same bytes always."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wm_audit.board.leaderboard import leaderboard
from wm_audit.board.terminal import WIDTH, terminal
from wm_audit.board.view import views
from wm_audit.core import Key, Measurement, Reason, Row
from wm_audit.verdict import Rules

Rows = Callable[..., list[Row]]
Document = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def page(rows: Rows, document: Document) -> str:
    made = rows(seeds=5, levers=("copy", "int8"), extras=("pixel_mse.open_loop",))
    return leaderboard([("results_pixel_nav.json", document(made))])


@pytest.fixture(scope="module")
def broken(rows: Rows, document: Document) -> dict[str, Any]:
    """Everything that can be missing is: a feature, a seed's prediction, an arm's answer, a row, seeds."""
    made = []
    for row in rows(seeds=3, levers=("int8",)):
        values = dict(row.diagnostics)
        if row.key.arm == "trained":
            values["rollout_fvd"] = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1, feature="ftd_transnetv2")
        if row.key.seed == 1 and row.key.arm == "trained":
            values["return_ece"] = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=-1)
        if row.key.arm == "oracle":
            values["return_ece"] = Measurement(0.25, n=64, orientation=-1)
        if row.key != Key("pixel_nav", 32, 32, 2):
            made.append(Row(row.key, row.outcome, values, row.details, row.manifest))
    return document(
        made, missing=[Key("pixel_nav", 32, 32, 2)], claim="confirmatory_with_deviations", deviations=[{"id": "D1", "field": "seeds"}]
    )


def tables(text: str) -> list[list[list[str]]]:
    """Every Markdown table as lines of cells."""
    found: list[list[list[str]]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not inside:
                found.append([])
            found[-1].append(cells)
        inside = line.startswith("|")
    return found


def column(text: str, header: str, name: str) -> dict[str, str]:
    """One column of the first table that has it: first cell -> cell."""
    table = next(item for item in tables(text) if item[0][0] == header and name in item[0])
    return {line[0]: line[table[0].index(name)] for line in table[2:]}


def test_claim_and_digest_of_the_promise_come_before_any_number(page: str) -> None:
    section = page[page.index("## pixel_nav") :]
    assert section.index("claim: **exploratory**") < section.index("sha256:" + "a" * 64) < section.index("### Verdicts")


def test_the_same_files_give_the_same_bytes_in_any_order(rows: Rows, document: Document) -> None:
    one, two = document(rows(seeds=4)), document(rows(seeds=4, env="two_room", arms=False))
    files = [("results_pixel_nav.json", one), ("results_two_room.json", two)]
    assert leaderboard(files) == leaderboard(files[::-1])
    assert leaderboard(files).index("## pixel_nav") < leaderboard(files).index("## two_room")


def test_the_floor_of_a_clip_distance_is_said_once_per_seed(page: str, rows: Rows, document: Document) -> None:
    """It is a number of the data: larger models bring no more of it, and a seed without one is left out."""
    floors = [Measurement(value, n=48).to_json() for value in (2.0, 4.0)] + [Measurement.null(Reason.TOO_FEW_SAMPLES).to_json()]
    made = [replace(row, details=row.details | {"rollout_fvd.split": floors[row.key.seed]}) for row in rows(seeds=3)]
    (line,) = [line for line in leaderboard([("r.json", document(made))]).splitlines() if "its floor" in line]
    assert re.search(r" 3\.00 \[[^]]*\] n=2", line), line
    assert "its floor" not in page


def test_tables_are_whole(page: str, broken: dict[str, Any]) -> None:
    for text in (page, leaderboard([("r.json", broken)])):
        assert len(tables(text)) >= 7
        for table in tables(text):
            assert len({len(line) for line in table}) == 1


def test_every_missing_number_has_a_footnote_and_every_footnote_is_there(page: str, broken: dict[str, Any]) -> None:
    for text in (page, leaderboard([("r.json", broken)])):
        assert not re.search(r"–(?! \[\d+\])", text.split("\n## ", 1)[1])
        for block in re.split(r"\n#+ |<details>|</details>", text)[1:]:
            used = set(re.findall(r"\[(\d+)\](?!:)", "\n".join(line for line in block.splitlines() if line.startswith("|"))))
            said = set(re.findall(r"^- \[(\d+)\] \S", block, flags=re.MULTILINE))
            assert used == said
        assert not re.search(r"\b(nan|inf|None|null)\b", re.sub(r"null, [a-z_]+", "", text))


def test_people_see_slot_and_feature(page: str, broken: dict[str, Any]) -> None:
    assert "| pixel_lpips (stlpips_alex) " in page
    assert "| rollout_fvd (ftd_transnetv2) " in leaderboard([("r.json", broken)])
    assert not re.search(r"\| pixel_lpips +\|", page)


def test_numbers_stand_with_interval_and_n(page: str) -> None:
    for cell in column(page, "mean over seeds", "16x16").values():
        assert re.fullmatch(r"-?[\d.]+ \[-?[\d.]+, -?[\d.]+\] n=5", cell)
    answers = column(page, "question", "90% interval")
    assert all(re.fullmatch(r"\[[+-][\d.]+, [+-][\d.]+\]|– \[\d+\]", cell) for cell in answers.values())
    assert any(cell.startswith("[") for cell in answers.values())


def test_the_normalised_scale_runs_from_random_to_oracle(page: str) -> None:
    assert column(page, "arm", "normalised return")["oracle"].startswith("1.00 [")
    assert column(page, "arm", "normalised return")["random"].startswith("0 [")
    assert 0.3 < float(column(page, "mean over seeds", "16x16")["**return, normalised**"].split()[0]) < 0.8


def test_the_verdict_table_holds_both_answers(page: str) -> None:
    table = next(item for item in tables(page) if item[0][0] == "question")
    for line in table[2:]:
        labels = {"SUPPORTED", "CONTRADICTED", "INCONCLUSIVE", "UNMEASURABLE"}
        assert line[1].strip("*") in labels
        assert line[table[0].index("point rule")] in labels
    assert [line[0].partition(":")[0] for line in table[2:]] == ["H1", "H2", "H3 (int8)"]


def test_a_failed_control_cannot_be_overlooked(broken: dict[str, Any]) -> None:
    text = leaderboard([("r.json", broken)])
    assert "- **FAILED** oracle, return_ece: expected 0, found 0.250" in text
    assert "FAILED" in column(text, "arm", "known answers")["oracle"]
    first = text[text.index("### Verdicts") : text.index("### Models")]
    assert "the control oracle did not give its known answer" in first
    assert "WRONG: oracle, return_ece" in terminal(broken)


def test_missing_rows_and_deviations_are_listed(broken: dict[str, Any]) -> None:
    text = leaderboard([("r.json", broken)])
    assert "### Missing: 1 planned row\n\n- pixel_nav-32x32-seed2-trained-none" in text
    assert "claim: **confirmatory with deviations**; result partial" in text
    assert "deviation D1: seeds" in text
    assert "1 planned row is missing:\n  pixel_nav-32x32-seed2-trained-none" in terminal(broken)


def test_gaps_say_how_many_and_why(broken: dict[str, Any]) -> None:
    text = leaderboard([("r.json", broken)])
    assert column(text, "mean over seeds", "16x16")["rollout_fvd (ftd_transnetv2)"] == "– [2]"
    assert "3 of 3: the weight file of this learned feature is not installed" in text
    assert "n=2" in column(text, "mean over seeds", "16x16")["return_ece"]
    assert "1 of 3: the model predicted a value that is not finite" in text


def test_flips_are_listed_with_their_label(page: str, broken: dict[str, Any]) -> None:
    said = page[page.index("### Robustness") :]
    assert re.search(
        r"^- H1: (\*\*fragile\*\* .*)?[A-Z]+(; \d+ of \d+ variants differ: .+ \([A-Z]+\)| in all \d+ variants)$", said, re.MULTILINE
    )
    assert "without seed 0" in said
    assert "- H3 (int8): " in said
    assert "### Robustness" in leaderboard([("r.json", broken)])


def test_extras_are_marked_as_outside_the_family(page: str) -> None:
    cells = column(page, "diagnostic", "p (Holm)")
    assert cells["*pixel_mse.open_loop*"].startswith("–")
    assert "outside the family of tests" in page


def test_an_environment_without_references_has_no_normalised_return(rows: Rows, document: Document) -> None:
    text = leaderboard([("r.json", document(rows(seeds=4, arms=False)))])
    assert column(text, "mean over seeds", "16x16")["**return, normalised**"].startswith("–")
    assert "a reference arm is missing" in text
    assert "No control arm was run." in text
    screen = terminal(document(rows(seeds=4, arms=False)))
    assert re.search(r"^return; mean \[90% interval\] n\n  trained 16x16 +1\d", screen, re.MULTILINE)


def test_two_files_of_one_environment_are_told_apart(rows: Rows, document: Document) -> None:
    built = document(rows(seeds=3, capacities=1))
    text = leaderboard([("results_b.json", built), ("results_a.json", built)])
    assert re.findall(r"^## .*", text, re.MULTILINE) == ["## pixel_nav, results_a.json", "## pixel_nav, results_b.json"]


def test_the_screen_holds_the_answers_in_a_hundred_columns(rows: Rows, document: Document, broken: dict[str, Any]) -> None:
    whole = terminal(document(rows(seeds=5, levers=("int8",))), {"results": "results_pixel_nav.json"})
    for text in (whole, terminal(broken), terminal(document(rows(seeds=1, capacities=1)))):
        assert max(len(line) for line in text.splitlines()) <= WIDTH
        assert not re.search(r"\b(nan|None)\b", text)
        assert all(line == line.rstrip() for line in text.splitlines())
    assert whole.index("H1 ") < whole.index("H2 ") < whole.index("H3 (int8) ") < whole.index("normalised return")
    assert whole.endswith("results: results_pixel_nav.json\n")


def test_the_screen_says_why_there_is_no_answer(rows: Rows, document: Document) -> None:
    text = terminal(document(rows(seeds=2)))
    assert "H1 UNMEASURABLE" in text
    assert "! 2 complete seeds; an estimate needs at least 3" in text
    assert "no estimate; 2 of 2 seeds, n=4" in text
    three = terminal(document(rows(seeds=3, levers=("int8",))))
    assert "! 3 complete seeds; an interval needs at least 4" in three
    assert "! 3 complete seeds; an interval needs at least 5" in three  # H3's exact interval needs one more


def test_one_of_a_thing_is_not_many(rows: Rows, document: Document) -> None:
    text = terminal(document(rows(seeds=1, capacities=1)))
    assert "1 seed x 1 capacity," in text
    assert "! 1 complete seed; an estimate needs at least 3" in text
    assert "1 of 1 seed, n=1" in text


def test_why_the_result_is_only_exploratory_stands_beside_the_claim(rows: Rows, document: Document) -> None:
    promise = {"version": 1, "digest": "sha256:" + "a" * 64, "status": "locked", "locked_on": "2031-02-03"}
    absent = [Key("pixel_nav", 32, 32, 2)]
    late, sliced = promise | {"locked_on": None}, document(rows(), preregistration=promise)
    for built, why in (
        (document(rows()), "the promise is a draft"),
        (document(rows(), preregistration=late), "the promise was not locked when the rows were made"),
        (document(rows(), preregistration=promise, missing=absent), "promised cells are without a row (1 of them)"),
        (document(rows(), environment={"digest": "measured elsewhere"}), "the rows were measured elsewhere"),
        (sliced, "the run is a part of what was promised"),
    ):
        assert f"claim: **exploratory**, for {why}" in leaderboard([("r.json", built)])
        assert f"exploratory, for {why}" in terminal(built)
    assert ", for " not in terminal(document(rows(), preregistration=promise, claim="confirmatory"))


def test_the_columns_of_the_verdicts_are_explained_once_in_a_line_each(page: str) -> None:
    verdicts = page[page.index("### Verdicts") : page.index("### Models")]
    for words in ("- p tests *no association*", "- The point rule uses the pooled correlation", "- The unit of H3's estimate is one seed"):
        (line,) = [line for line in page.splitlines() if line.startswith(words)]
        assert line in verdicts


def test_the_codes_of_the_file_are_listed_with_their_meaning(page: str, broken: dict[str, Any]) -> None:
    text = leaderboard([("r.json", broken)])
    listed = text[text.index("### Reason codes in the file") :]
    for code, meaning in (
        ("feature_weights_missing", "the weight file of this learned feature is not installed"),
        ("nonfinite_prediction", "the model predicted a value that is not finite"),
    ):
        assert re.search(rf"^- `{code}` \(\d+ times\): {meaning}$", listed, re.MULTILINE)
    assert "feature_weights_missing" not in page


def test_what_compression_saves_is_a_line_for_each_capacity(page: str, rows: Rows, document: Document) -> None:
    assert "Stored size" not in page  # nothing was measured there
    made = []
    for row in rows(seeds=3, levers=("copy", "int8")):
        size = row.key.hidden * (1000 if row.key.compression in ("none", "copy") else 400 + row.key.seed)
        share = {"compressed_share": {"encoder": 0.9, "reward": 0.5}} if row.key.compression == "int8" else {}
        details = row.details | ({"size_bytes": size} | share if row.key.arm == "trained" else {})
        made.append(replace(row, details=details))
    text = leaderboard([("r.json", document(made))])
    table = next(item for item in tables(text) if "stored / float" in item[0])
    assert table[2:] == [
        ["int8", "16x16", "0.401", "6,416", "16,000", "encoder 90.0%, reward 50.0%", "3"],
        ["int8", "32x32", "0.401", "12,832", "32,000", "encoder 90.0%, reward 50.0%", "3"],
    ]
    compression = text[text.index("### Compression") : text.index("### Robustness")]
    assert "stored / float" in compression


def test_controls_alone_are_not_called_missing_models(rows: Rows, document: Document) -> None:
    """A run that asks for no model has no gaps: it has no models."""
    made = []
    for row in rows(seeds=1):
        values = row.diagnostics | {"pixel_lpips": Measurement(0.1, n=8, orientation=-1, feature="stlpips_alex")}
        made.append(replace(row, diagnostics=values))
    config = {"name": "small", "environments": ["pixel_nav"], "seeds": [0], "level": "0.9", "arms": ["oracle", "random"]}
    rules = replace(Rules.default(), seeds=(0,), capacities=((16, 16),), arms=("oracle", "random"), resamples=30, permutations=99)
    built = document([row for row in made if row.key.arm != "trained"], rules, config=config)
    screen, text = terminal(built), leaderboard([("r.json", built)])
    for shown in (screen, text):
        assert "was not asked for" in shown
        assert "missing" not in shown
        assert "**UNMEASURABLE**" not in shown
        assert "H1 UNMEASURABLE" not in shown
    assert re.search(r"^normalised return: 0 random, 1 oracle", screen, re.MULTILINE)
    assert re.search(r"^  oracle  1\.00 ", screen, re.MULTILINE)
    assert views("r.json", built)[0].shown("pixel_lpips") == "pixel_lpips (stlpips_alex)"


def test_what_does_not_vary_is_named(rows: Rows, document: Document) -> None:
    def constant(row: Row, *, outcome: bool) -> Row:
        if outcome:
            return replace(row, outcome=row.outcome.with_(value=3.0), details={})
        return replace(row, diagnostics=row.diagnostics | {"pixel_mse": Measurement(1.0, n=8, orientation=-1)})

    for outcome, words in ((True, "the return has one value in all models"), (False, "the diagnostic has one value in all models")):
        text = leaderboard([("r.json", document([constant(row, outcome=outcome) for row in rows(seeds=5, arms=False)]))])
        assert words in text
        assert "variable does not vary" not in text.partition("### Reason codes")[0]
    assert "2 capacities; an order of sizes needs at least 3" in text


def test_a_name_with_an_escape_sequence_is_shown_and_not_sent(rows: Rows, document: Document) -> None:
    made = [replace(row, diagnostics=row.diagnostics | {"x\x1b[2J": Measurement(1.0)}) for row in rows(seeds=3)]
    built = document(made)
    for text in (terminal(built), leaderboard([("r.json", built)])):
        assert "\x1b" not in text
    assert "x\\x1b[2J" in leaderboard([("r.json", built)])


def test_the_level_of_the_promise_is_the_one_that_is_printed(rows: Rows, document: Document) -> None:
    rules = replace(Rules.default(), level=0.95, resamples=30, permutations=99)
    assert "95% interval" in leaderboard([("r.json", document(rows(seeds=5), rules))])
