"""The container image of a release: an OCI archive, read here without its writer's library."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from installs import REPOSITORY, Release

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


class Archive:
    """The files of the archive; every blob is compared with its name and its descriptor."""

    def __init__(self, path: Path) -> None:
        with tarfile.open(path) as archive:
            members = archive.getmembers()
            self.names = [member.name for member in members]
            self.files = {m.name: archive.extractfile(m).read() for m in members}  # type: ignore[union-attr]

    def blob(self, descriptor: dict[str, Any], media_type: str) -> bytes:
        """The bytes of a descriptor."""
        assert descriptor["mediaType"] == media_type
        content = self.files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert len(content) == descriptor["size"]
        assert "sha256:" + hashlib.sha256(content).hexdigest() == descriptor["digest"]
        return content

    def json(self, descriptor: dict[str, Any], media_type: str) -> dict[str, Any]:
        """The object of a descriptor."""
        found: dict[str, Any] = json.loads(self.blob(descriptor, media_type))
        return found


@pytest.fixture(scope="module")
def archive(release: Release) -> Archive:
    return Archive(release.dist / f"tensorcache_{release.version}_oci.tar")


def manifests(archive: Archive) -> dict[str, dict[str, Any]]:
    """The manifest of each architecture."""
    (top,) = json.loads(archive.files["index.json"])["manifests"]
    index = archive.json(top, INDEX)
    return {
        entry["platform"]["architecture"]: archive.json(entry, MANIFEST)
        for entry in index["manifests"]
        if entry["platform"]["os"] == "linux"
    }


def test_the_archive_is_an_oci_layout_and_nothing_else(archive: Archive, release: Release) -> None:
    assert json.loads(archive.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    top = json.loads(archive.files["index.json"])
    assert top["schemaVersion"] == 2
    (entry,) = top["manifests"]
    assert entry["annotations"] == {"org.opencontainers.image.ref.name": release.version}
    found = manifests(archive)
    machines = {target.removeprefix("linux-") for target in release.targets if "linux" in target}
    assert set(found) == machines
    used = {entry["digest"]}
    used |= {e["digest"] for e in archive.json(entry, INDEX)["manifests"]}
    for manifest in found.values():
        used |= {d["digest"] for d in (manifest["config"], *manifest["layers"])}
    blobs = {"blobs/" + digest.replace(":", "/") for digest in used}
    assert set(archive.names) == blobs | {"index.json", "oci-layout"}


def test_the_configuration_is_the_dockerfiles(archive: Archive, release: Release) -> None:
    text = (REPOSITORY / "Dockerfile").read_text().split("\nFROM scratch\n")[1]
    interval, timeout, start, check = re.findall(
        r"^HEALTHCHECK --interval=(\d+)s --timeout=(\d+)s --start-period=(\d+)s CMD (.*)$",
        text,
        re.MULTILINE,
    )[0]
    for machine, manifest in manifests(archive).items():
        config = archive.json(manifest["config"], CONFIG)
        assert (config["os"], config["architecture"]) == ("linux", machine)
        assert config["created"] == "2026-01-02T03:04:05Z"
        run = config["config"]
        assert run["User"] == re.findall(r"^USER (.*)$", text, re.MULTILINE)[0]
        assert run["Env"] == re.findall(r"TENSORCACHE_\w+=\S+", text)
        assert len(run["Env"]) == 2
        for field in ("ENTRYPOINT", "CMD"):
            want = re.findall(rf"^{field} (.*)$", text, re.MULTILINE)[0]
            assert run[field.capitalize()] == json.loads(want)
        assert list(run["Volumes"]) == re.findall(r"^VOLUME (.*)$", text, re.MULTILINE)
        assert run["Healthcheck"] == {
            "Test": ["CMD", *json.loads(check)],
            "Interval": int(interval) * 10**9,
            "Timeout": int(timeout) * 10**9,
            "StartPeriod": int(start) * 10**9,
        }
        assert run["Labels"]["org.opencontainers.image.version"] == release.version


def test_the_layer_has_the_binary_its_licences_and_two_directories(
    archive: Archive, release: Release, tmp_path: Path
) -> None:
    for machine, manifest in manifests(archive).items():
        (descriptor,) = manifest["layers"]
        content = gzip.decompress(archive.blob(descriptor, LAYER))
        config = archive.json(manifest["config"], CONFIG)
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        assert config["rootfs"] == {"type": "layers", "diff_ids": [digest]}
        with tarfile.open(fileobj=io.BytesIO(content)) as layer:
            found = {m.name: (m.type, m.mode, m.uid, m.gid) for m in layer.getmembers()}
            assert found == {
                "cache": (tarfile.DIRTYPE, 0o711, 65532, 65532),
                "licenses": (tarfile.DIRTYPE, 0o755, 0, 0),
                "licenses/LICENSE": (tarfile.REGTYPE, 0o644, 0, 0),
                "licenses/THIRD_PARTY_LICENSES.txt": (tarfile.REGTYPE, 0o644, 0, 0),
                "tensorcache": (tarfile.REGTYPE, 0o755, 0, 0),
                "tmp": (tarfile.DIRTYPE, 0o1777, 0, 0),
            }
            folder = tmp_path / machine
            layer.extract("tensorcache", folder, filter="tar")
        with tarfile.open(
            release.dist / f"tensorcache_{release.version}_linux_{machine}.tar.gz"
        ) as binaries:
            (name,) = [n for n in binaries.getnames() if n.endswith("/tensorcache")]
            packed = binaries.extractfile(name)
            assert packed is not None
            assert packed.read() == (folder / "tensorcache").read_bytes()
    uname = os.uname()
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(uname.machine, "")
    if uname.sysname == "Linux" and machine:
        binary = tmp_path / machine / "tensorcache"
        said = subprocess.run([binary, "version"], capture_output=True, text=True, check=True)
        assert said.stdout.startswith(f"tensorcache {release.version} (")
