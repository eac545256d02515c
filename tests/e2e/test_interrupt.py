"""Interrupted at any step, the loop leaves no process behind and a state from which `vprof loop` continues.

Nothing here has a deadline: a loop that hangs runs into the time limit of the whole test.
"""

import json
import os
import signal
import subprocess
import time

from e2e import (
    arguments,
    check_conservation,
    copy_example,
    fingerprint,
    first_of_its_own,
    load_report,
    main,
    require,
    require_unchanged,
    run,
    unqualified,
)

# The file that shows that the loop has reached a step: each step creates its log when it begins.
STEPS = [
    ("mirror and first build", "mirror", signal.SIGINT),
    ("index", "cache", signal.SIGINT),
    ("instrument", "iterations/1/instrument.log", signal.SIGINT),
    ("build", "iterations/1/build.log", signal.SIGINT),
    ("run", "iterations/1/run.log", signal.SIGINT),
    ("terminated build", "iterations/2/build.log", signal.SIGTERM),
    ("killed run", "iterations/2/run.log", signal.SIGKILL),
]


def session_is_gone(session):
    """Whether no process of the session is left; zombies do not count."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                state, _, _, of_session = file.read().rsplit(")", 1)[1].split()[:4]
        except (OSError, ValueError, IndexError):
            continue  # it has ended
        if int(of_session) == session and state != "Z":
            return False
    return True


def interrupt(vprof, example, step, mark, how):
    """Starts the loop in a session of its own, as a terminal would, and sends it `how` once `mark` exists."""
    loop = subprocess.Popen(
        [str(vprof), "-C", str(example), "loop", "--auto"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    began = time.time()
    mark = example / ".vprof" / mark
    while loop.poll() is None and not (mark.exists() and mark.stat().st_mtime >= began - 1):
        time.sleep(0.005)
    if loop.poll() is not None:
        raise SystemExit(f"FAILED: {step}: the loop ended before {mark} appeared: {loop.stderr.read()}")
    os.killpg(loop.pid, how)
    _, errors = loop.communicate()
    messages = [line for line in errors.splitlines() if line.startswith("vprof: ")]  # the rest is progress
    print(f"{step}: status {loop.returncode} {messages}", flush=True)
    if how != signal.SIGKILL:
        require(loop.returncode == 128 + how, f"{step}: exit status {loop.returncode}, not {128 + how}")
        require(len(messages) == 1, f"{step}: not one line that says what happened, but {messages}")
    while not session_is_gone(loop.pid):
        time.sleep(0.05)
    state = example / ".vprof" / "state.json"
    if state.exists():
        json.loads(state.read_text(encoding="utf-8"))


def test():
    options = arguments()
    example = copy_example(options.root, "quickstart-c", options.scratch / "source")
    before = fingerprint(example)
    for step, mark, how in STEPS:
        interrupt(options.vprof, example, step, mark, how)
        require_unchanged(before, example)
    run([options.vprof, "-C", example, "loop", "--auto"])
    require_unchanged(before, example)
    report = load_report(options.vprof, example)
    check_conservation(report)
    first = first_of_its_own(report)["functions"]
    require([unqualified(name) for name in first] == ["compact_shelf"], f"after all interruptions the first one is {first}")
    require(len(report["iterations"]) <= 4, f"{len(report['iterations'])} iterations: interrupted ones were counted")


main(test)
