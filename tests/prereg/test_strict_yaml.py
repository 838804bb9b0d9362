"""Nothing that YAML 1.1 reads in its own way passes as something else (pyyaml#173, #165)."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError, strict_json
from wm_audit.prereg.schema import Exact, Fields, Flag, Items, Maybe, Named, Scalar, Schema, Text, Whole, describe, partial
from wm_audit.prereg.strict_yaml import load, loads

SCHEMA = Fields(
    {
        "steps": Whole(low=1),
        "rate": Exact(low="0", high="1", strict=True),
        "name": Text(choices=("alpha", "beta")),
        "flag": Flag(),
        "seeds": Items(Whole(low=0), at_least=1, distinct=True),
        "inner": Fields({"note": Text(), "depth": Whole()}, optional=frozenset({"note"})),
        "table": Named(Scalar()),
        "power": Maybe(Exact()),
    }
)

GOOD = """\
steps: 3
rate: 0.10
name: alpha
flag: true
seeds: [0, 1, 2]
inner:
  note: a text
  depth: -2
table: {a: 1, b: 0.5, c: word, d: "3", e: false}
power: null
"""


def read(text: str, schema: Fields = SCHEMA) -> dict[str, Any]:
    return loads(text, schema, where="f.yaml").value


def one(raw: str, schema: Schema) -> Any:
    """What `raw` is read as where `schema` is wanted."""
    return read(f"a: {raw}", Fields({"a": schema}))["a"]


def refused(text: str, schema: Fields = SCHEMA) -> str:
    with pytest.raises(AuditError) as caught:
        read(text, schema)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("f.yaml")
    assert caught.value.exit_code == 2
    return line


def test_what_a_file_says() -> None:
    assert read(GOOD) == {
        "steps": 3,
        "rate": Decimal("0.10"),
        "name": "alpha",
        "flag": True,
        "seeds": [0, 1, 2],
        "inner": {"note": "a text", "depth": -2},
        "table": {"a": 1, "b": Decimal("0.5"), "c": "word", "d": "3", "e": False},
        "power": None,
    }


# Every surprise, with what to write where a number is wanted, and what YAML 1.1 takes it for.
SURPRISES = [
    ("1e-3", "write 0.001", "text"),
    ("1e+3", "write 1000", "text"),
    ("1.5e3", "write 1500", "text"),
    ("1.5e+3", "write 1500", "1500.0"),
    ("200k", "write 200000", "text"),
    ("2.5M", "write 2500000", "text"),
    ("0, 1, 2", "write [0, 1, 2]", "text"),
    ("no", "plain digits", "false"),
    ("off", "plain digits", "false"),
    ("Yes", "plain digits", "true"),
    ("012", "write 12, or 10 if octal was meant", "10"),
    ("08", "write 8", "text"),
    ("1:30", "write 90", "90"),
    ("2026-11-07", "plain digits", "a date"),
    ("2026-11-07 10:00:00", "plain digits", "a date"),
    ("1_000", "write 1000", "1000"),
    ("0x1F", "write 31", "31"),
    ("0b11", "write 3", "3"),
    (".nan", "plain digits", "nan"),
    ("-.inf", "plain digits", "-inf"),
    ("~", "plain digits", "null"),
    ("null", "plain digits", "null"),
    ("", "plain digits", "nothing"),
    ("'3'", "write 3", "the text '3'"),
    (".5", "write 0.5", "0.5"),
    ("1.", "write 1", "1.0"),
    ("+1", "write 1", "1"),
    ("=", "plain digits", "="),
    ("word", "plain digits", "the text 'word'"),
    ("9" * 40, "at most 30", "9"),
]


@pytest.mark.parametrize(("raw", "fix", "meaning"), SURPRISES, ids=[raw or "empty" for raw, _, _ in SURPRISES])
def test_k39_no_surprise_passes_as_a_number(raw: str, fix: str, meaning: str) -> None:
    line = refused(f"first: 1\na: {raw}", Fields({"first": Whole(), "a": Exact()}))
    assert line.startswith("f.yaml, line 2, field a: found ")
    assert meaning in line
    assert fix in line
    assert "expected a decimal number" in line
    refused(f"a: {raw}", Fields({"a": Whole()}))


@pytest.mark.parametrize("raw", [raw for raw, _, _ in SURPRISES if raw not in ("'3'", "word", "200k", "2.5M", "0, 1, 2")])
def test_k39_no_surprise_passes_as_a_text(raw: str) -> None:
    assert "in quotes" in refused(f"a: {raw}", Fields({"a": Text()})) or not raw


@pytest.mark.parametrize("raw", [raw for raw, _, _ in SURPRISES if raw not in ("'3'", "word")])
def test_k39_no_surprise_passes_as_a_setting_of_any_type(raw: str) -> None:
    refused(f"a: {raw}", Fields({"a": Scalar()}))


@pytest.mark.parametrize("raw", [raw for raw, _, _ in SURPRISES] + ["y", "n", "True", "FALSE", "1", "0", '"true"'])
def test_k39_only_true_and_false_are_flags(raw: str) -> None:
    refused(f"a: {raw}", Fields({"a": Flag()}))


@pytest.mark.parametrize(
    ("raw", "word"), [("no", "false"), ("Off", "false"), ("n", "false"), ("on", "true"), ("TRUE", "true"), ("y", "true")]
)
def test_the_fix_of_a_flag_is_the_word_that_was_meant(raw: str, word: str) -> None:
    assert f"write {word}" in refused(f"a: {raw}", Fields({"a": Flag()}))


def test_a_misread_number_is_refused_even_where_its_fraction_is() -> None:
    assert "write an integer" in refused("a: 1e-3", Fields({"a": Whole()}))
    assert "found 0.5" in refused("a: 0.5", Fields({"a": Whole()}))


@pytest.mark.parametrize("raw", ["0.4", "0.40", "0.400000"])
def test_decimals_are_exact_and_one_number_has_one_digest(raw: str) -> None:
    assert one(raw, Exact()) == Decimal("0.4")
    assert strict_json.digest(read(f"a: {raw}", Fields({"a": Exact()}))) == strict_json.digest({"a": Decimal("4E-1")})


def test_an_integer_in_a_decimal_field_is_the_same_number() -> None:
    digests = {strict_json.digest(read(f"a: {raw}", Fields({"a": Exact()}))) for raw in ("1", "1.0", "1.00")}
    digests |= {strict_json.digest(read(f"a: {raw}", Fields({"a": Exact()}))) for raw in ("1", "1.000")}
    assert len(digests) == 1
    assert one("1.0", Scalar()) == 1
    assert type(one("1.0", Scalar())) is int
    assert str(one("-0.0", Exact())) == "0"


@given(st.decimals(min_value=-(10**9), max_value=10**9, allow_nan=False, places=6))
def test_every_plain_decimal_comes_back_exactly(number: Decimal) -> None:
    assert one(format(number, "f"), Exact()) == number


@given(st.integers(-(10**20), 10**20))
def test_every_plain_integer_comes_back(number: int) -> None:
    assert one(str(number), Whole()) == number


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (GOOD.replace("steps: 3\n", "steps: 3\nsteps: 3\n"), "line 2, field steps", "on lines 1 and 2"),
        (GOOD.replace("  depth: -2", '  depth: -2\n  "depth": 4'), "line 9, field inner.depth", "on lines 8 and 9"),
        (GOOD.replace("{a: 1, ", "{a: 1, a: 2, "), "line 9, field table.a", "on lines 9 and 9"),
        (GOOD + "stepz: 4\n", "line 11, field stepz", "write steps"),
        (GOOD.replace("depth:", "dept:"), "line 8, field inner.dept", "write depth"),
        (GOOD + "zzz: 4\n", "field zzz", "known are steps, rate"),
        (GOOD.replace("flag: true\n", ""), "line 1", "the field flag is missing; expected true or false; fix: add flag:"),
        (GOOD.replace("depth: -2", "zepth: -2"), "field inner.zepth", "write depth"),
        (GOOD.replace("steps: 3", "steps: 0"), "line 1, field steps", "expected an integer at least 1"),
        (GOOD.replace("0.10", "1.0"), "line 2, field rate", "above 0 and below 1"),
        (GOOD.replace("alpha", "gamma"), "line 3, field name", "one of alpha, beta"),
        (GOOD.replace("[0, 1, 2]", "[0, 1, 1]"), "line 5, field seeds[2]", "a second time"),
        (GOOD.replace("[0, 1, 2]", "[0, 1e0, 2]"), "line 5, field seeds[1]", "write 1"),
        (GOOD.replace("[0, 1, 2]", "[]"), "line 5, field seeds", "at least 1 items"),
        (GOOD.replace("[0, 1, 2]", "0, 1, 2"), "line 5, field seeds", "write [0, 1, 2]"),
        (GOOD.replace("[0, 1, 2]", ""), "line 5, field seeds", "found nothing"),
        (GOOD.replace("[0, 1, 2]", "{a: 1}"), "line 5, field seeds", "found a map"),
        (GOOD.replace("steps: 3", "steps: [3]"), "line 1, field steps", "found a list"),
        (GOOD.replace("steps: 3", "steps: {a: 3}"), "line 1, field steps", "found a map"),
        (GOOD.replace("inner:\n  note: a text\n  depth: -2", "inner: deep"), "line 6, field inner", "found the text 'deep'"),
        (GOOD.replace("{a: 1,", "{no: 1,"), "line 9, field table", "found the name no, which YAML 1.1 reads as false"),
        (GOOD.replace("{a: 1,", "{1: 1,"), "line 9, field table", "found the name 1"),
        (GOOD.replace("{a: 1,", "{a b: 1,"), "line 9, field table.a b", "a name of the form"),
        (GOOD.replace("{a: 1,", "{[a]: 1,"), "line 9, field table", "found a list as a name"),
        (GOOD.replace("power: null", "power: ~"), "line 10, field power", "found ~"),
        (GOOD.replace("power: null", "power:"), "line 10, field power", "found nothing"),
        (GOOD.replace("  note: a text", "  note: &n a text"), "line 7", "the anchor &n"),
        (GOOD.replace("[0, 1, 2]", "&s [0, 1, 2]"), "line 5", "the anchor &s"),
        (GOOD.replace("note: a text", "note: *n"), "line 7", "the alias *n"),
        (GOOD.replace("  note: a text", "  <<: {note: a}"), "line 7, field inner", "the merge key <<"),
        (GOOD.replace("steps: 3", "steps: !!int 3"), "line 1", "the tag tag:yaml.org,2002:int"),
        (GOOD.replace("steps: 3", "steps: !!python/object/apply:os.getcwd []"), "line 1", "the tag tag:yaml.org,2002:python"),
        (GOOD.replace("steps: 3", "steps: ! 3"), "line 1", "the tag !"),
        ("%YAML 1.2\n---\n" + GOOD, "line 1", "a % directive"),
        (GOOD + "---\n" + GOOD, "line", "is not YAML"),
        (GOOD + "x: [1\n", "line", "is not YAML"),
        ("a:\n\t- 1\n", "line 2", "is not YAML"),
        ("", "f.yaml", "is empty"),
        ("# nothing\n", "f.yaml", "is empty"),
        ("- 1\n- 2\n", "line 1", "found a list"),
        ("just text", "line 1", "found the text"),
        ("a: " + "[" * 30 + "]" * 30, "line 1", "nesting deeper than 20 levels"),
        ('a: "\\UFFFFFFFF"', "f.yaml", "is not YAML"),
        ("a: \x07", "f.yaml", "is not YAML"),
    ],
)
def test_refusals_name_line_and_field_and_what_to_write(text: str, place: str, words: str) -> None:
    line = refused(text)
    assert place in line
    assert words in line


def test_a_lone_surrogate_is_no_text() -> None:
    assert "only whole ones" in refused('a: "\\ud800"', Fields({"a": Text()}))
    assert r"write [...]" in refused('a: "\\ud800"', Fields({"a": Items(Text())}))
    refused('"\\ud800": 1', Fields({"a": Text()}))


def test_comments_order_quoting_and_line_ends_do_not_matter() -> None:
    lines = GOOD.splitlines()
    turned = (
        "\r\n".join(["# a comment", *lines[8:], *lines[:8], ""]).replace("alpha", '"alpha"').replace("[0, 1, 2]", "[0,   1,2]  # seeds")
    )
    assert strict_json.digest(read(turned)) == strict_json.digest(read(GOOD))
    assert list(read(turned)) == list(read(GOOD))


def test_deep_aliases_never_unfold() -> None:
    bomb = "a: &a [x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20))
    assert "the anchor &a" in refused(bomb)


def value_or_line(raw: str, schema: Schema) -> dict[str, Any] | str:
    try:
        value = {"a": one(raw, schema)}
    except AuditError as error:
        return str(error)
    strict_json.canonical(value)
    return value


@given(st.text(max_size=40))
def test_whatever_stands_there_the_answer_is_a_value_or_one_line(raw: str) -> None:
    for schema in (Whole(), Exact(), Flag(), Text(), Scalar(), Items(Text()), Maybe(Whole()), Named(Text())):
        outcome = value_or_line(raw, schema)
        assert isinstance(outcome, dict) or "\n" not in outcome


@given(st.one_of(st.text(max_size=12), st.from_regex(r"[-+0-9_.:eExXoOkM]{1,8}", fullmatch=True)))
def test_an_accepted_plain_value_is_what_yaml_reads(raw: str) -> None:
    """Agreement with PyYAML's own safe loader wherever the strict reader accepts an unquoted value."""
    if any(mark in raw for mark in "\"'|>&*!%@`#{}[]"):
        return
    try:
        value = one(raw, Scalar())
    except AuditError:
        return
    other = yaml.safe_load(f"a: {raw}")["a"]
    assert (value == other and type(value) is type(other)) or float(value) == float(other)


