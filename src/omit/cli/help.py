"""What the help says beside options: the question a command answers, and an example that runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

PRIVACY, ACCURACY = "What privacy?", "What accuracy, at the same privacy?"
TABLES, PAPERS, HERE = "Tables of counts", "Papers and proofs", "What is here?"

PANELS: Mapping[str, str] = MappingProxyType(
    {
        "bound": PRIVACY,
        "calibrate": PRIVACY,
        "suppression": PRIVACY,
        "curve": PRIVACY,
        "partition": PRIVACY,
        "compare": ACCURACY,
        "best": ACCURACY,
        "solve": ACCURACY,
        "disclose": TABLES,
        "reproduce": PAPERS,
        "verify": PAPERS,
        "figure": PAPERS,
        "data": HERE,
        "doctor": HERE,
    }
)
"""The question under which the help lists a command."""

_AFTER: Mapping[str, str] = MappingProxyType(
    {
        "none": "--epsilon 1 --rows-per-person 3",
        "poisson": "--rate 0.1 --epsilon 1",
        "by-value": "--rates 0..40=0.9,otherwise=0.5 --epsilon 1",
        "fixed-size": "--size 100 --population 1000 --epsilon 1",
        "rule": "--keep 0 100 --bounds 0 200 --epsilon 1",
        "stable": "--sensitivity 2 --epsilon 1",
        "outlier-score": "--m 0.1 --M 0.2 --epsilon 0.25",
        "outlier-threshold": "--threshold 0.5 --epsilon 1",
        "outlier-top": "--share 0.05 --epsilon 1",
        "z-score": "--deviations 3 --epsilon 1",
        "interquartile": "--ranges 1.5 --epsilon 1",
        "form": "poisson:0.1 --epsilon 1",
    }
)

# No noise reaches a guarantee after these, which is what calibrate says.
_REFUSED = ("outlier-threshold", "outlier-top", "z-score", "interquartile")

EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "compare": "adult --column age --statistic mean --epsilon 1 --omit poisson:0.1 --no-report",
        "best": "adult --column age --statistic mode --epsilon 0.25",
        "solve": "adult --column age --statistic mean --error 0.1",
        "disclose": "adult --attributes race,sex,income --epsilon 1 --no-report",
        "reproduce": "statistical-privacy --table 2",
        "data": "adult",
        "doctor": "",
        **{f"bound {name}": words for name, words in _AFTER.items()},
        **{f"calibrate {name}": words for name, words in _AFTER.items() if name not in _REFUSED},
        "bound sample-threshold": "--rate 0.1 --threshold 10 --epsilon 1",
        "calibrate sample-threshold": "--rate 0.25 --epsilon 1 --delta 1e-6",
        "calibrate rule": "--keep 0 100 --epsilon 1",
        "bound independent": "--before 0.1 --after 0.2 --added 0.3 --epsilon 1",
        "bound subsets": "law.json --epsilon 1",
        "suppression check": "rare.py:suppress --universe young,old,rich --up-to 4 --epsilon 1",
        "verify theorem-5.4": "--step 0.1 --epsilon 1",
        "verify mixture": "--cases 10",
        "verify suppression": "",
        "verify sampling": "",
        "verify composition": "",
        "figure privacy": "--output privacy.svg",
        "figure gains": "lognormal --delta 0.00005 --epsilon 0.1 --epsilon 1 --output gains.svg",
        "curve property": "--n 1000 --p 0.3",
        "curve sum": "--n 50 --values 0:0.5,1:0.3,2:0.2",
        "curve sample": "--n 1000 --p 0.3 --sample poisson:0.1",
        "partition plan": "--n 32768 --epsilon 0.01 --queries 8",
        "partition answer": "adult --column age --query mean",
    }
)
"""Words after a command that show what it is for; they are tried by the tests."""

FIRST_WORDS = """\
What privacy remains if records are left out before a release, and what does it cost in accuracy?

  omit compare people.csv --column age --bounds 0 125 --statistic mean --omit poisson:0.1
      What does a sample cost, at the same privacy?
  omit bound poisson --rate 0.1 --epsilon 1
      What privacy does a release have, if the mechanism on a 10 % sample has epsilon 1?
  omit calibrate poisson --rate 0.1 --epsilon 1
      How private must the mechanism be, so that the release has epsilon 1?

omit --help lists all commands, omit COMMAND --help the options of one."""
"""What `omit` says by itself."""


def epilog(command: str) -> str | None:
    """Return what the help of a command ends with: an example."""
    if command not in EXAMPLES:
        return None
    return f"Example: omit {command} {EXAMPLES[command]}".rstrip()


def reference(group: Any, words: str = "omit") -> Iterator[str]:
    """Yield a section in Markdown for every command of a group, with its options."""
    for name in group.list_commands(None):
        command, full = group.commands[name], f"{words} {name}"
        if hasattr(command, "commands"):
            yield from reference(command, full)
            continue
        yield f"## {full}\n\n{command.help}\n"
        known = full.removeprefix("omit ")
        if known in EXAMPLES:
            yield f"```sh\nomit {known} {EXAMPLES[known]}".rstrip() + "\n```\n"
        for parameter in command.params:
            text = getattr(parameter, "help", None)
            if text and not getattr(parameter, "hidden", False):
                names = ", ".join([*parameter.opts, *parameter.secondary_opts])
                yield f"`{names}`\n: {text}\n"
