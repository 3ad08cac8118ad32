"""A store whose disk is full, or whose directory is shut or gone, says so with a typed error and what to do."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.events.processes import error_in_child

from beliefbase.events.errors import StoreUnavailable
from beliefbase.store import BeliefStore

ON_A_FULL_DISK = """
import resource, signal, sys
from beliefbase.events.errors import BeliefbaseError
from beliefbase.store import BeliefStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with BeliefStore.open(sys.argv[1]) as store:
    writer = store.writer("ann")
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 * 1024, resource.RLIM_INFINITY))
    for act in (store.project, store.active, store.digest, lambda: writer.record_utterance("x" * 65000, speaker="y")):
        try:
            act()
            print("done")
        except BeliefbaseError as error:
            assert error.hint and sys.argv[1] in str(error), error
            print(error.code)
"""


@pytest.fixture
def path(tmp_path):
    with BeliefStore.open(tmp_path / "store", create=True) as store:
        writer = store.writer("ann")
        with store.batch():
            for number in range(300):
                writer.record_utterance(f"{number} " * 100, speaker="will")
    return tmp_path / "store"


def test_read_models_on_a_full_disk_are_refused_and_made_once_there_is_room(path):
    done = subprocess.run([sys.executable, "-c", ON_A_FULL_DISK, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["store_unavailable"] * 4), done.stderr
    with BeliefStore.open(path) as store:
        assert store.project().events == 301
        assert store.audit().exit_code == 0


def test_a_store_that_vanished_takes_nothing_more(path):
    store = BeliefStore.open(path)
    writer = store.writer("ann")
    writer.record_utterance("before", speaker="will")
    shutil.rmtree(path)
    for act in (lambda: writer.record_utterance("after", speaker="will"), store.project, store.active, store.audit):
        with pytest.raises(StoreUnavailable, match="removed or replaced") as raised:
            act()
        assert raised.value.hint
    with pytest.raises(StoreUnavailable, match="no store"):
        BeliefStore.open(path)
    store.close()


def test_a_store_that_is_not_to_be_entered():
    # Not pytest's folder: nobody else may enter that, and to root nothing is closed.
    folder = Path(tempfile.mkdtemp())

    def open_it():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        BeliefStore.open(folder / "store")

    BeliefStore.open(folder / "store", create=True).close()
    folder.chmod(0o755)
    (folder / "store").chmod(0o000)
    try:
        code, text, hint = error_in_child(open_it)
    finally:
        (folder / "store").chmod(0o755)
        shutil.rmtree(folder)
    assert code == "store_unavailable"
    assert "Permission denied" in text
    assert "mode" in hint
