"""The manifests of examples/kubernetes, against the schemas of Kubernetes and their page."""

from __future__ import annotations

import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from daemon import REPOSITORY
from programs import EXAMPLES

VERSION = "1.37"


def manifests(name: str) -> dict[str, dict[str, Any]]:
    """The objects of a file, by kind."""
    text = (EXAMPLES / "kubernetes" / name).read_text()
    return {found["kind"]: found for found in yaml.safe_load_all(text)}


def pod(name: str, kind: str) -> dict[str, Any]:
    """The pods that an object makes."""
    spec: dict[str, Any] = manifests(name)[kind]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("name", ["daemon.yaml", "job.yaml"])
def test_the_schemas_accept_them(name: str) -> None:
    for manifest in manifests(name).values():
        kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_the_schemas_refuse_an_unknown_field() -> None:
    manifest = manifests("daemon.yaml")["DaemonSet"]
    manifest["spec"]["template"]["spec"]["containers"][0]["environment"] = []
    with pytest.raises(kubernetes_validate.ValidationError, match="environment"):
        kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_the_pods_of_a_job_reach_the_daemon_of_their_node() -> None:
    daemon, job = pod("daemon.yaml", "DaemonSet"), pod("job.yaml", "Job")
    (serving,), (training,) = daemon["containers"], job["containers"]
    assert training["securityContext"]["runAsUser"] == serving["securityContext"]["runAsUser"]
    assert training["volumeMounts"] == serving["volumeMounts"]
    assert {"name": "TENSORCACHE_DIR", "value": "/cache"} in training["env"]
    for of_daemon, of_job in zip(daemon["volumes"], job["volumes"], strict=True):
        if "hostPath" in of_daemon:
            assert of_daemon["hostPath"]["path"] == of_job["hostPath"]["path"]
        else:
            assert of_daemon == of_job


def test_the_page_shows_lines_of_the_job() -> None:
    text = (REPOSITORY / "docs" / "clusters" / "kubernetes.md").read_text()
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    job = pod("job.yaml", "Job")
    container = {**job["containers"][0], "volumes": job["volumes"]}
    for field, value in yaml.safe_load(shown).items():
        if isinstance(value, dict):
            assert value.items() <= container[field].items()
        else:
            assert value == container[field]
    assert f"Kubernetes {VERSION}" in text
