"""One JSON object a line: how the harness and its peers talk. Mirrored in ../lines.ts."""

import argparse
import json
import os
import sys


def threads_and(parser=None):
    """Arguments of a peer; sets torch's threads."""
    import torch

    parser = parser or argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    return args


# what libraries print goes to standard error: standard output carries answers only
_answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(value):
    _answers.write(json.dumps(value) + "\n")
    _answers.flush()


def next_request():
    """The next request; ends the process when there are no more."""
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    return json.loads(line)


def serve(handlers):
    """Answers requests one after another: {"run": name, ...arguments}."""
    while True:
        request = next_request()
        run = request.pop("run")
        try:
            if run not in handlers:
                raise ValueError(f'no run "{run}"')
            answer(handlers[run](**request) or {})
        except Exception as e:  # a failed request must not look like a hang
            import traceback

            traceback.print_exc()
            answer({"error": f"{type(e).__name__}: {e}"})


def versions(*packages):
    """Of Python and of packages."""
    import importlib.metadata
    import platform

    return {"versions": {"python": platform.python_version(), **{p: importlib.metadata.version(p) for p in packages}}}


def memory():
    """Resident memory in MiB, now and at its highest."""
    try:
        with open("/proc/self/status") as f:
            kib = {k: int(v.split()[0]) for k, v in (x.split(":", 1) for x in f) if k in ("VmRSS", "VmHWM")}
        return {"now": kib["VmRSS"] / 1024, "peak": kib["VmHWM"] / 1024}
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
        return {"now": peak, "peak": peak}


def forget_peak():
    """The high-water mark starts again from what is resident now, where the system can do that."""
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass
