"""One meaning, one canonical text; nothing that is not JSON is read or written."""

import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError, strict_json

letters = st.characters(codec="utf-8")
texts = st.text(letters, max_size=6)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0.4", "0.4"),
        ("0.40", "0.4"),
        ("4E-1", "0.4"),
        ("1E+3", "1000"),
        ("1000", "1000"),
        ("100.0", "100"),
        ("-0", "0"),
        ("-0.000", "0"),
        ("0E-12", "0"),
        ("0E+5", "0"),
        ("-1.50", "-1.5"),
        ("1E-12", "0.000000000001"),
        ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
    ],
)
def test_decimals_in_plain_notation(number: str, text: str) -> None:
    assert strict_json.plain_decimal(Decimal(number)) == text
    assert strict_json.canonical({"a": Decimal(number)}) == f'{{"a":"{text}"}}'


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12))
def test_plain_decimals_keep_their_value(number: Decimal) -> None:
    text = strict_json.plain_decimal(number)
    assert Decimal(text) == number
    assert "E" not in text.upper()
    assert text != "-0"


def test_the_canonical_form_by_hand() -> None:
    value = {"b": [1, True, None, "ü\n"], "a": {"y": Decimal("1.0"), "x": ()}}
    assert strict_json.canonical(value) == '{"a":{"x":[],"y":"1"},"b":[1,true,null,"ü\\n"]}'
    expected = hashlib.sha256('{"a":{"x":[],"y":"1"},"b":[1,true,null,"ü\\n"]}'.encode()).hexdigest()
    assert strict_json.digest(value) == f"sha256:{expected}"


def test_keys_are_ordered_by_utf16_code_units() -> None:
    """RFC 8785, section 3.2.3: its own example; U+1F600 (two surrogates) comes before U+FB33."""
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(strict_json.canonical(dict.fromkeys(keys, 0)))) == expected


@given(plain)
def test_the_canonical_form_is_json_of_the_same_value(value: Any) -> None:
    text = strict_json.canonical(value)
    assert json.loads(text) == value
    assert strict_json.canonical(json.loads(text)) == text


@given(st.dictionaries(texts, plain, max_size=4))
def test_order_does_not_matter(value: dict[str, Any]) -> None:
    assert strict_json.digest(dict(reversed(value.items()))) == strict_json.digest(value)


@given(plain, plain)
def test_different_values_have_different_forms(one: Any, two: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    assert (strict_json.canonical(one) == strict_json.canonical(two)) == same


@pytest.mark.parametrize(
    "value", [0.5, 1.0, float("nan"), {"a": [1.5]}, {1: 2}, {None: 1}, b"bytes", {1, 2}, object(), "\ud800", {"\udfff": 1}]
)
def test_what_has_no_canonical_form(value: Any) -> None:
    with pytest.raises((ValueError, AttributeError)):
        strict_json.canonical(value)


@given(st.dictionaries(texts, st.lists(finite | st.integers() | texts | st.none(), max_size=3), max_size=3))
def test_files_come_back_exactly(value: dict[str, Any]) -> None:
    text = strict_json.dumps(value)
    again = strict_json.loads(text, where="x")
    assert again == value
    assert strict_json.dumps(again) == text
    assert text.endswith("\n")


def test_the_text_form() -> None:
    assert strict_json.dumps({"b": 0.1, "a": [1, "ü"]}) == '{\n  "b": 0.1,\n  "a": [\n    1,\n    "ü"\n  ]\n}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_no_file_holds_a_number_that_is_not_finite(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.dumps({"a": [number]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": NaN}', "holds the token NaN"),
        ('{"a": [Infinity]}', "holds the token Infinity"),
        ('{"a": -Infinity}', "holds the token -Infinity"),
        ('{"a": 1e999}', "not finite, 1e999"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "holds the key 'c' twice"),
        ('{"a": 1', "is not JSON"),
        ("", "is not JSON"),
        ("{'a': 1}", "is not JSON"),
        ('{"a": 1} x', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_not_strict_json_is_one_line(text: str, words: str) -> None:
    with pytest.raises(AuditError) as caught:
        strict_json.loads(text, where="file.json")
    assert str(caught.value).startswith("file.json: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cut_file_is_never_read(tmp_path: Path) -> None:
    whole = strict_json.dumps({"a": [1.5, {"b": "ü"}]}).encode()
    path = tmp_path / "cut.json"
    for length in range(len(whole) - 1):  # without its last line break the text is still whole
        path.write_bytes(whole[:length])
        with pytest.raises(AuditError, match=r"cut\.json"):
            strict_json.load(path)
    path.write_bytes(whole)
    assert strict_json.load(path) == {"a": [1.5, {"b": "ü"}]}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot be read"):
        strict_json.load(tmp_path / "nothing.json")
    (tmp_path / "latin.json").write_bytes('{"a": "é"}'.encode("latin-1"))
    with pytest.raises(AuditError, match="is not UTF-8"):
        strict_json.load(tmp_path / "latin.json")
