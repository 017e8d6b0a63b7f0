"""Files are written whole or not at all, also by several runs at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from omit.errors import InvalidInput
from omit.report.files import save_figure, unfinished_in, write_whole

pytestmark = pytest.mark.slow

WRITER = """
import sys, time
from pathlib import Path
from omit.report.files import unfinished_in

with unfinished_in(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half")
    print(folder.name, flush=True)
    time.sleep(600)
"""


def _names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_many_writers_of_one_file_all_succeed_and_one_of_them_wins(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    texts = [f"{number} " * 10_000 for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_whole(output, lambda file: file.write_text(text)), texts))
    assert output.read_text() in texts
    assert _names(output.parent) == {"page.html"}


def test_what_a_killed_run_left_is_removed_and_what_a_live_run_writes_is_not(
    tmp_path: Path,
) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    killed = writers[0]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline().startswith(".unfinished-")
        before = _names(tmp_path)
        assert len(before) == 2
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        write_whole(tmp_path / "page.html", lambda file: file.write_text("whole"))
        left = _names(tmp_path) - {"page.html"}
        assert len(left) == 1
        assert (tmp_path / left.pop() / "half").read_text() == "half"
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    with unfinished_in(tmp_path) as folder:
        assert _names(tmp_path) == {"page.html", folder.name}
    assert _names(tmp_path) == {"page.html"}


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    output.write_text("old")

    def write(file: Path) -> None:
        file.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InvalidInput, match="No space left on device"):
        write_whole(output, write)
    assert output.read_text() == "old"
    assert _names(tmp_path) == {"page.html"}


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target.html").write_text("old")
    link = tmp_path / "link.html"
    link.symlink_to("target.html")
    write_whole(link, lambda file: file.write_text("new"))
    assert link.is_symlink()
    assert (tmp_path / "target.html").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    full = tmp_path / "full.svg"
    full.symlink_to("/dev/full")
    with pytest.raises(InvalidInput, match="No space left on device"):
        write_whole(full, lambda file: file.write_text("new"))
    assert full.is_symlink()
    assert Path("/dev/full").is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        write_whole(pipe, lambda file: file.write_text("through"))
        assert read.result(10) == "through"
    assert pipe.is_fifo()


def test_a_link_to_itself_is_a_sentence(tmp_path: Path) -> None:
    loop = tmp_path / "loop.svg"
    loop.symlink_to(loop)
    with pytest.raises(InvalidInput, match="Cannot write"):
        write_whole(loop, lambda file: file.write_text("new"))


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_figure_is_the_same_file_in_every_run(tmp_path: Path, ending: str) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from omit.report.files import save_figure\n"
        "from omit.papers.omitting_records.privacy_figures import privacy_figure\n"
        "save_figure(privacy_figure((0.5,), 40), Path(sys.argv[1]))\n"
    )
    files = [tmp_path / f"{run}.{ending}" for run in range(2)]
    for file in files:
        subprocess.run([sys.executable, "-c", code, str(file)], check=True)
        time.sleep(1.1)  # a date in it would be another one
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_bytes()) > 1000


def test_letters_that_the_font_lacks_are_no_warning(tmp_path: Path) -> None:
    figure = Figure()
    figure.suptitle("日本")
    save_figure(figure, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000
