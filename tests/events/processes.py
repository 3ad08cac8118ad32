"""Real processes for tests: what they do is a function of the test, and an exception in one is its exit status."""

import os
import signal
import traceback


class Child:
    """A process that runs ``work`` and ends; ``lines`` is what it wrote by its first argument, a file descriptor."""

    def __init__(self, work):
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self._read)
                work(write)
                status = 0
            except BaseException:  # noqa: BLE001  a test's child must end here, whatever happens
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(write)

    def read(self):
        """Everything that it writes until it closes its end."""
        with os.fdopen(self._read, "rb") as pipe:
            return pipe.read()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        return self.read_and_wait()

    def read_and_wait(self):
        written = self.read()
        os.waitpid(self.pid, 0)
        return written

    def succeed(self):
        """Wait for it; what it wrote, if it ended well."""
        written = self.read()
        _, status = os.waitpid(self.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        return written


def error_in_child(work):
    """The code of the BeliefbaseError that ``work`` raises in a process of its own, and its text and hint."""

    def report(pipe):
        from beliefbase.events.errors import BeliefbaseError

        try:
            work()
        except BeliefbaseError as error:
            os.write(pipe, f"{error.code}|{error}|{error.hint}".encode())

    return Child(report).succeed().decode().split("|")
