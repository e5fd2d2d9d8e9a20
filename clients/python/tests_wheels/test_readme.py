"""The README's lines, typed in a fresh virtual environment without Go.

Every block of Python and every ``$`` line runs, in the order of the page, in one directory. What
the page shows must be what is printed: outputs of commands, and the numbers in comments behind
expressions. Durations and dates may differ. A section (``##``) is a session with a cache directory
of its own, since its numbers of generations begin at 1.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from installs import REPOSITORY, Venv

README = REPOSITORY / "README.md"

# What is not run, by how it begins, and why.
SKIPPED = {
    "loader = tensorcache.torch.loader(": "PyTorch is too large here; tests_adapters run it",
    "curl -LO https://github.com/tensorcache/": "no such network here; the file is copied",
}


@dataclass(frozen=True)
class Block:
    """A code block of the page."""

    section: str
    kind: str
    text: str


def blocks(page: str) -> list[Block]:
    """All code blocks, with the section that each is in."""
    found, section = [], ""
    pattern = r"^## ([^\n]*)$|^```(\w*)\n(.*?)^```$"
    for heading, kind, text in re.findall(pattern, page, re.MULTILINE | re.DOTALL):
        section = heading or section
        if text:
            found.append(Block(section, kind, text))
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """The ``$`` lines of a console block, each with the output that the page shows."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:].partition(" #")[0].strip(), ""))
        else:
            command, shown = found[-1]
            found[-1] = (command, f"{shown}{line}\n")
    return found


# Runs a block and prints, for each expression that has a comment, its value as JSON: arrays as
# their shapes. An expression in a loop counts once, the first time.
RUNNER = """
import ast, json, sys, io, tokenize
source = open(sys.argv[1]).read()
comments = {t.start[0]: t.string for t in tokenize.generate_tokens(io.StringIO(source).readline)
            if t.type == tokenize.COMMENT}
shown = {}
def show(line, value):
    def text(v):
        if hasattr(v, "shape"):
            return str(tuple(v.shape))
        if isinstance(v, tuple):
            return "(" + ", ".join(map(text, v)) + ")"
        return repr(v)
    shown.setdefault(line, (comments[line], text(value)))
class Watch(ast.NodeTransformer):
    def visit_Expr(self, node):
        if node.end_lineno in comments:
            line = ast.Constant(node.end_lineno)
            call = ast.Call(ast.Name("_show", ast.Load()), [line, node.value], [])
            return ast.copy_location(ast.Expr(call), node)
        return node
tree = ast.fix_missing_locations(Watch().visit(ast.parse(source)))
exec(compile(tree, sys.argv[1], "exec"), {"_show": show, "__name__": "__main__"})
print("SHOWN" + json.dumps(list(shown.values())))
"""

LITERAL = re.compile(r"\{.*?\}|\([\d, ]+\)|\b\d[\d,_]*(?:\.\d+)?\b")


def run_python(venv: Venv, code: str) -> int:
    """Run Python of the page, compare the literals in its comments, and return their number."""
    folder = venv.folder.parent
    (folder / "readme.py").write_text(code)
    (folder / "runner.py").write_text(RUNNER)
    said = venv.run("python", "runner.py", "readme.py")
    checked = 0
    for comment, value in json.loads(said.rpartition("SHOWN")[2]):
        for literal in LITERAL.findall(comment):
            assert literal in value, f'"{comment}" shows {literal}, but the value is {value}'
            checked += 1
    return checked


def same(text: str) -> list[str]:
    """The words of an output, without what may differ: durations and dates."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE", text)
    return re.sub(r"\b\d+(\.\d+)? m?s\b", "DURATION", text).split()


def run_commands(venv: Venv, text: str) -> int:
    """Run the ``$`` lines of a block, and return the number of outputs compared."""
    compared = 0
    for command, shown in commands(text):
        if reason := skipped(command):
            if command.endswith("ETTh1.csv"):
                data = REPOSITORY / "examples" / "data" / "ETTh1.csv"
                shutil.copy(data, venv.folder.parent)
            print(f"not run: {command}: {reason}")
            continue
        # The shell of the machine, in which the environment is active.
        said = venv.run("python", "-c", SHELL, command)
        if shown:
            assert same(said) == same(shown), f"$ {command}\n{said}\nthe page shows\n{shown}"
            compared += 1
    return compared


SHELL = (
    "import subprocess, sys; "
    "sys.exit(subprocess.run(['sh', '-ec', sys.argv[1]], stdin=subprocess.DEVNULL).returncode)"
)


def skipped(code: str) -> str:
    """Why a block or a line is not run; "" if it is."""
    return next((why for begin, why in SKIPPED.items() if code.startswith(begin)), "")


def test_the_lines_of_the_readme_do_what_it_shows(venv: Venv) -> None:
    found = blocks(README.read_text())
    numbers = outputs = 0
    section = found[0].section
    code = ""
    for block in [*found, Block("the end", "", "")]:
        if code and (block.kind == "console" or block.section != section):
            numbers += run_python(venv, code)
            code = ""
        if block.section != section:
            section = block.section
            venv.stop_daemon()
            venv.env["TENSORCACHE_DIR"] = str(venv.home / re.sub(r"\W", "-", section))
        if block.kind == "python" and not skipped(block.text):
            code += block.text
        elif block.kind == "console":
            outputs += run_commands(venv, block.text)
    assert numbers >= 5, "the page shows numbers"
    assert outputs >= 3, "the page shows outputs"


@pytest.mark.parametrize("begin", SKIPPED)
def test_what_is_skipped_is_on_the_page(begin: str) -> None:
    lines = [
        line.removeprefix("$ ") for b in blocks(README.read_text()) for line in b.text.splitlines()
    ]
    assert [line for line in lines if line.startswith(begin)]


def test_numbers_that_differ_are_found(venv: Venv, tmp_path: Path) -> None:
    page = README.read_text()
    assert "# 8209, {'split': 95}" in page
    code = "import numpy\nnumpy.zeros((2, 3)), 5  # (2, 3), 5: a batch\n"
    code += "for i in range(2):\n    i  # 0\n"
    venv.run("pip", "install", "--quiet", "numpy")
    assert run_python(venv, code) == 3
    for wrong in ("(2, 4), 5", "(2, 3), 6"):
        with pytest.raises(AssertionError, match="but the value is"):
            run_python(venv, code.replace("(2, 3), 5:", f"{wrong}:"))
    assert same("in 0.1 s at 2026-01-02 03:04:05") == same("in 12.5 s at 2027-01-02 03:04:05")
    assert same("8,209 windows") != same("8,208 windows")
