"""The speech-act classifier on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from beliefbase.beliefs.speech_acts import classify
from beliefbase.cli.app import Settings, command
from beliefbase.lines import BadLine, unmarked


@command("classify")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
def classify_command(settings: Settings, files: tuple[str, ...]) -> None:
    """Name the speech act of each line of standard input or FILES.

    A line is a sentence, or a JSON object with "text" and perhaps "prev", the utterance before. Prints the speech act,
    the confidence per mille and the cue that decided, tab-separated; with --json an object a line, with what else the
    line held and without its text.
    """
    bad = 0
    for number, raw in enumerate(_lines(files), 1):
        try:
            text, prev, passed = _read(number, raw)
        except BadLine as error:
            bad += 1
            settings.out.error(error)
            continue
        found = classify(text, prev)
        settings.out.line(
            {**passed, **found._asdict()},
            plain=f"{found.speech_act}\t{found.confidence}\t{' '.join(found.cue.split())}",
        )
    if bad:
        click.echo(f"{bad} bad line(s) were left out.", err=True)
        sys.exit(BadLine.exit_code)


def _lines(files: tuple[str, ...]) -> Iterator[bytes]:
    for name in files or ("-",):
        if name == "-":
            yield from unmarked(sys.stdin.buffer)
        else:
            with open(name, "rb") as stream:  # noqa: PTH123  a path as click gives it
                yield from unmarked(stream)


def _read(number: int, raw: bytes) -> tuple[str, str | None, dict[str, Any]]:
    """Text, the utterance before, and the other fields of a line."""
    try:
        line = raw.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise _bad(number, f"not UTF-8 ({error.reason} at byte {error.start})") from None
    if not line.startswith("{"):
        return line, None, {}
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(number, f"begins like a JSON object and isn't one: {error}") from None
    text, prev = value.pop("text", None), value.pop("prev", None)
    if not isinstance(text, str):
        raise _bad(number, '"text" is missing or no text')
    if prev is not None and not isinstance(prev, str):
        raise _bad(number, '"prev" is no text')
    return text, prev, value


def _bad(number: int, reason: str) -> BadLine:
    return BadLine(
        f"line {number}: {reason}",
        hint='a line is a sentence, or {"text": …, "prev": …} and whatever else is to be passed through',
        line=number,
        reason=reason,
    )
