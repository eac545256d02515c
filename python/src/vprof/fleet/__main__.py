"""`python -m vprof.fleet report DIR`, which `vprof fleet report DIR` runs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from .slices import COLUMNS, Condition, Selection, nanoseconds


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="vprof fleet", description="add up the tables of many hosts, versions and days"
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    report = verbs.add_parser("report", help="what the latency of a fleet varies with, and where")
    report.add_argument("directory", nargs="+", type=Path, help="what vprof export --parquet wrote")
    add_selection(report)
    report.add_argument("--json", action="store_true", help="print JSON")
    report.add_argument(
        "--skip-bad", action="store_true",
        help="leave out recordings that cannot be used, and say so",
    )  # fmt: skip
    report.add_argument("--memory", default="", metavar="SIZE", help="at most, such as 4GB")
    report.add_argument("--threads", type=int, default=0, metavar="N")
    return parser.parse_args(arguments)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that say which intervals count, also of the Spark job."""
    parser.add_argument(
        "--where", action="append", default=[], metavar="COLUMN=VALUE",
        help=f"only these; {', '.join(COLUMNS)}; also COLUMN!=VALUE; may be repeated",
    )  # fmt: skip
    parser.add_argument("--by", default="", metavar="COLUMN", help="a row for each value")
    parser.add_argument("--interval", default="", metavar="NAME", help="the name of the intervals")
    parser.add_argument("--since", default="", metavar="TIME", help="intervals that begin then on")
    parser.add_argument("--until", default="", metavar="TIME", help="intervals that begin earlier")
    parser.add_argument("--slower-than", default="", metavar="LATENCY", help="such as 50ms")


def selection_of(options: argparse.Namespace) -> Selection:
    return Selection(
        tuple(Condition.parse(text) for text in options.where),
        options.by,
        options.interval,
        options.since,
        options.until,
        nanoseconds(options.slower_than) if options.slower_than else None,
    )


def _report(options: argparse.Namespace) -> str:
    # Parsing the command line needs none of this.
    from . import duck, files, json_text, report, text

    selection = selection_of(options)
    found = files.find(
        options.directory, skip_bad=options.skip_bad, from_intervals=selection.needs_intervals
    )
    with tempfile.TemporaryDirectory(prefix="vprof-fleet-") as temporary:
        engine = duck.DuckEngine(
            found, memory=options.memory, threads=options.threads, temporary=Path(temporary)
        )
        made = report.make_report(
            engine, selection, skipped=found.skipped, incomplete_exports=found.incomplete
        )
    if options.json:
        return json_text.to_json(made)
    return text.to_text(made, min(shutil.get_terminal_size((80, 24)).columns, 100))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(sys.argv[1:] if arguments is None else arguments)
    try:
        print(_report(options), flush=True)
    except InputError as error:
        print(f"vprof fleet: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"vprof fleet: needs the Python package {error.name}: "
              f"pip install {error.name}", file=sys.stderr)  # fmt: skip
        return 2
    except BrokenPipeError:
        _forget_output()
    except OSError as error:
        _forget_output()
        print(f"vprof fleet: cannot write to standard output: {error.strerror}", file=sys.stderr)
        return 2
    return 0


def _forget_output() -> None:
    """What is not written yet cannot be, and would be tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
