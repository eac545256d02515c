"""The server of `vprof mcp`: lets an assistant read what vprof found (Model Context Protocol, on standard streams).

Every tool runs one verb of vprof with --json and passes on its answer, shortened where it could be of any length. All of
them only read, but for the one that --allow-runs adds.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
    from pydantic import Field
except ImportError as missing:
    print(
        f"vprof: mcp needs the Python package mcp, version 2, which {sys.executable} does not have ({missing}); "
        'install it with: python3 -m venv ~/.local/share/vprof/python && '
        '~/.local/share/vprof/python/bin/pip install "mcp>=2,<3"; VPROF_PYTHON names another Python',
        file=sys.stderr,
    )
    sys.exit(2)

INSTRUCTIONS = """vprof explains the variance of the latency of a C or C++ server: which functions, lock waits, queues and
I/O make some requests slow. Begin with `iterations` and `factors`. A factor's share is the part of the variance that goes
with it; a wait's blame is what other threads did meanwhile. `timeline` shows one slow interval piece by piece (ids are in
`factors` under "worst"), `annotate` the source of a function with what its calls cost, `diff` whether a change helped.
Times end in _ns; shares and contributions are parts of 1; ids are texts."""

Iteration = Annotated[int, Field(ge=0, description="iteration of the search; 0: the last one")]
Function = Annotated[str, Field(min_length=1, description="name; if several functions have it, name@file")]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
MOST_INSTANCES = 5


class Vprof:
    """The command line, in the directory where the server was started."""

    def __init__(self, program, config):
        self.command = [program, "--config", config]

    async def text(self, *arguments, report=None):
        """Standard output of a verb. Its error is one line for people, which the assistant gets as it is."""
        process = await asyncio.create_subprocess_exec(
            *self.command,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,  # ours is the assistant's
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**20,
        )
        try:
            out, last = await asyncio.gather(process.stdout.read(), self.last_line(process.stderr, report))
            await process.wait()
        finally:
            if process.returncode is None:  # the assistant has lost interest
                process.terminate()
                await process.wait()
        if process.returncode != 0 and not out.strip():
            raise ToolError(last or f"vprof {arguments[0]} ended with exit code {process.returncode}")
        return out.decode(errors="replace")

    async def answer(self, verb, *arguments, report=None):
        text = await self.text(verb, "--json", *arguments, report=report)
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ToolError(f"vprof {verb} --json printed no JSON: {error}") from error

    @staticmethod
    async def last_line(stream, report):
        last = ""
        while line := await stream.readline():
            last = line.decode(errors="replace").strip() or last
            if report:
                await report(last)
        return last


def shortened(factor):
    """Without the places that weigh least."""
    more = max(0, len(factor["instances"]) - MOST_INSTANCES)
    return factor | {"instances": factor["instances"][:MOST_INSTANCES], "more_instances": more}


def pruned(node, least):
    """The tree without nodes whose contribution and share are below `least`; each says how many that are."""
    kept = [child for child in node["children"] if max(abs(child["share"]), abs(child["contribution"])) >= least]
    own = {name: value for name, value in node.items() if name not in ("children", "covariances", "key") and value != ""}
    return own | {"left_out": len(node["children"]) - len(kept), "children": [pruned(child, least) for child in kept]}


def profile_of(name, state):
    """The file of a profile: iterations are numbers."""
    if name.isdigit():
        return str(state / "iterations" / name / "profile.vprof")
    if name.startswith("-"):
        raise ToolError(f"{name}: not the name of a profile; give the number of an iteration, a file or a directory")
    return name


def make_server(vprof, state):
    server = MCPServer("vprof", title="VProfiler", instructions=INSTRUCTIONS, log_level="WARNING")

    @server.tool(annotations=READS)
    async def iterations() -> dict[str, Any]:
        """What each iteration of the search expanded, measured and found, with the latency and the leading factors."""
        return await vprof.answer("history")

    @server.tool(annotations=READS)
    async def factors(
        iteration: Iteration = 0,
        most: Annotated[int, Field(ge=1, le=200, description="how many, by rank")] = 10,
    ) -> dict[str, Any]:
        """The latency of the intervals and the ranked factors: functions, waits and queues that explain its variance,
        each with its share, confidence interval, places and exemplars. Also what measuring cost, and what was lost."""
        report = await vprof.answer("report", *of(iteration))
        kept = [shortened(factor) for factor in report["factors"][:most]]
        left = len(report["factors"]) - len(kept)
        names = ("interval", "overhead", "losses", "k", "threshold", "ranking")
        return {"factors": kept, "more_factors": left} | {name: report[name] for name in names if name in report}

    @server.tool(annotations=READS)
    async def tree(
        iteration: Iteration = 0,
        least: Annotated[float, Field(ge=0, le=1, description="leaves out nodes of less share and contribution")] = 0.02,
    ) -> dict[str, Any]:
        """The variance tree: where the time of an interval goes, call by call, with waits and what they are blamed on."""
        report = await vprof.answer("report", *of(iteration))
        return {"tree": pruned(report["tree"], least)}

    @server.tool(annotations=READS)
    async def timeline(
        interval: Annotated[str, Field(pattern="^[0-9a-f-]+$", description="its id or key, or a W3C trace id")],
        most: Annotated[int, Field(ge=1, le=5000, description="how many pieces, the longest")] = 100,
    ) -> dict[str, Any]:
        """One interval piece by piece: its critical path over all threads. Its id is in `factors` under "worst"."""
        answer = await vprof.answer("timeline", "--", interval)
        pieces = answer["pieces"]
        longest = sorted(pieces, key=lambda piece: piece["from_ns"] - piece["to_ns"])[:most]
        kept = sorted(longest, key=lambda piece: piece["from_ns"])
        left_ns = sum(piece["to_ns"] - piece["from_ns"] for piece in pieces) - sum(
            piece["to_ns"] - piece["from_ns"] for piece in kept
        )
        return answer | {"pieces": kept, "more_pieces": len(pieces) - len(kept), "more_pieces_ns": left_ns}

    @server.tool(annotations=READS)
    async def annotate(function: Function) -> dict[str, Any]:
        """The source of a function with, for each measured call: mean, standard deviation, share of the variance, and
        calls per interval. From the last recording."""
        return await vprof.answer("annotate", "--", function)

    @server.tool(annotations=READS)
    async def graph(function: Function) -> dict[str, Any]:
        """The callers and callees of a function, with files and lines."""
        return await vprof.answer("graph", "--", function)

    @server.tool(annotations=READS)
    async def source(function: Function) -> dict[str, Any]:
        """What is inserted into a function to measure it, as a diff."""
        return await vprof.answer("source", "--", function)

    profile = Field(description="the number of an iteration, or a profile file or directory")

    @server.tool(annotations=READS)
    async def diff(before: Annotated[str, profile], after: Annotated[str, profile]) -> dict[str, Any]:
        """Compares two profiles: figures with confidence intervals, and which factors added or removed variance."""
        return await vprof.answer("diff", "--", profile_of(before, state), profile_of(after, state))

    @server.tool(annotations=READS)
    async def check() -> dict[str, Any]:
        """What is wrong with the configuration or the machine, and how to mend it."""
        return await vprof.answer("check")

    def of(iteration):
        return ("--iteration", str(iteration)) if iteration else ()

    return server


def add_runs(server, vprof):
    @server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False))
    async def loop(
        context: Context,
        max_iterations: Annotated[int, Field(ge=1, le=100, description="stops after this iteration")] = 10,
        restart: Annotated[bool, Field(description="begin a new search; earlier iterations are kept aside")] = False,
    ) -> dict[str, Any]:
        """Builds, runs and measures the program with the commands of vprof.json, again and again, until the factors are
        found. Takes minutes. Continues where the last search ended."""
        seen = 0

        async def report(line):
            nonlocal seen
            seen += 1
            await context.report_progress(seen, message=line)

        arguments = ["--auto", "--max-iterations", str(max_iterations), *(["--restart"] if restart else [])]
        answer = await vprof.answer("loop", *arguments, report=report)
        kept = [shortened(factor) for factor in answer["factors"][:10]]
        return {"interval": answer["interval"], "factors": kept, "iterations": answer["iterations"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vprof", required=True)
    parser.add_argument("--config", default="vprof.json")
    parser.add_argument("--allow-runs", action="store_true")
    options = parser.parse_args()
    vprof = Vprof(options.vprof, options.config)
    server = make_server(vprof, Path(options.config).resolve().parent / ".vprof")
    if options.allow_runs:
        add_runs(server, vprof)
    server.run("stdio")


if __name__ == "__main__":
    main()
