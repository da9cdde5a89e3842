"""A spare training process as the supervisor sees it: started, asked whether it is ready, given a run, or ended."""

import contextlib
import json
import os
import socket
import subprocess
import sys

from groupwise.storage.home import paths, process
from groupwise.worker.launchers import local
from groupwise.worker.training import handover

WAITS = "groupwise.worker.training.wait_for_run"
ANSWER = 2.0  # seconds a spare may take to become a run's process; then the run is started cold


class Spare:
    """One process of worker.training.wait_for_run, in a session of its own as a run's is."""

    def __init__(self) -> None:
        self.environment = local.training_environment(process.NO_TAG, 1)
        self.ready = False
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        printed = os.memfd_create("printed")  # what its imports print, for the log of its run
        try:
            self.child = subprocess.Popen(
                [sys.executable, "-m", WAITS, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, pass_fds=[theirs.fileno()],
                cwd=paths.home(), env=self.environment, start_new_session=True,
            )  # fmt: skip
        finally:
            theirs.close()
            os.close(printed)

    def lives(self) -> bool:
        """Tell whether its process runs."""
        return self.child.poll() is None

    def becomes_ready(self) -> bool:
        """Whether it has said since the last look that it is ready."""
        if self.ready:
            return False
        with contextlib.suppress(OSError):  # it has said nothing yet
            self.ready = self._channel.recv(handover.LONGEST, socket.MSG_DONTWAIT) == handover.READY
        return self.ready

    def fits(self, tag: str, processes: int) -> bool:
        """Whether it was started with just what such a run would get; several processes are accelerate's to start."""
        wanted = local.training_environment(tag, processes)
        return processes == 1 and {**wanted, process.TAG: process.NO_TAG} == self.environment

    def give(self, run_id: str, tag: str) -> bool:
        """Make it this run's process: whether it is one now, in the run's folder and with its tag. Otherwise it is
        gone, and has begun nothing."""
        self._channel.settimeout(ANSWER)
        with contextlib.suppress(OSError):  # it is gone, or does not answer in time
            self._channel.send(json.dumps({"run": run_id, "tag": tag}).encode())
            if self._channel.recv(handover.LONGEST) == handover.TAKEN:
                self._channel.close()
                return True
        self.end()
        return False

    def end(self) -> None:
        """End it at once: it holds nothing that could be lost."""
        self.child.kill()
        self.child.wait()
        self._channel.close()
