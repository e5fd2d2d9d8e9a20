"""What ``make release`` makes, what it refuses, and that two of them are the same bytes."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

from installs import Release, copy_of_sources, git, previous_release, raise_version, run

WHEELS = {
    "linux-amd64": "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin-arm64": "py3-none-macosx_12_0_arm64",
    "darwin-amd64": "py3-none-macosx_12_0_x86_64",
}
MEGABYTES = 12


def test_the_files_are_these(release: Release) -> None:
    version = release.version
    binaries = [f"tensorcache_{version}_{t.replace('-', '_')}.tar.gz" for t in release.targets]
    assert {path.name for path in release.dist.iterdir()} == {
        *(f"tensorcache-{version}-{WHEELS[target]}.whl" for target in release.targets),
        f"tensorcache-{version}.tar.gz",
        *binaries,
        f"tensorcache_{version}_oci.tar",
        "SHA256SUMS",
        "notes.md",
    }
    for line in (release.dist / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((release.dist / name).read_bytes()).hexdigest() == digest
    assert len((release.dist / "SHA256SUMS").read_text().splitlines()) == 2 + 2 * len(binaries)
    notes = (release.dist / "notes.md").read_text()
    head = git(release.sources, "rev-parse", "HEAD").strip()
    assert re.fullmatch(
        rf"- \[FIX\] A line of the notes\.\n\nBuilt with go1\.\S+ from commit {head}\n", notes
    )


def test_two_releases_are_the_same_bytes(release: Release, again: Release) -> None:
    assert release.sources != again.sources
    for path in release.dist.iterdir():
        assert path.read_bytes() == (again.dist / path.name).read_bytes(), path.name


def test_wheels_are_small_and_say_where_their_binary_runs(release: Release) -> None:
    for wheel in release.dist.glob("*.whl"):
        assert wheel.stat().st_size < MEGABYTES * 1_000_000, wheel
        binary = binary_of(wheel)
        tags = {tag.platform for tag in parse_wheel_filename(wheel.name)[3]}
        if binary[:4] == b"\x7fELF":
            machine = {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", binary, 18)[0]]
            assert tags == {
                f"manylinux_2_17_{machine}",
                f"manylinux2014_{machine}",
                f"musllinux_1_1_{machine}",
            }
            assert not needs_loader(binary), "only a static binary runs with both glibc and musl"
        else:
            machine, least = mach_o(binary)
            assert tags == {f"macosx_{least[0]}_{least[1]}_{machine}"}


def binary_of(wheel: Path) -> bytes:
    """The daemon in a wheel, which must be executable."""
    with zipfile.ZipFile(wheel) as opened:
        (script,) = [i for i in opened.infolist() if "/scripts/" in i.filename]
        assert script.external_attr >> 16 == 0o100755
        return opened.read(script)


def needs_loader(elf: bytes) -> bool:
    """Return whether a 64-bit ELF program names a dynamic loader (PT_INTERP)."""
    (begin,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return any(struct.unpack_from("<I", elf, begin + i * size)[0] == 3 for i in range(count))


def mach_o(binary: bytes) -> tuple[str, tuple[int, int]]:
    """The machine of a Mach-O program, and the oldest macOS that it says it runs on."""
    magic, cpu, _, _, commands = struct.unpack_from("<5I", binary)
    assert magic == 0xFEEDFACF
    place = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", binary, place)
        if command == 0x32:  # LC_BUILD_VERSION: platform, minimal version
            system, least = struct.unpack_from("<2I", binary, place + 8)
            assert system == 1  # macOS
            names = {0x01000007: "x86_64", 0x0100000C: "arm64"}
            return names[cpu], (least >> 16, least >> 8 & 255)
        place += size
    raise AssertionError("the program does not say which macOS it needs")


def test_binaries_are_those_of_the_wheels(release: Release) -> None:
    for target in release.targets:
        name = f"tensorcache_{release.version}_{target.replace('-', '_')}"
        wheel = release.dist / f"tensorcache-{release.version}-{WHEELS[target]}.whl"
        with tarfile.open(release.dist / f"{name}.tar.gz") as archive:
            assert archive.getnames() == [
                f"{name}/LICENSE",
                f"{name}/README.md",
                f"{name}/THIRD_PARTY_LICENSES.txt",
                f"{name}/tensorcache",
            ]
            member = archive.getmember(f"{name}/tensorcache")
            assert (member.mode, member.uid) == (0o755, 0)
            packed = archive.extractfile(member)
            assert packed is not None
            assert packed.read() == binary_of(wheel)


def test_wheels_have_the_licences_of_all_that_is_in_the_binary(
    release: Release, tmp_path: Path
) -> None:
    for wheel in release.dist.glob("*.whl"):
        binary = tmp_path / "binary"
        binary.write_bytes(binary_of(wheel))
        built = run("go", "version", "-m", binary, env=dict(os.environ), cwd=tmp_path)
        modules = re.findall(r"^\tdep\t(\S+)\t(\S+)", built, re.MULTILINE)
        assert len(modules) > 20
        with zipfile.ZipFile(wheel) as opened:
            text = opened.read("tensorcache/THIRD_PARTY_LICENSES.txt").decode()
        heads = set(re.findall(r"^==== (.*): [^:]+$", text, re.MULTILINE))
        assert heads == {"Go", *(f"{path} {version}" for path, version in modules)}
        assert "Permission is hereby granted, free of charge" in text


def test_the_source_package_has_no_tests(release: Release) -> None:
    with tarfile.open(release.dist / f"tensorcache-{release.version}.tar.gz") as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {"go/go.mod", "go/cmd/tensorcache/main.go", "go/api/openapi/load.json"} < set(names)
    for of_one_platform in ("_amd64.s", "_linux.go", "_darwin.go"):
        assert any(name.endswith(of_one_platform) for name in names), of_one_platform
    assert not [n for n in names if n.endswith("_test.go") or "testdata" in n or "tests" in n]
    assert {name.partition("/")[0] for name in names} == {
        ".gitignore",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "go",
        "hatch_build.py",
        "pyproject.toml",
        "src",
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with a commit."""
    folder = copy_of_sources(tmp_path_factory.mktemp("refused"))
    raise_version(folder)
    commit_all(folder)
    return folder


