"""The states of a run, what may follow what, and the words for each."""

QUEUED = "queued"
STARTING = "starting"
RUNNING = "running"
STOPPING = "stopping"
FINISHED = "finished"
STOPPED = "stopped"
FAILED = "failed"
KILLED = "killed"
INTERRUPTED = "interrupted"

LIVE = frozenset({STARTING, RUNNING, STOPPING})  # there should be a training process
TRAINS = (RUNNING, STOPPING)  # and it makes steps
ENDED = frozenset({FINISHED, STOPPED, FAILED, KILLED, INTERRUPTED})
RESUMABLE = frozenset({STOPPED, FAILED, KILLED, INTERRUPTED})

UNSTARTED = "Removed from the queue before it started."  # why such a run is stopped

_ALL = (QUEUED, STARTING, RUNNING, STOPPING, FINISHED, STOPPED, FAILED, KILLED, INTERRUPTED)
LABELS = {state: state.capitalize() for state in _ALL}

NEXT = {
    QUEUED: {STARTING, *RESUMABLE},  # one that was started again goes back to how it had ended
    STARTING: {RUNNING, STOPPING, *ENDED},
    RUNNING: {STOPPING, *ENDED},
    STOPPING: {*ENDED},
    FINISHED: set(),
    **{state: {QUEUED} for state in RESUMABLE},
}
