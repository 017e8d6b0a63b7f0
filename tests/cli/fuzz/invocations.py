"""Random invocations, made from the options that the commands themselves declare.

A command or an option that is added is tried without a word here: its type says which values are
good and which are odd. `GOOD` has better values for options that need more than a type.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from omit.cli.main import app

LONG = "9" * 5000
STATISTICS = (
    "mean", "mode", "median", "quantile:0.9", "kmeans", "kmedian", "all", "count", "sum",
    "variance", "proportion:40", "proportion:Male",
)  # fmt: skip
MECHANISMS = (
    "laplace", "laplace", "laplace", "laplace", "gaussian", "gaussian", "gumbel", "all",
    "exponential", "smooth-student", "permute-and-flip", "exponential-published",
    "laplace-published", "laplace-sum-and-count",
)  # fmt: skip
GOOD: dict[str, tuple[str, ...]] = {
    "--epsilon": ("0", "0.1", "0.5", "1", "2.5", "10", "100"),
    "--delta": ("0", "1e-9", "1e-6", "0.01", "0.3"),
    "--neighbours": ("add-remove", "replace"),
    "--rate": ("0.01", "0.1", "0.5", "0.99", "1"),
    "--size": ("1", "10", "50", "100"),
    "--population": ("100", "1000", "1000000"),
    "--m": ("0", "0.1", "0.3", "0.5"),
    "--M": ("0.5", "0.6", "0.9", "1"),
    "--bound": ("mixture", "published"),
    "--before": ("0.1", "0.1,0.2", "0.5,0.5,0.5"),
    "--after": ("0.2", "0.2,0.3", "0.4,0.4,0.4"),
    "--added": ("0", "0.3", "1"),
    "--column": ("age", "age", "age", "income"),
    "--columns": ("age", "age", "age,income"),
    "--bounds": ("0,125", "0,125", "0,125", "from-data", "30,30"),
    "--categories": ("Female,Male", "A,B,C", "A"),
    "--statistic": STATISTICS,
    "--mechanism": MECHANISMS,
    "--metric": ("mse", "relative"),
    "--omit": (
        "none",
        "poisson:0.5",
        "outlier-score:0.1,0.3",
        "rule:0,50",
        "fixed-size:20",
        "poisson:0.5+outlier-score:0.1,0.3",
    ),
    "--truth": ("40", "40.5"),
    "--method": ("auto", "exact", "simulated"),
    "--runs": ("1", "2", "10", "50", "paper"),
    "--cases": ("1", "2"),
    "--step": ("0.5", "0.25", "1"),
    "--bins": ("0", "1", "7", "1000"),
    "--k": ("1", "2", "3"),
    "--candidates": ("2", "5"),
    "--iterations": ("1", "2", "5"),
    "--sampled-from": ("60", "1000", "48842", "1000000"),
    "--budget": ("su", "published", "composed"),
    "--start": ("spread", "uniform"),
    "--error": ("0.1", "1", "5", "50"),
    "--keep": ("0", "10", "100"),
    "--threshold": ("0.5", "2", "6"),
    "--share": ("0.1", "0.5"),
    "--sensitivity": ("1", "2"),
    "--attributes": ("sex,town", "sex"),
    "--derive": ("old = age >= 40", "age5 = bins(age, 0, 100, 5)"),
    "--domain": ("sex=Female,Male", "town=A,B,C"),
    "--missing": ("drop", "category"),
    "--missing-as": ("sex=Female", "town=A"),
    "--quasi-identifiers": ("sex", "sex,town"),
    "--donor": ("another-record", "other-quasi-identifiers"),
    "--empty-cells": ("kept", "suppressed"),
    "--group": ("sex", "town", "20:0.3"),
    "--margin": ("sex", "sex,town"),
    "--predict": ("sex",),
    "--two-way": ("sex,town",),
    "--within": ("sex=Male", "town=A"),
    "--n": ("2", "10", "100", "1000"),
    "--p": ("0.3", "0.5"),
    "--known": ("0", "1", "5"),
    "--noise": ("laplace:1", "gaussian:2", "discrete-gaussian:2"),
    "--values": ("0:0.5,1:0.5", "0:0.5,1:0.3,2:0.2"),
    "--sample": ("poisson:0.5", "without-replacement:5", "with-replacement:5"),
    "--query": ("mean", "share:>=40"),
    "--queries": ("1", "2", "5"),
    "--importance": ("1", "4,1,1"),
    "--figure": ("2", "8"),
    "--cluster": ("local:1", "tcp://127.0.0.1:1", "tls://127.0.0.1:1"),
    "--table": ("people",),
    "--fail-unless": ("epsilon<=1", "epsilon <= 1", "delta<=0.01", "error<=5", "ratio<1"),
}
ODD_NUMBERS = (
    "-1", "0", "-0.0", "nan", "inf", "-inf", "1e-310", "5e-324", "1e-5", "0.999999999999",
    "1e14", "1e16", "1e100", "1e308", "-1e308", "1e400", "1e-400", LONG, f"0.{LONG}", "0x10",
    "1_000", "1,5", "1e", "", " ", "\u0661", "one", "-", "1 2", "True", "800", "710",
)  # fmt: skip
ODD_INTEGERS = (
    "-1", "0", "1000000000", "1000000000000000000", str(2**63), str(2**64), "1" + "0" * 30, LONG,
    "1.5", "1e3", "nan", "inf", "", " ", "\u0661", "1_000", "one", "-0", "1000",
)  # fmt: skip
ODD_TEXTS = (
    "", " ", "-", "--", "$a$ and $b$", "beta", "kmedian-synthetic", "irish",
    "0,125,0,50000", "$\\frac{$", "[bold]x[/bold]", "[/]", "{0} %s %d", "a\nb",
    "x" * 300, "x" * 5000, "../../..", "\udcff", "ü日本🙂", "'; drop table people; --", '"', ",",
    ",,,", ":", "=", "a=b=c", "poisson:1e-310", "poisson:nan", "poisson:", "rule:5", "rule:1,0",
    "fixed-size:0", "fixed-size:1000000000", "fixed-size:2.5", "outlier-score:1,0", "stable:2",
    "quantile:", "quantile:nan", "quantile:1", "mean,mode", "0:1", "0:nan,1:0.5", "1e308", "nan",
    "0:0.5,1e308:0.5", "share:>=nan", "laplace:0", "laplace:1e308", "gaussian:nan", "md:x.duckdb",
    "with-replacement:1000000000", "with-replacement:0", "poisson:0", "tls://127.0.0.1:1", LONG,
    "old = age >= nan", "x = bins(age, 0, 1, 1000000000)", "x = bins(age, 1, 0, 0)", "age", "(",
    "1" + "0" * 30, "-5", "0,1e308", "1e308,-1e308", "nan,1", "inf,inf", "local:0", "local:x",
    "epsilon<=", "epsilon<=nan", "epsilon<inf", "epsilon=1", "<=1", "epsilon<=1<=2",
)  # fmt: skip
ODD_PATHS = (
    "", ".", "..", "x" * 300, "x" * 300 + ".svg", "a/b/c.svg", "x.svg/y.svg", "/proc/x.svg",
    "x.jpg", "x", ".svg", "\udcff.svg", "$a$ $b$.svg", "a\nb.svg", "-.svg", "~/x.svg", " .svg",
)  # fmt: skip
# What makes an answer likely, and what makes it quick.
OFTEN = frozenset(
    [
        "source",
        "column",
        "columns",
        "bounds",
        "domain",
        "no_report",
        "no_figure",
        "n",
        "p",
        "values",
    ]
)
# What seldom goes with the rest.
RARELY = frozenset({"table", "categories", "truth", "distribution"})
# Minutes and more by design: they may be stopped after some seconds, and have to say so.
SLOW = {"reproduce": 1.5, "verify": 1.5, "best": 15.0, "solve": 15.0}


@dataclass(frozen=True)
class Invocation:
    """What is typed, and where."""

    arguments: tuple[str, ...]
    columns: int | None = None
    encoding: str = "utf-8"
    full_device: bool = False

    @property
    def slow(self) -> bool:
        """Whether it may take longer than anybody waits in a test."""
        return bool(self.arguments) and self.arguments[0] in SLOW


@dataclass(frozen=True)
class Files:
    """What data and results may be read from and written to."""

    good: tuple[Path, ...]
    bad: tuple[Path, ...]

    @property
    def unwritable(self) -> tuple[Path, ...]:
        """Where nothing can be written, so that no file is lost by trying."""
        return tuple(path for path in self.bad if path.is_symlink() or path.is_dir())


def commands() -> dict[tuple[str, ...], Any]:
    """Return every command of the command line by the words that call it."""
    return dict(_walk(typer.main.get_command(app), ()))


def _walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, below in command.commands.items():
        yield from _walk(below, (*words, name))


def invocations(files: Files, seed: int, count: int) -> Iterator[Invocation]:
    """Yield random invocations; the same for the same seed."""
    known = commands()
    rooms: dict[str, list[tuple[str, ...]]] = {}
    for words in known:
        rooms.setdefault(words[0], []).append(words)
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        [room] = draw.choices(sorted(rooms), [1 if name in SLOW else 3 for name in sorted(rooms)])
        words = draw.choice(rooms[room])
        arguments = _arguments(draw, words, known[words], files)
        yield Invocation(
            tuple(arguments),
            columns=draw.choice((None, None, None, 20, 40, 200)),
            encoding=draw.choice(("utf-8", "utf-8", "utf-8", "ascii", "latin-1", "cp1252")),
            full_device=draw.random() < 0.02,
        )


def _arguments(draw: random.Random, words: Sequence[str], command: Any, files: Files) -> list[str]:
    arguments = list(words)
    # Half of all invocations are odd in one option or none, so that answers are common.
    odd = draw.choice((0.0, 0.03, 0.08, 0.25))
    given = draw.choice((0.05, 0.2, 0.4))
    for parameter in command.params:
        if parameter.name in ("help", "version"):
            continue
        wanted = 0.97 if parameter.required else given
        if parameter.name in OFTEN:
            wanted = max(wanted, 0.9)
        if parameter.name in RARELY:
            wanted = 0.03
        if draw.random() > wanted:
            continue
        given_before: list[list[str]] = []
        often = 6 if parameter.name == "domain" else 3
        for _ in range(draw.randint(1, often) if parameter.multiple else 1):
            words_given = _given(draw, parameter, files, odd)
            if words_given not in given_before or draw.random() < 0.1:
                given_before.append(words_given)
        arguments += [word for words_before in given_before for word in words_before]
    if draw.random() < 0.02:
        arguments.insert(draw.randint(0, len(arguments)), draw.choice(ODD_TEXTS))
    if draw.random() < 0.01:
        del arguments[draw.randrange(len(arguments))]
    return arguments


def _given(draw: random.Random, parameter: Any, files: Files, odd: float) -> list[str]:
    """Return the words of one option or argument."""
    names = [*parameter.opts, *parameter.secondary_opts]
    kind = _kind(parameter)
    if kind is bool or getattr(parameter, "count", False):
        return [draw.choice(names)]
    values = [
        _value(draw, parameter, kind, files, draw.random() < odd)
        for _ in range(max(parameter.nargs, 1))
    ]
    if not names[0].startswith("-"):
        return values
    if parameter.name == "bounds" and draw.random() < 0.5:
        values = values[0].split(",")
    return [draw.choice(names), *values]


def _kind(parameter: Any) -> type:
    """Return the type that a value of a parameter has."""
    if not hasattr(parameter, "type_descriptor"):  # typer before it had a click of its own
        kinds = {"float": float, "integer": int, "path": Path, "boolean": bool}
        return kinds.get(parameter.type.name, str)
    kind = parameter.type_descriptor.annotation
    while get_origin(kind) is not None:
        kind = next(part for part in get_args(kind) if part is not type(None))
    assert isinstance(kind, type)
    return kind


def _value(draw: random.Random, parameter: Any, kind: type, files: Files, odd: bool) -> str:
    name = parameter.opts[0]
    if kind is Path or name == "source":
        return _path(draw, name, files, odd)
    if odd:
        odd_values = {float: ODD_NUMBERS, int: ODD_INTEGERS}.get(kind, ODD_TEXTS)
        return draw.choice(odd_values)
    if name in GOOD:
        return draw.choice(GOOD[name])
    if kind is float:
        return draw.choice(("0", "0.1", "0.5", "1", "3"))
    if kind is int:
        return draw.choice(("0", "1", "2", "5"))
    return draw.choice(("x", "1", "0.5", "a,b"))


def _path(draw: random.Random, name: str, files: Files, odd: bool) -> str:
    """Return a file to read, or one to write."""
    if name.startswith("--") and name != "--distribution":
        if odd:
            return draw.choice((*ODD_PATHS, *map(str, files.unwritable)))
        return f"out{draw.choice(('.svg', '.png', '.pdf', '.html', ''))}"
    if odd:
        return draw.choice((*ODD_TEXTS, *map(str, files.bad * 2)))
    if name == "source":
        tables = [str(path) for path in files.good if path.suffix != ".json"]
        return draw.choice((*tables, "adult", "adult"))
    return str(draw.choice(files.good))
