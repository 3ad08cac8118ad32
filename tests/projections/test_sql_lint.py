"""The SQL of the product has one answer: no construct in it depends on threads, on insertion order or on a setting.

Each rule names a construct whose result was seen to change with the number of threads, the order of insertion or the
version of DuckDB, and what to write in its place.
"""

import ast
import re
from pathlib import Path

import pytest

from beliefbase.projections import registry

ROOT = Path(__file__).parents[2]
RULES = {
    "sum, avg or stddev of floats": r"\b(?:avg|mean|stddev\w*|var_\w+|fsum|kahan_sum|favg|corr|covar\w*)\s*\(",
    "list or string_agg without ORDER BY": (
        r"\b(?:list|array_agg|string_agg|group_concat|listagg)"
        r"\s*\((?![^()]*(?:\([^()]*\)[^()]*)*\bORDER\s+BY\b)"
    ),
    "first, last or any_value": r"\b(?:first|last|any_value|arbitrary)\s*\(",
    "approximations": r"\bapprox_\w+\s*\(|\breservoir_quantile\s*\(",
    "mode without a rule for ties": r"\bmode\s*\(",
    "product over a window": r"\bproduct\s*\(",
    "LIMIT without ORDER BY": r"\bLIMIT\b",
    "hash() as a fingerprint": r"(?<![\w.])hash\s*\(",
    "times with a zone": r"\bTIMESTAMPTZ\b|\bTIMESTAMP\s+WITH\s+TIME\s+ZONE\b|\bAT\s+TIME\s+ZONE\b",
    "clock or chance": (
        r"\b(?:now|today|get_current_time\w*|random|setseed|uuid|gen_random_uuid|nextval)\s*\("
        r"|\bcurrent_(?:timestamp|date|time)\b"
    ),
    "sampling": r"\b(?:USING\s+SAMPLE|TABLESAMPLE)\b",
    "floats": r"\b(?:DOUBLE|FLOAT|REAL)\b",
    "arrow lambdas, refused by DuckDB 2": r"\b\w+\s*->\s*\w",
    "ranking by nothing": r"\b(?:row_number|rank|dense_rank)\s*\(\s*\)\s*OVER\s*\((?![^)]*ORDER\s+BY)",
    "arg_min or arg_max by one column": r"\barg_(?:min|max)\w*\s*\([^(),]*,[^(),]*\)",
}
ALLOWED = {
    ("as_of_hlc", "times with a zone"): "texts that carry their offset mean the same in every zone",
    ("cumulative_incidence", "product over a window"): "rounded, and no part of a digest",
    ("invalidation_curve", "product over a window"): "rounded, and no part of a digest",
    ("cumulative_incidence", "floats"): "computed from integer counts, and no part of a digest",
    ("invalidation_curve", "floats"): "computed from integer counts, and no part of a digest",
    ("projections/export.py", "LIMIT without ORDER BY"): "the caller's cap on the caller's own query",
}
"""Script and rule to the reason why it is no danger there."""


def without_comments(sql):
    return re.sub(r"--[^\n]*|'(?:[^']|'')*'", " ", sql)


def statements_in_python():
    """SQL in the modules of projections and replay: string constants that start with a verb of SQL."""
    for folder in ("projections", "replay"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(node, ast.JoinedStr):
                    text = " x ".join(part.value for part in node.values if isinstance(part, ast.Constant))
                if isinstance(text, str) and re.match(r"\s*(?:SELECT|INSERT|WITH|CREATE|UPDATE|DELETE|FROM)\s", text):
                    yield f"{folder}/{path.name}", text


def findings(name, sql):
    bare = without_comments(sql)
    for rule, pattern in RULES.items():
        if rule == "LIMIT without ORDER BY":
            found = re.search(r"\bLIMIT\s+(?!0)", bare) and not re.search(
                r"\bORDER\s+BY\b[\s\S]*\bLIMIT\b|^\s*SELECT 1 FROM\b", bare
            )
        else:
            found = re.search(pattern, bare, re.IGNORECASE)
        if found and (name, rule) not in ALLOWED:
            yield name, rule, found.group(0) if hasattr(found, "group") else ""


@pytest.mark.parametrize("script", registry.scripts(), ids=lambda script: script.name)
def test_views_and_macros_have_one_answer(script):
    assert list(findings(script.name, script.sql)) == []


def test_statements_in_the_code_have_one_answer():
    assert [found for name, sql in statements_in_python() for found in findings(name, sql)] == []


def test_the_code_has_statements_to_look_at():
    assert len(list(statements_in_python())) > 10


@pytest.mark.parametrize(
    "rule, sql",
    [
        ("sum, avg or stddev of floats", "SELECT avg(x) FROM t"),
        ("list or string_agg without ORDER BY", "SELECT string_agg(x, ',') FROM t"),
        ("list or string_agg without ORDER BY", "SELECT list(coalesce(x, 1)) FROM t"),
        ("first, last or any_value", "SELECT any_value(x) FROM t"),
        ("approximations", "SELECT approx_quantile(x, 0.5) FROM t"),
        ("mode without a rule for ties", "SELECT mode(x) FROM t"),
        ("product over a window", "SELECT product(x) OVER (ORDER BY y) FROM t"),
        ("LIMIT without ORDER BY", "SELECT DISTINCT x FROM t LIMIT 3"),
        ("hash() as a fingerprint", "SELECT hash(x) FROM t"),
        ("times with a zone", "SELECT CAST(x AS TIMESTAMPTZ) FROM t"),
        ("clock or chance", "SELECT now() FROM t"),
        ("sampling", "SELECT x FROM t USING SAMPLE 10"),
        ("floats", "SELECT CAST(x AS DOUBLE) FROM t"),
        ("arrow lambdas, refused by DuckDB 2", "SELECT list_transform(x, y -> y + 1) FROM t"),
        ("ranking by nothing", "SELECT row_number() OVER (PARTITION BY x) FROM t"),
        ("arg_min or arg_max by one column", "SELECT arg_max(x, y) FROM t"),
    ],
)
def test_each_rule_finds_what_it_is_for(rule, sql):
    assert [found[1] for found in findings("planted", sql)] == [rule]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT list(x ORDER BY y, z) FROM t",
        "SELECT string_agg(coalesce(x, ''), ',' ORDER BY id) FROM t",
        "SELECT x FROM t ORDER BY x LIMIT 3",
        "SELECT first_value(x) OVER (PARTITION BY a ORDER BY b, c) FROM t",
        "SELECT arg_max(x, (hlc, writer, seq)) FROM t",
        "SELECT 'now() is only text' FROM t",
        "SELECT agent_hash FROM t -- hash() in a comment",
    ],
)
def test_what_has_one_answer_is_let_through(sql):
    assert list(findings("planted", sql)) == []
