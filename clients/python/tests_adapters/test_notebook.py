"""The notebook in examples/, run by a kernel, and a kernel that is interrupted."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorcache
from daemon import REPOSITORY, paused_loads, wait_until

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat")
manager = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

# Of Jupyter's own packages.
pytestmark = pytest.mark.filterwarnings("ignore")

NOTEBOOK = REPOSITORY / "examples" / "first_hour.ipynb"


def test_the_notebook_has_no_outputs() -> None:
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_every_cell_can_be_run_twice(cache: tensorcache.Cache) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    twice = []
    for cell in notebook.cells:
        twice.append(cell)
        if cell.cell_type == "code":
            again = copy.deepcopy(cell)
            again["id"] = f"{cell['id']}-again"
            twice.append(again)
    notebook.cells = twice
    done = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}
    ).execute()
    cells = [cell for cell in done.cells if cell.cell_type == "code"]
    for first, again in zip(cells[::2], cells[1::2], strict=True):
        assert shown(first) == shown(again), first.source
    pages = "".join(text for cell in cells for kind, text in shown(cell) if kind == "text/html")
    for words in ("<b>Dataset</b>", "<b>Windows</b>", "<b>Split</b>", "<b>Feed</b>", "<svg"):
        assert words in pages
    (loaded,) = cache.datasets()
    assert (loaded["dataset"], loaded["generation"]) == ("first-hour", 1)
    wait_until(lambda: not cache.feeds(), "feeds are left")
    before, after = re.findall(r"\d\.\d{3}", shown(cells[-1])[0][1])
    assert float(after) < float(before)


def shown(cell: Any) -> list[tuple[str, str]]:
    """The kinds and contents of a cell's outputs."""
    outputs: list[tuple[str, str]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            assert output.name == "stdout", output.text
            outputs.append(("text", output.text))
        else:
            outputs += sorted(output.data.items())
    return outputs


@pytest.fixture
def kernel(home: Path) -> Iterator[tuple[Any, Any]]:
    """Yield a kernel's manager and client."""
    kernels, client = manager.start_new_kernel(kernel_name="python3")
    yield kernels, client
    client.stop_channels()
    kernels.shutdown_kernel(now=True)


def test_an_interrupt_during_a_load_leaves_nothing(
    cache: tensorcache.Cache, home: Path, kernel: tuple[Any, Any], tmp_path: Path
) -> None:
    kernels, client = kernel
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    client.execute_interactive(
        "import tensorcache; cache = tensorcache.connect()", timeout=60, output_hook=lambda _: None
    )

    def jobs() -> list[dict[str, Any]]:
        listed = cache._server.control.get("/v1/jobs")["jobs"]
        return [job for job in listed if job["dataset"] == "interrupted"]

    with paused_loads(home):
        request = client.execute(
            f'data = cache.load("interrupted", {str(path)!r}, progress=lambda job: print("runs"))',
            stop_on_error=False,  # else the kernel may abort the request after it
        )
        # The kernel prints after it has the answer to its request.
        while client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
        kernels.interrupt_kernel()
        reply = client.get_shell_msg(timeout=60)
        while reply["parent_header"].get("msg_id") != request:
            reply = client.get_shell_msg(timeout=60)
        assert reply["content"].get("ename") == "KeyboardInterrupt"
        wait_until(lambda: [job["state"] for job in jobs()] == ["cancelled"], "the load goes on")
    assert "interrupted" not in [data["dataset"] for data in cache.datasets()]
    wait_until(lambda: not list((home / "tmp").glob("*")), "files are left")
    after = client.execute_interactive(
        'assert "data" not in globals(); cache.put("after", {"a": [1.0]})', timeout=60
    )
    assert after["content"]["status"] == "ok"
