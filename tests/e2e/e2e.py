"""What the end-to-end tests share. Standard library only."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


INCONCLUSIVE = 77  # exit status; ctest's SKIP_RETURN_CODE


class Failure(Exception):
    """A claim that did not hold; the message says which."""


class Inconclusive(Exception):
    """Nothing can be said about the claims; the message says why."""


def require(condition, message):
    if not condition:
        raise Failure(message)


def arguments(*extra):
    parser = argparse.ArgumentParser()
    parser.add_argument("--vprof", required=True, type=Path, help="the vprof to test")
    parser.add_argument("--root", required=True, type=Path, help="the source tree of VProfiler")
    parser.add_argument("--scratch", required=True, type=Path, help="a directory that may be deleted")
    for option in extra:
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    return options


def main(test):
    """Runs test() and turns a Failure into one line and exit status 1, Inconclusive into exit status 77."""
    try:
        test()
    except Inconclusive as reason:
        print(f"INCONCLUSIVE: {reason}", file=sys.stderr)
        sys.exit(INCONCLUSIVE)
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
    print("ok")


def copy_example(root, name, to):
    """Without what a run of it by hand may have left behind."""
    left_behind = shutil.ignore_patterns(".vprof", "build", "work", "*.o", "*.d", "order_service", "*.journal")
    shutil.copytree(root / "examples" / name, to, ignore=left_behind, symlinks=True)
    for shared in (root / "examples").glob("*.sh"):
        shutil.copy2(shared, to.parent)
    return to


def fingerprint(tree):
    """Every file and directory below `tree` but .vprof: content, mode and time of change."""
    found = {}
    for directory, names, files in os.walk(tree):
        names[:] = [name for name in names if name != ".vprof"]
        for name in names + files:
            path = Path(directory, name)
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path.relative_to(tree))] = (content, status.st_mode, status.st_mtime_ns)
    return found


def require_unchanged(before, tree):
    after = fingerprint(tree)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    require(not changed, f"the source tree was changed: {', '.join(changed[:10])}")


def run(command, cwd=None, env=None):
    """Runs to the end; its output is shown. Failure if the exit status is not 0."""
    print("+", " ".join(str(word) for word in command), flush=True)
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, check=False)
    require(done.returncode == 0, f"{command[0]} exited with status {done.returncode}")


def load_answer(vprof, directory, *command):
    """What a command of vprof answers with --json."""
    done = subprocess.run([str(vprof), "-C", str(directory), *command, "--json"], stdout=subprocess.PIPE, check=False)
    require(done.returncode == 0, f"vprof {command[0]} exited with status {done.returncode}")
    return json.loads(done.stdout)


def load_report(vprof, directory):
    return load_answer(vprof, directory, "report")


# --- what must hold for every report ---------------------------------------------------------------------------

TOLERANCE = 1e-9


def close(actual, expected, scale):
    """Equal within 1e-9 of the greatest term: sums of terms that cancel cannot be more exact than their terms."""
    return abs(actual - expected) <= TOLERANCE * max(abs(expected), scale, 1e-9)


def check_node(node, path):
    children = node["children"]
    if not children:
        return
    here = " > ".join(path)
    contributions = [child["contribution"] for child in children]
    contributions += [pair["contribution"] for pair in node["covariances"]]
    claims = [
        ("contributions of children and covariances", contributions, node["contribution"]),
        ("shares of children", [child["share"] for child in children], node["share"]),
        ("means of children", [child["mean_ns"] for child in children], node["mean_ns"]),
    ]
    for what, terms, total in claims:
        require(
            close(sum(terms), total, max(abs(term) for term in terms)),
            f"{what} add up to {sum(terms)!r}, not {total!r}, at {here}",
        )
    for child in children:
        check_node(child, path + [child["function"]])


def check_conservation(report):
    """Var and 2 Cov of the children add up to the parent, and so do shares and means, at every node."""
    tree = report["tree"]
    require(tree["children"], "the variance tree has no children")
    variance, mean = report["interval"]["variance_ns2"], report["interval"]["mean_ns"]
    require(close(tree["variance_ns2"], variance, 0), "the root's variance is not that of the latency")
    require(close(tree["mean_ns"], mean, 0), "the root's mean is not that of the latency")
    require(close(tree["contribution"], 1.0, 0), "the root's contribution is not 1")
    check_node(tree, [tree["function"]])


def first_of_its_own(report):
    """The first factor of the program itself. Other programs on the machine may preempt it, which says nothing about it."""
    own = [factor for factor in report["factors"] if "preempted" not in factor["functions"]]
    require(own, "no factors")
    return own[0]


def factor_names(report):
    return [name for factor in report["factors"] for name in factor["functions"]]


def unqualified(name):
    return name.split("(")[0].split("::")[-1] if "::" in name else name
