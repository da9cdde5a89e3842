"""Some calls in a sandbox, told on standard input and answered on standard output, both as JSON.

Only the standard library and worker/sandbox: an ordinary user's Python runs this too (see tests/support/sandboxes.py).
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

from groupwise.worker.sandbox import client, landlock, one_shot, tiers


def do(job: dict[str, Any]) -> list[dict[str, Any]]:
    """{"calls": [{"code", "parameters", "batch", "timeout"}], "network", "limits"} → each call's Result as a dict, with
    the seconds it "took" as the caller sees it and the "tier" it ran in. Every code defines `score`, or the "name"."""
    if "landlock_abi" in job:  # as on an older kernel; only where this is a process of its own
        landlock.abi = lambda: int(job["landlock_abi"])
    limits = client.Limits(**job.get("limits", {}))
    if "script" in job:
        return [asdict(one_shot.run_fresh(job["script"], job.get("stdin", ""), limits, job["timeout"]))]
    answers, name = [], job.get("name", "score")
    codes = list(dict.fromkeys(call["code"] for call in job["calls"]))
    hosts = {
        code: client.Host(
            [client.Code(name, code, job.get("parameters", {}))],
            network=job["network"],
            ports=job.get("ports", []),
            limits=limits,
        )
        for code in codes
    }
    for call in job["calls"]:
        began = time.monotonic()
        result = hosts[call["code"]].score(name, call["batch"], call["timeout"])
        took = time.monotonic() - began
        answers.append({**asdict(result), "took": took, "tier": tiers.probe().name})
    for host in hosts.values():
        host.close()
    return answers


if __name__ == "__main__":
    print(json.dumps(do(json.load(sys.stdin))))
