"""Checks a release, and packs what ``make wheels`` built into the rest of it.

    release.py check VERSION             refuse a release that does not fit the sources
    release.py pack VERSION TARGET...    binaries, image, notes and checksums, from dist/
    release.py previous                  version and commit of the newest release

docs/releases.md describes how a release is made.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DIST = REPOSITORY / "dist"
NOT_YET = "not yet"  # in place of a date: what tests take for a release that is still to be made
LICENSES = "THIRD_PARTY_LICENSES.txt"

# The targets of the Makefile, and what the name of a target's wheel contains.
TARGETS = {
    "linux-amd64": "manylinux_2_17_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64",
    "darwin-arm64": "macosx_12_0_arm64",
    "darwin-amd64": "macosx_12_0_x86_64",
}


class Refused(Exception):  # noqa: N818 - it is no error of the program
    """A release that must not be made; the message says why and what to do."""


def check(version: str) -> None:
    """Refuse a version that is not the sources', a dirty tree, and a version without notes."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Refused(f'VERSION: got "{version}", want three numbers, as VERSION=1.2.3')
    for path, pattern in {
        "clients/python/src/tensorcache/_version.py": r'^__version__ = "(.*)"$',
        "cmd/tensorcache/main.go": r'^var version = "(.*)"$',
    }.items():
        found = re.search(pattern, (REPOSITORY / path).read_text(), re.MULTILINE)
        if found is None or found[1] != version:
            got = "none" if found is None else found[1]
            raise Refused(f"VERSION: got {version}, but the version in {path} is {got}")
    changed = git("status", "--porcelain").splitlines()
    if changed:
        raise Refused(
            f"the tree is not clean: {changed[0].strip()}"
            f"{f' and {len(changed) - 1} more' if len(changed) > 1 else ''}; commit or remove it"
        )
    notes(version)
    made = {version: commit for version, commit, date in releases() if date != NOT_YET}
    commit = made.get(version)
    if commit is not None and commit != git("rev-parse", "HEAD").strip():
        raise Refused(
            f"version {version} was released from commit {commit[:12]} (docs/releases.md); raise "
            "the version, or check that commit out to build the release again"
        )


def notes(version: str) -> str:
    """Return the entry of a version in ``CHANGELOG.md``, without its heading."""
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        if heading.split()[0] == version:
            if not body.strip() or "unreleased" in heading:
                raise Refused(f'CHANGELOG.md: the entry "{heading}" is empty or unreleased')
            return body.strip() + "\n"
    raise Refused(f'CHANGELOG.md has no entry "## {version}"')


def releases() -> list[tuple[str, str, str]]:
    """Return version, commit and date of each row of ``docs/releases.md``, the newest first."""
    table = (REPOSITORY / "docs" / "releases.md").read_text()
    row = rf"^\| (\d+\.\d+\.\d+) \| `([0-9a-f]{{40}})` \| (\d{{4}}-\d\d-\d\d|{NOT_YET}) \|"
    found = re.findall(row, table, re.MULTILINE)
    if not found:
        raise Refused("docs/releases.md has no row with a version, a commit and a date")
    return found


def pack(version: str, targets: list[str]) -> None:
    """Write binaries, image, notes and checksums into ``dist/``, beside wheels and sources."""
    epoch = int(git("log", "-1", "--format=%ct"))
    platforms = {target.replace("-", "_"): files_of(TARGETS[target]) for target in targets}
    for name, files in platforms.items():
        pack_binary(DIST / f"tensorcache_{version}_{name}.tar.gz", files, epoch)
    pack_image(version, platforms, epoch)
    built_with = subprocess.run(
        ["go", "version"], capture_output=True, text=True, check=True
    ).stdout.split()[2]
    text = f"{notes(version)}\nBuilt with {built_with} from commit {git('rev-parse', 'HEAD')}"
    (DIST / "notes.md").write_text(text)
    files = sorted(path for path in DIST.iterdir() if path.suffix in (".whl", ".gz", ".tar"))
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(sums))


def files_of(tag: str) -> dict[str, bytes]:
    """Return what a binary of a platform comes with; binary and licences are its wheel's."""
    (wheel,) = DIST.glob(f"*{tag}*.whl")
    files = {name: (REPOSITORY / name).read_bytes() for name in ("LICENSE", "README.md")}
    with zipfile.ZipFile(wheel) as opened:
        (binary,) = [n for n in opened.namelist() if n.endswith(".data/scripts/tensorcache")]
        files[LICENSES] = opened.read(f"tensorcache/{LICENSES}")
        files["tensorcache"] = opened.read(binary)
    return files


def pack_binary(path: Path, files: dict[str, bytes], epoch: int) -> None:
    """Write a binary and what it comes with; the same content gives the same bytes."""
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in files.items():
            member = tarfile.TarInfo(f"{path.name.removesuffix('.tar.gz')}/{name}")
            member.size, member.mtime = len(content), epoch
            member.mode = 0o755 if name == "tensorcache" else 0o644
            archive.addfile(member, io.BytesIO(content))


def pack_image(version: str, platforms: dict[str, dict[str, bytes]], epoch: int) -> None:
    """Write the image for Linux, of the same files."""
    image = [f"-version={version}", f"-epoch={epoch}"]
    image.append(f"-out={DIST / f'tensorcache_{version}_oci.tar'}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, files in platforms.items():
            system, _, machine = name.partition("_")
            if system == "linux":
                folder = Path(scratch, machine)
                folder.mkdir()
                for file in ("LICENSE", LICENSES, "tensorcache"):
                    (folder / file).write_bytes(files[file])
                image.append(f"{machine}={folder}")
        subprocess.run(["go", "run", "./image", *image], cwd=Path(__file__).parent, check=True)


def git(*arguments: str) -> str:
    """Return what ``git`` prints in the repository."""
    done = subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Refused(f"git {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


def main(arguments: list[str]) -> int:
    """Run one of the three."""
    try:
        match arguments:
            case ["check", version]:
                check(version)
            case ["pack", version, *targets] if targets and set(targets) <= set(TARGETS):
                pack(version, targets)
            case ["previous"]:
                print(*releases()[0][:2])
            case _:
                raise Refused(
                    f"got {arguments}, want check VERSION, pack VERSION TARGET... with targets of "
                    f"{', '.join(TARGETS)}, or previous"
                )
    except Refused as refused:
        print(f"release: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main(sys.argv[1:]))