def test_files_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot be read"):
        load(tmp_path / "nothing.yaml", SCHEMA)
    with pytest.raises(AuditError, match="cannot be read"):
        load(tmp_path, SCHEMA)
    (tmp_path / "latin.yaml").write_bytes("name: é\n".encode("latin-1"))
    with pytest.raises(AuditError, match="is not UTF-8"):
        load(tmp_path / "latin.yaml", SCHEMA)
    (tmp_path / "good.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    document = load(tmp_path / "good.yaml", SCHEMA)
    assert document.value == read(GOOD)
    assert document.place("inner.depth").endswith("good.yaml, line 8, field inner.depth")
    assert document.place("inner.absent").endswith("good.yaml, line 6, field inner.absent")
    assert document.place("seeds[7]").endswith("good.yaml, line 5, field seeds[7]")
    assert document.place("absent").endswith("good.yaml, line 1, field absent")


def test_a_partial_schema_wants_nothing_and_knows_the_same_names() -> None:
    loose = partial(SCHEMA)
    assert isinstance(loose, Fields)
    assert read("inner: {note: b}", loose) == {"inner": {"note": "b"}}
    assert "write depth" in refused("inner: {dept: 1}", loose)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (Text(), "a text"),
        (Whole(low=1, high=3), "an integer at least 1 and at most 3"),
        (Exact(high="1", strict=True), "a decimal number below 1"),
        (Items(Flag()), "a list, each item true or false"),
        (Maybe(Whole()), "an integer, or null"),
        (Named(Text()), "a map of names"),
    ],
)
def test_schemas_in_words(schema: Schema, words: str) -> None:
    assert describe(schema) == words
