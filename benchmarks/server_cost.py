#!/usr/bin/env python3
"""Compares the cost of recording that a report states with what it really costs a server: processor
time per request of the server alone, plain, with all sites off, and recorded.

    server_cost.py PROJECT PLAIN --server COMMAND --load COMMAND [--rounds 10] [--slices 20]
                   [--requests 1000] [--vprof build/release/driver/vprof]

PROJECT holds a vprof.json whose program is instrumented (`vprof loop`, or `vprof instrument` and
`vprof build`); PLAIN is the same source tree, built without VProfiler. COMMAND is for the shell;
$PORT is a free port for each server. --load makes --requests requests each time.

Each round starts the three servers anew, from new copies of both directories: one process, and one
place of a program in physical memory, may be slower than the next by some per cent for as long as it
lasts. It loads them in turn by short slices, so that a change of the machine meets all three.
The figures are medians of the rounds, with an interval that contains the true median in 95 of 100
cases (stated_cost.py). All that the processes spend counts, their start too, since the report counts
what it takes to start recording.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from stated_cost import HERE, shown


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def processor_ns(session):
    """Of all threads of a session that are alive."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) == session:
                total += sum(int(task.read_text().split()[0])
                             for task in stat.parent.glob("task/*/schedstat"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


class Server:
    """One of the three, with what it has cost so far."""

    def __init__(self, command, directory, environment):
        port = free_port()
        self.environment = {**os.environ, "PORT": str(port)}
        self.process = subprocess.Popen(["sh", "-c", command], cwd=directory, start_new_session=True,
                                        env={**self.environment, **environment},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.ns, self.seconds = 0, 0.0
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{command}: ended with {self.process.returncode}")
                time.sleep(0.05)

    def slice(self, load):
        began = time.monotonic()
        subprocess.run(["sh", "-c", load], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.seconds += time.monotonic() - began
        self.ns = processor_ns(self.process.pid)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def one_round(options, state, scratch):
    trace, mirror = scratch / "trace", state / "mirror"
    trace.mkdir()
    trace.chmod(0o1777)
    kinds = {"plain": (options.plain, {}), "off": (mirror, {}),
             "recorded": (mirror, {"VPROF_TRACE_DIR": str(trace), "VPROF_SITES": ""})}
    servers = {}
    for kind, (source, environment) in kinds.items():
        shutil.copytree(source, scratch / kind, symlinks=True)
        servers[kind] = Server(options.server, scratch / kind, environment)
    for number in range(options.slices):
        order = list(servers.values())
        for server in order if number % 2 else reversed(order):
            server.slice(options.load)
    for server in servers.values():
        server.stop()
    shutil.copy(state / "sites.json", trace)
    analyzed = subprocess.run([options.vprof, "-C", options.project, "analyze", trace, "--json"],
                              check=True, capture_output=True, text=True)
    return servers, json.loads(analyzed.stdout)["overhead"]["added"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("plain", type=pathlib.Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--load", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--slices", type=int, default=20)
    parser.add_argument("--requests", type=int, default=1000, help="that --load makes")
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    state = options.project.resolve() / ".vprof"
    off, true, stated, rates = [], [], [], []
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="server_cost.") as scratch:
            os.chmod(scratch, 0o755)
            servers, says = one_round(options, state, pathlib.Path(scratch))
        plain, idle, recorded = servers["plain"], servers["off"], servers["recorded"]
        off.append(idle.ns / plain.ns - 1)
        true.append(recorded.ns / plain.ns - 1)
        rates.append(plain.seconds / recorded.seconds)
        stated.append(says)
        each = options.requests * options.slices * 1e3
        print(f"round {number + 1}: {plain.ns / each:.1f} us a request plain, {idle.ns / each:.1f} "
              f"off, {recorded.ns / each:.1f} recorded: {true[-1]:+.1%}; stated {says:+.1%}; "
              f"throughput {rates[-1]:.3f}x", flush=True)
    ratio = statistics.median(stated) / statistics.median(true)
    print(f"recording adds {shown(true, '+.1%')} to the processor time of the server, with all sites "
          f"off {shown(off, '+.1%')}; stated {shown(stated, '+.1%')}, {ratio:.2f} of that; "
          f"throughput {shown(rates, '.3f')}x")


if __name__ == "__main__":
    main()
