import re
import textwrap
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import typer
from docutils.nodes import Text, literal_block
from sphinx.util import logging

import omit
from omit.accuracy.expected import Question
from omit.accuracy.figures import gain_figure, rate_figure
from omit.accuracy.grids import GAIN_EPSILONS, GAIN_RATES, CurvesQuestion, error_grid, sampled_at
from omit.cli.help import reference
from omit.cli.main import app as cli
from omit.papers.omitting_records.privacy_figures import privacy_figure

logger = logging.getLogger(__name__)

COLUMNS = 100

project = "omit"
author = copyright = "The omit developers"
release = version = omit.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    # MathJax from this site instead of from a content network, so that formulas show offline.
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build"]

nb_execution_mode = "cache"  # of what has not changed since the last time
nb_execution_cache_path = str(Path(__file__).with_name("_build") / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
default_role = "code"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]

toc_object_entries = False  # hundreds of names in the margin help nobody, and take seconds

man_pages = [("commands", "omit", "privacy and accuracy when records are left out", author, 1)]

html_theme = "furo"
html_title = "omit"
html_copy_source = False
html_use_index = html_domain_indices = False  # there is a search
html_static_path = ["_static"]
html_css_files = ["omit.css"]


def _strip_code_blocks(app, doctree):
    """Drop the blank line that a doctest needs before the end of its block."""
    for block in doctree.findall(literal_block):
        block.rawsource = block.astext().rstrip("\n")
        if block.get("language") == "console":
            block.rawsource = "\n".join(_folded(line) for line in block.rawsource.split("\n"))
        block[:] = [Text(block.rawsource)]


def _folded(line):
    """Return a command or a sentence of a console in lines that a page has room for."""
    command = line.startswith("$ ")
    if len(line) <= COLUMNS or ("  " in line.strip() and not command):
        return line
    end, margin = (" \\", "    ") if command else ("", "")
    words = textwrap.wrap(
        line, COLUMNS - 2, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )
    return f"{end}\n".join(words)


def _name_parts(app, page, template, context, doctree):
    """Give captions their level, and let the keyboard scroll what is wider than the page."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    if "body" in context:
        body = context["body"].replace("<pre>", '<pre tabindex="0">')
        context["body"] = body.replace('<div class="output ', '<div tabindex="0" class="output ')


def _list_commands(app):
    """Write the page of all commands, which is the man page, too."""
    sections = reference(typer.main.get_command(cli))
    page = Path(app.srcdir) / "commands.md"
    text = "\n".join(["# All commands and options", "", *sections])
    if not page.is_file() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def _draw_figures(app):
    """Draw the pictures that the pages show."""
    folder = Path(app.srcdir) / "_figures"
    folder.mkdir(exist_ok=True)
    privacy_figure().savefig(folder / "privacy.svg")
    target = omit.Guarantee(1.0, 5e-5, "replace")
    question = Question(omit.read("lognormal"), omit.mechanisms.SmoothQuantile(), target, runs=100)
    median = error_grid(question, sampled_at(question.data, GAIN_RATES), GAIN_EPSILONS)
    gain_figure(median).savefig(folder / "gains-lognormal.svg")
    ages, target = omit.read("adult", "age"), omit.Guarantee(1.0)
    rates = (0.01, 0.02, 0.05, *(step / 20 for step in range(2, 20)))
    for mechanism in (omit.NoisyMean(), omit.NoisyMode()):
        question = Question(ages, mechanism, target)
        curves = CurvesQuestion(question, rates=rates, probabilities=()).answer()
        rate_figure(curves).savefig(folder / f"rates-{mechanism.statistic}.svg")


def _follow_links(app, exception):
    """Warn of every link in the site that leads nowhere: to no file, or to no place in it."""
    if exception or app.builder.name != "html":
        return
    folder = Path(app.outdir).resolve()
    pages = {page: page.read_text(encoding="utf-8") for page in folder.rglob("*.html")}
    places = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in pages.items():
        for link in sorted(set(re.findall(r'\b(?:href|src)="([^"]+)"', text))):
            address = urlsplit(unescape(link))
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            place = unquote(address.fragment)
            if not target.is_file() or (place and place not in places.get(target, {place})):
                logger.warning("%s: broken link %s", page.name, link)


def setup(app):
    """Connect the functions above."""
    app.connect("builder-inited", _list_commands)
    app.connect("builder-inited", _draw_figures)
    app.connect("doctree-read", _strip_code_blocks)
    app.connect("html-page-context", _name_parts, priority=900)
    app.connect("build-finished", _follow_links)
