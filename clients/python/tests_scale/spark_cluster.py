"""A standalone Spark cluster on this machine: a master and two workers of one core."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

WORKERS = 2


class SparkCluster:
    """Its workers have cache directories of their own; the driver has that of the module."""

    def __init__(self, folder: Path, directories: list[Path]) -> None:
        self.folder = folder
        self.directories = directories
        self.started: list[subprocess.Popen[bytes]] = []
        self.session: Any = None
        self.url = ""

    def begin(self) -> None:
        """Start the processes of the cluster, and a session."""
        master = self.start("master.Master", "--port", "0", "--webui-port", "0")
        self.url = self.wait_for(master, r"Starting Spark master at (spark://\S+)")
        for _ in range(WORKERS):
            self.directories.append(self.folder / f"worker{len(self.directories)}")
            worker = self.start(
                "worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0",
                "--work-dir", str(self.folder / "work"), self.url,
                TENSORCACHE_DIR=str(self.directories[-1]),
            )  # fmt: skip
            self.wait_for(worker, "Successfully registered with master")
        self.session = (
            SparkSession.builder.master(self.url)
            .config("spark.ui.enabled", "false")
            .config("spark.executor.memory", "512m")
            .config("spark.sql.warehouse.dir", str(self.folder / "warehouse"))
            .getOrCreate()
        )

    def start(self, name: str, *arguments: str, **environment: str) -> Path:
        """Start a process of the cluster, and return its log."""
        log = self.folder / f"{name}{len(self.started)}.log"
        with log.open("wb") as out:
            program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
            main = f"org.apache.spark.deploy.{name}"
            command = [program, main, "--host", "127.0.0.1", *arguments]
            variables = {**os.environ, **environment}
            self.started.append(
                subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=variables)
            )
        return log

    def wait_for(self, log: Path, pattern: str) -> str:
        """Wait for a line of a log, and return the first group of the pattern."""
        deadline = time.monotonic() + 300
        while (found := re.search(pattern, log.read_text())) is None:
            assert self.started[-1].poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        return found[found.re.groups]

    def close(self) -> None:
        """End the session and the processes."""
        if self.session is not None:
            self.session.stop()
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def spark_cluster(
    home: Path, tmp_path_factory: pytest.TempPathFactory, node_directories: list[Path]
) -> Iterator[SparkCluster]:
    """The cluster of the module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("SPARK_", "PYSPARK_")):
                patch.delenv(name)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        cluster = SparkCluster(tmp_path_factory.mktemp("spark"), node_directories)
        try:
            cluster.begin()
            yield cluster
        finally:
            cluster.close()
