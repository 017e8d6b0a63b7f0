"""Writing files whole or not at all, also where several runs write at the same time.

What is not finished is in a folder `.unfinished-...` of the run that writes it, next to where it
goes. The run holds a lock on that folder, which the operating system takes back however the run
ends. So a folder without a holder is what a killed run left, and the next run removes it.
"""

from __future__ import annotations

import fcntl
import io
import math
import os
import re
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from omit.errors import InvalidInput

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


_PREFIX = ".unfinished-"
# The permissions of files and folders with confidential numbers.
OWNER_ONLY, OWNERS_FOLDER = 0o600, 0o700


@contextmanager
def unfinished_in(folder: Path) -> Iterator[Path]:
    """Give a folder for files that are put in place by renaming them, and remove it afterwards.

    `OSError` is raised if nothing can be written to `folder`.
    """
    _remove_abandoned(folder)
    made, handle = _locked_folder(folder)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(handle)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    """Make a folder and lock it, again if somebody takes it for abandoned in between."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            handle = os.open(made, os.O_RDONLY | os.O_CLOEXEC)
            with suppress(OSError):  # a file system without locks has nothing cleaned up
                fcntl.flock(handle, fcntl.LOCK_EX)
            if made.exists():
                return made, handle
            os.close(handle)


def _remove_abandoned(parent: Path) -> None:
    for left in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            handle = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other run is putting files in place in a folder, and keep others waiting."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_whole(output: Path, write: Callable[[Path], object], private: bool = False) -> None:
    """Let `write` fill a file, and put it in place as `output` when it is finished.

    A link is followed. What is no file, such as a pipe, is written to and not replaced. A private
    file can be read by its owner only. `InvalidInput` is raised if the file cannot be written, or
    if there is no such folder; what was there before stays.
    """
    require_writable(output)
    try:
        target = output.resolve()
        if target.exists() and not target.is_file():
            with tempfile.TemporaryDirectory() as name:
                file = Path(name) / f"output{output.suffix}"
                write(file)
                with target.open("wb") as stream:
                    stream.write(file.read_bytes())
            return
        with unfinished_in(target.parent) as folder:
            file = folder / f"output{output.suffix}"
            write(file)
            if private:
                file.chmod(OWNER_ONLY)
            file.replace(target)
    except (OSError, RuntimeError) as error:  # the latter for a link that leads to itself
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"Cannot write {output}: {reason}.") from error


def save_figure(figure: Figure, file: Path | IO[str], **settings: Any) -> None:
    """Write a figure so that the same picture is the same file, byte for byte, in every run."""
    import matplotlib

    dates = {"svg": "Date", "pdf": "CreationDate"}
    kind = settings.get("format", Path(str(file)).suffix.lower().removeprefix("."))
    metadata = {dates[kind]: None} if kind in dates else None
    text: dict[Any, Any] = {"svg.hashsalt": "omit", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(text), warnings.catch_warnings():
        # Names may have letters that the font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(file, metadata=metadata, **settings)


def write_text(path: Path | str, text: str, private: bool = False) -> Path:
    """Write a text whole or not at all, and return where it is."""
    output = Path(path)
    write_whole(output, lambda file: file.write_text(text, encoding="utf-8"), private)
    return output


def svg(figure: Figure, title: str, description: str) -> Markup:
    """Return a figure as SVG to put into a page, with a text alternative for who cannot see it.

    Its text stays text, and its names are its own: a page may have several figures.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> "Errors</title><desc" in svg(Figure(), "Errors", "One point")
    True
    """
    from markupsafe import Markup, escape

    buffer = io.StringIO()
    save_figure(figure, buffer, format="svg")
    text = buffer.getvalue()
    for pattern, shorter in _SHORTER:
        text = re.sub(pattern, shorter, text[text.index("<svg") :])
    text = _PLACES.sub(lambda places: re.sub(r"(\.\d\d)\d+(?!\d*e)", r"\1", places[0]), text)
    name = f"f{zlib.crc32(f'{title}{text}'.encode()) % 16**5:05x}"
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text)
    named: set[str] = set()  # equal images have equal names
    text = re.sub(r'\sid="[^"]*"', lambda at: _once(at[0], named), text)
    head = (
        f'<svg role="img" aria-labelledby="{name}-title {name}-text"><title id="{name}-title">'
        f'{escape(title)}</title><desc id="{name}-text">{escape(description)}</desc>'
    )
    return Markup(
        re.sub(r"<svg([^>]*)>", lambda found: head[:4] + found[1] + head[4:], text, count=1)
    )


def _once(text: str, seen: set[str]) -> str:
    """Return a text the first time, and nothing after."""
    if text in seen:
        return ""
    seen.add(text)
    return text


_PLACES = re.compile(r'\s(d|x|y|width|height|transform|points)="[^"]*"')
# What a page need not hold twice, or at all: comments, fonts, empty lines.
_SHORTER = (
    (r"(?s)<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>|<defs>\s*</defs>", ""),
    (r"'DejaVu Sans',[^;\"]*sans-serif", "'DejaVu Sans', Verdana, sans-serif"),
    (r"\s*\n\s*", "\n"),
)


FORMATS = (".svg", ".png", ".pdf")


def require_writable(output: Path) -> None:
    """Refuse a path where nothing can be written, before anything is computed.

    That is a folder, or what is below a file, or in a folder that there is not, or a name that
    cannot be.
    """
    try:
        if output.is_dir():
            raise InvalidInput(f"Cannot write {output}: it is a folder; name a file in it.")
        target = output.resolve()
        if target.exists() and not target.is_file():
            return  # such as a pipe, in whatever folder
    except (OSError, RuntimeError) as error:  # the latter for a link that leads to itself
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"Cannot write {output}: {reason}.") from error
    require_folder(target.parent, f"Cannot write {output}", made=False)


def require_folder(folder: Path, refusal: str, made: bool = True) -> None:
    """Refuse a folder that cannot be written to; one that is missing can be made if it will be.

    `refusal` begins the sentence.
    """
    try:
        existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        usable = existing.is_dir() and os.access(existing, os.W_OK)
        missing = existing != folder and not made
    except OSError as error:
        raise InvalidInput(f"{refusal}: {error.strerror}.") from error
    if not usable:
        raise InvalidInput(f"{refusal}: {existing} is not a folder to write to.")
    if missing:
        raise InvalidInput(f"{refusal}: there is no folder {folder}; make it first.")


PAGES = (".html", ".htm")


def require_page(output: Path) -> None:
    """Refuse a path whose ending names something else than HTML, or where nothing can be written.

    What has no ending is taken.
    """
    if output.suffix and output.suffix.lower() not in PAGES:
        raise InvalidInput(
            f"Expected the name of a report to end in {PAGES[0]}, got {str(output)!r}: it is a "
            "page of HTML, which a browser can print to PDF."
        )
    require_writable(output)


def require_figure(output: Path, width: float | None = None) -> None:
    """Refuse a path that a figure cannot be written to, and a width in inches that none can have.

    The ending of the path has to name a format of figures.
    """
    if width is not None and not _NARROWEST <= width <= _WIDEST:
        raise InvalidInput(
            f"Expected width={width:g} of {_NARROWEST:g} to {_WIDEST:g} inches, such as 3.3 for a "
            "column or 6.9 for a page."
        )
    if output.suffix.lower() not in FORMATS:
        raise InvalidInput(f"Expected output={str(output)!r} to end in {', '.join(FORMATS)}.")
    require_writable(output)


def write_figure(
    output: Path, figure: Figure, private: bool = False, width: float | None = None
) -> None:
    """Write a figure in the format that the ending names, and say so.

    `width` is in inches; what is written in the figure shrinks with it, but stays readable.
    """
    if width is not None:
        resize(figure, width)
    write_whole(output, lambda file: save_figure(figure, file, dpi=300 if width else 160), private)
    typer.echo(f"Wrote {output}.")


def resize(figure: Figure, width: float) -> None:
    """Give a figure a width in inches, such as that of a journal's column.

    `InvalidInput` is raised if so little room would be left that texts meet.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(6.6, 4.4))
    >>> resize(figure, 3.3)
    >>> figure.get_size_inches()
    array([3.3, 2.2])
    """
    from matplotlib.text import Text

    now, height = figure.get_size_inches()
    factor = float(width / now)
    if factor < _SMALLEST_FACTOR:
        least = math.ceil(10 * _SMALLEST_FACTOR * float(now)) / 10
        raise InvalidInput(
            f"Expected width={width:g} to be at least {least:g} inches, since this figure has many "
            "parts side by side: ask for fewer epsilons or rates, or give it a whole page."
        )
    figure.set_size_inches(width, float(height) * factor)
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontsize(max(float(text.get_fontsize()) * min(factor, 1.0), _SMALLEST_TEXT))


_NARROWEST, _WIDEST, _SMALLEST_TEXT, _SMALLEST_FACTOR = 2.0, 20.0, 5.0, 0.45
