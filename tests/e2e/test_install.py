"""An installed tree works wherever it is moved, and find_package(vprof) works for people who annotate."""

import os
from pathlib import Path

from e2e import arguments, copy_example, load_report, main, require, run

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(annotated LANGUAGES C CXX)
find_package(vprof REQUIRED)
add_executable(in_c main.c)
target_link_libraries(in_c PRIVATE vprof::annotations)
add_executable(in_cpp main.cpp)
target_link_libraries(in_cpp PRIVATE vprof::annotations)
"""

# One text for both languages.
PROGRAM = """
#include <vprof/annotations.h>
int main(void) {
  vprof_begin(1);
  vprof_label(1, "only");
  vprof_switch(1);
  vprof_end(1);
  return 0;
}
"""


def check_package(prefix, scratch):
    project = scratch / "annotated"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    (project / "main.c").write_text(PROGRAM, encoding="utf-8")
    (project / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    run(["cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
    run(["cmake", "--build", project / "build"])
    run([project / "build" / "in_c"])
    run([project / "build" / "in_cpp"])


def test():
    options = arguments("--build")
    first, moved = options.scratch / "first", options.scratch / "moved to"
    run(["cmake", "--install", options.build, "--prefix", first])
    first.rename(moved)
    vprof = moved / "bin" / "vprof"
    run([vprof, "--version"])
    check_package(moved, options.scratch)

    # By PATH, as users call it, and with nothing that points to the build tree.
    example = copy_example(options.root, "quickstart-c", options.scratch / "source")
    env = {**os.environ, "PATH": f"{moved / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    run(["vprof", "-C", example, "loop", "--auto", "--max-iterations", "1"], env=env)
    report = load_report(vprof, example)
    require(report["interval"]["count"] == 3000, f"{report['interval']['count']} orders instead of 3000")
    installed = sorted(str(path.relative_to(moved)) for path in Path(moved).rglob("*") if path.is_file())
    print("\n".join(installed))


main(test)