def commit_all(folder: Path) -> None:
    """Commit what a test changed."""
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "Change")


def version_of(folder: Path) -> str:
    text = (folder / "clients/python/src/tensorcache/_version.py").read_text()
    return re.findall(r'__version__ = "(.*)"', text)[0]


def test_a_release_of_another_version_is_refused_and_makes_nothing(copy: Path) -> None:
    said = run("make", "release", "VERSION=9.9.9", env=dict(os.environ), cwd=copy, fails=True)
    here = version_of(copy)
    path = "clients/python/src/tensorcache/_version.py"
    assert f"release: VERSION: got 9.9.9, but the version in {path} is {here}" in said
    said = run("make", "release", env=dict(os.environ), cwd=copy, fails=True)
    assert 'release: VERSION: got "", want three numbers, as VERSION=1.2.3' in said
    assert not (copy / "dist").exists()


@pytest.mark.parametrize("problem", ["dirty", "new file", "no entry", "unreleased", "go", "older"])
def test_a_release_is_refused(copy: Path, problem: str) -> None:
    version, head = version_of(copy), git(copy, "rev-parse", "HEAD").strip()
    changelog, page = copy / "CHANGELOG.md", copy / "docs" / "releases.md"
    main = copy / "cmd/tensorcache/main.go"
    if problem == "dirty":
        page.write_text(page.read_text() + "\n")
        want = "the tree is not clean: M docs/releases.md; commit or remove it"
    elif problem == "new file":
        (copy / "new").touch()
        (copy / "newer").touch()
        want = r"the tree is not clean: \?\? new and 1 more; commit or remove it"
    elif problem == "no entry":
        changelog.write_text(changelog.read_text().replace(f"## {version}", "## 0.0.1"))
        want = f'CHANGELOG.md has no entry "## {version}"'
    elif problem == "unreleased":
        changelog.write_text(
            changelog.read_text().replace(f"## {version}", f"## {version} (unreleased)")
        )
        want = rf'CHANGELOG.md: the entry "{version} \(unreleased\)" is empty or unreleased'
    elif problem == "go":
        main.write_text(main.read_text().replace(f'"{version}"', '"0.0.1"'))
        want = f"VERSION: got {version}, but the version in cmd/tensorcache/main.go is 0.0.1"
    else:
        record(page, f"| {version} | `{head}` | 2026-01-01 |")
        want = (
            rf"version {version} was released from commit {head[:12]} \(docs/releases.md\); raise "
            "the version, or check that commit out to build the release again"
        )
    if problem in ("no entry", "unreleased", "go", "older"):
        commit_all(copy)
    try:
        check = [sys.executable, "internal/release/release.py", "check", version]
        said = run(*check, env=dict(os.environ), cwd=copy, fails=True)
        assert re.fullmatch(f"release: {want}\n", said), said
    finally:
        git(copy, "reset", "--quiet", "--hard", head)
        git(copy, "clean", "--quiet", "--force", "-d")


def test_a_release_that_is_not_made_yet_may_have_a_row(copy: Path) -> None:
    version, head = version_of(copy), git(copy, "rev-parse", "HEAD").strip()
    record(copy / "docs" / "releases.md", f"| {version} | `{head}` | not yet |")
    commit_all(copy)
    try:
        check = [sys.executable, "internal/release/release.py", "check", version]
        assert run(*check, env=dict(os.environ), cwd=copy) == ""
        assert previous_release(copy) == (version, head)
    finally:
        git(copy, "reset", "--quiet", "--hard", head)


def record(page: Path, row: str) -> None:
    """Write the first row of the table of releases."""
    text = re.sub(r"(?m)^(\| --- .*)$", rf"\1\n{row}", page.read_text(), count=1)
    assert row in text
    page.write_text(text)


def test_a_shallow_clone_says_what_it_lacks(copy: Path, tmp_path: Path) -> None:
    commit_all_of = copy / "README.md"
    commit_all_of.write_text(commit_all_of.read_text() + "\n")
    commit_all(copy)
    clone = tmp_path / "clone"
    git(copy, "clone", "--quiet", "--depth", "1", copy.as_uri(), str(clone))
    with pytest.raises(pytest.fail.Exception, match=r"this clone lacks commit [0-9a-f]{40}, of "):
        previous_release(clone)
