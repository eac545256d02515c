"""Every command of docs/tutorial.md works as it is printed there, one after the other in one shell, and does what the page says.

Commands are the blocks marked `sh`. The shell starts where a fresh clone has been built: a directory with build/release and
examples/quickstart, and a home of its own.
"""

import os
import re
import shutil
import subprocess

from e2e import arguments, copy_example, main, require

MARK = "@@@ end of block"


def blocks(page):
    """The shell blocks, and for each the block of output that follows it before the next one, or ''."""
    found = []
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```", page, re.M | re.S):
        if language == "sh":
            found.append([text, ""])
        elif language == "" and found and not found[-1][1]:
            found[-1][1] = text
    return found


def headings(output):
    """Lines that are there whatever the figures are."""
    fixed = ("Where the variance comes from", "Caveats", "iteration 1: ", "Overhead: ", "done after iteration", " contrib. ")
    return {start for start in fixed for line in output.splitlines() if line.startswith(start)}


def run_blocks(found, directory, home, path):
    """Output of each block; ends with the first command that fails."""
    script = "set -e\nexec 2>&1\n" + "".join(f"{commands}echo '{MARK}'\n" for commands, _ in found)
    env = {**os.environ, "HOME": str(home), "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", script], cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True, check=False)
    print(done.stdout)
    outputs = done.stdout.split(MARK + "\n")
    require(done.returncode == 0, f"block {len(outputs)} failed: {found[min(len(outputs), len(found)) - 1][0]}")
    return outputs


def test():
    options = arguments("--build")
    page = (options.root / "docs/tutorial.md").read_text(encoding="utf-8")
    found = blocks(page)
    require(len(found) >= 5, f"only {len(found)} blocks of commands in docs/tutorial.md")
    clone = options.scratch / "vprofiler"
    (clone / "build").mkdir(parents=True)
    (clone / "build/release").symlink_to(options.build)
    (clone / "examples").mkdir()
    copy_example(options.root, "quickstart", clone / "examples/quickstart")
    home = options.scratch / "home"
    home.mkdir()
    # Only what the page installs: no vprof of this machine may be found instead.
    path = ":".join(p for p in os.environ["PATH"].split(":") if not (shutil.which("vprof", path=p)))
    outputs = run_blocks(found, clone, home, path)

    for (commands, expected), output in zip(found, outputs):
        missing = headings(expected) - headings(output)
        require(not missing, f"{sorted(missing)} is said to be printed by {commands!r}, but is not")
    loops = [output for (commands, _), output in zip(found, outputs) if "vprof loop" in commands]
    require("compact_shelf" in loops[0], "the first search does not name compact_shelf")
    diff = next(output for (commands, _), output in zip(found, outputs) if "vprof diff" in commands)
    require("compact_shelf" in diff, "the comparison does not name compact_shelf")


main(test)
