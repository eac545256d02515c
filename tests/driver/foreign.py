"""Programs and builds that are not made for vprof: daemons, compilers by their full path, static helpers, links out of the tree."""
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import support
from support import Project

# fork, setsid, fork, as daemon programs do. It then lives until it is asked to end.
DAEMON_C = """#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "work.h"

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }
static int order(int i) {
  int sum = step(i);
  sum += finish(i);
  return sum;
}

int main(void) {
  if (fork() > 0) return 0;
  setsid();
  if (fork() > 0) return 0;
  signal(SIGTERM, stop);
  int sum = 0;
  for (int i = 0; i < 50; ++i) sum += order(i);
  FILE *file = fopen("pid.new", "w");
  fprintf(file, "%d", getpid());
  fclose(file);
  rename("pid.new", "pid");
  while (!stopped) usleep(1000);
  return sum < 0;
}
"""

# Starts a program in the way that the first argument says.
STARTS_C = """#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int waited(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status != 0;
}

int main(int argc, char **argv) {
  const char *way = argv[1];
  char **to = argv + 2;
  pid_t pid = 0;
  if (!strncmp(way, "execl", 5)) {  /* a shell, so that the number of arguments is known */
    char text[8192] = "exec";
    for (int i = 0; to[i]; ++i) strcat(strcat(strcat(text, " '"), to[i]), "'");
    if (!strcmp(way, "execl")) execl("/bin/sh", "sh", "-c", text, (char *)0);
    if (!strcmp(way, "execlp")) execlp("sh", "sh", "-c", text, (char *)0);
    char *none[] = {0};
    if (!strcmp(way, "execle")) execle("/bin/sh", "sh", "-c", text, (char *)0, none);
  }
  if (!strcmp(way, "execv")) execv(to[0], to);
  if (!strcmp(way, "execvp")) execvp(to[0], to);
  if (!strcmp(way, "execvpe")) execvpe(to[0], to, environ);
  if (!strcmp(way, "execve")) execve(to[0], to, environ);
  if (!strcmp(way, "spawn")) return posix_spawn(&pid, to[0], 0, 0, to, environ) || waited(pid);
  if (!strcmp(way, "spawnp")) return posix_spawnp(&pid, to[0], 0, 0, to, environ) || waited(pid);
  if (!strcmp(way, "vfork")) {
    if ((pid = vfork()) == 0) { execv(to[0], to); _exit(127); }
    return waited(pid);
  }
  char text[8192] = "";
  for (int i = 0; to[i]; ++i) strcat(strcat(strcat(text, " '"), to[i]), "'");
  return system(text) != 0;
}
"""

START = "rm -f pid; ./prog; while ! test -e pid; do sleep 0.05; done"


class Daemons(Project):
    def setUp(self):
        super().setUp()
        self.write("src/main.c", DAEMON_C)

    def run_command(self, text):
        self.config('"./prog"', f'"{text}"')

    def test_a_daemon_is_stopped_and_waited_for(self):
        self.run_command(START + "; kill $(cat pid); while kill -0 $(cat pid) 2> /dev/null; do sleep 0.05; done")
        done = self.vprof("loop", "--auto", "--max-iterations", "1")
        self.assertNotIn("left processes", done.stderr)

    def test_a_daemon_that_outlives_the_workload_is_ended(self):
        self.run_command(START)
        done = self.vprof("loop", "--auto", "--max-iterations", "1")
        self.assertIn("left processes running (prog)", done.stderr)
        pid = (self.root / ".vprof/mirror/pid").read_text()
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_a_workload_that_hangs_is_announced_once(self):
        # The clock of the driver runs a thousand times as fast, the runtime's as usual.
        self.run_command(START + "; while ! test -e go; do sleep 0.05; done; kill $(cat pid)")
        self.config('"build"', '"env": { "VPROF_PATIENCE": "1" }, "build"')
        self.vprof("index")
        self.vprof("instrument")
        self.vprof("build")
        child = self.start("record", env={**os.environ, "VPROF_PATIENCE": "0.001"})
        said = child.stderr.readline()
        while "has not ended" not in said:
            self.assertNotEqual(said, "", "no line about the workload that hangs")
            said = child.stderr.readline()
        self.assertIn("run_timeout", said)
        (self.root / ".vprof/mirror/go").touch()
        rest = child.communicate()[1]
        self.assertEqual(child.returncode, 0, rest)
        self.assertNotIn("has not ended", rest)

    def test_a_time_limit(self):
        self.run_command(START + "; sleep 1000")
        self.config('"build"', '"run_timeout": 3, "build"')
        self.fails("loop", "--auto", words=["ran for longer than 3 s", "was ended"])
        pid = self.root / ".vprof/mirror/pid"
        # On a busy machine the daemon may not have come so far.
        self.assertFalse(pid.exists() and os.path.exists(f"/proc/{pid.read_text()}"))


class Measured(Project):
    gcc = shutil.which("gcc")

    def measured(self):
        """Searches once and checks that both files were compiled once, and are measured."""
        self.vprof("loop", "--auto", "--max-iterations", "1")
        entries = json.loads((self.root / ".vprof/compile_commands.json").read_text())
        files = sorted(os.path.basename(entry["file"]) for entry in entries)
        self.assertEqual(files, ["main.c", "work.c"])
        for entry in entries:
            if "arguments" in entry:
                self.assertEqual(entry["arguments"].count("-DVPROF_ENABLED"), 1, entry)
        report = json.loads((self.root / ".vprof/report.json").read_text())
        self.assertIn("step", [f for factor in report["factors"] for f in factor["functions"]])


class FullPaths(Measured):
    """Compilers that the shims on PATH do not see."""

    def build_with(self, compiler):
        self.write("Makefile", support.MAKEFILE.replace("$(CC)", compiler))

    def test_in_a_makefile(self):
        self.build_with(self.gcc)
        self.measured()

    def test_on_the_command_line(self):
        self.config('"make"', f'"make CC={self.gcc}"')
        self.measured()

    def test_relative_to_the_directory(self):
        self.build_with("../" * 20 + self.gcc[1:])
        self.measured()

    def test_a_cleared_environment(self):
        self.config('"make"', f'"env -i {shutil.which("make")} CC={self.gcc}"')
        self.measured()

    def test_another_path(self):
        self.config('"make"', '"PATH=/usr/bin:/bin make"')
        self.measured()

    def test_a_link_of_another_name(self):
        link = self.root.parent / "mycompiler"
        link.symlink_to(self.gcc)
        self.config('"make"', f'"make CC=\'\\\"{link}\\\"\'"')
        self.measured()

    def test_a_wrapper_script_in_the_tree(self):
        self.write("tools/cc", f'#!/bin/sh\nexec {self.gcc} -DWRAPPED "$@"\n').chmod(0o755)
        self.build_with("tools/cc")
        self.measured()

    @unittest.skipUnless(shutil.which("ccache"), "needs ccache")
    def test_ccache_by_its_full_path(self):
        env = {"CCACHE_DIR": str(self.root.parent / "ccache")}
        self.config('"build"', f'"env": {json.dumps(env)}, "build"')
        for launcher in ("ccache", shutil.which("ccache")):
            self.build_with(f"{launcher} {self.gcc}")
            self.measured()
            shutil.rmtree(self.root / ".vprof")

    def test_ways_to_start_a_program(self):
        self.write("starts.c", STARTS_C)
        subprocess.run(["gcc", "-D_GNU_SOURCE", "starts.c", "-o", self.root.parent / "starts"], cwd=self.root, check=True)
        for way in ("execv", "execvp", "execvpe", "execve", "execl", "execlp", "execle", "spawn", "spawnp", "vfork", "system"):
            with self.subTest(way):
                self.build_with(f'"{self.root.parent}/starts" {way} {self.gcc}')
                self.measured()
                shutil.rmtree(self.root / ".vprof")

    @unittest.skipUnless(shutil.which("cmake"), "needs cmake")
    def test_cmake(self):
        (self.root / "Makefile").unlink()
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p C)\n"
                   "add_executable(prog src/main.c src/work.c)\n")
        self.config('"make"', '"cmake --build build"')
        self.config('"./prog"', '"build/prog"')
        for generator in ["Unix Makefiles"] + ["Ninja"] * bool(shutil.which("ninja")):
            with self.subTest(generator):
                text = (self.root / "vprof.json").read_text()
                self.config('"build"', f'"configure": "CC={self.gcc} cmake -G \'{generator}\' -S . -B build", "build"')
                self.measured()
                shutil.rmtree(self.root / ".vprof")
                self.write("vprof.json", text)

    def test_the_documented_cure(self):
        self.build_with(self.gcc)
        flags = ["-O1", "-g", "-c"]
        entries = [{"directory": str(self.root), "file": f"src/{name}.c", "arguments": [self.gcc, *flags, f"src/{name}.c"]}
                   for name in ("main", "work")]
        self.write("db.json", json.dumps(entries))
        self.config('"build"', '"compile_commands": "db.json", "build"')
        self.measured()

    def test_programs_of_the_build_get_nothing_preloaded(self):
        # A sanitizer insists on being the first library.
        self.write("generate.c", '#include <stdio.h>\n#include <stdlib.h>\n'
                   'int main(void) { const char *p = getenv("LD_PRELOAD"); puts(p ? p : "none"); return 0; }\n')
        self.write("Makefile", support.MAKEFILE.replace("$(CC)", self.gcc)
                   .replace("prog:", f"prog: generated\ngenerated:\n\t{self.gcc} -fsanitize=address generate.c -o generate\n"
                            "\t./generate > generated\nprog:"))
        self.vprof("index")
        self.assertEqual((self.root / ".vprof/mirror/generated").read_text(), "none\n")


class OtherPlaces(Measured):
    """Sources that are reached in other ways than by a relative path in the tree."""

    def test_a_linked_directory(self):
        for target in ("../shared", str(self.root.parent / "shared")):
            with self.subTest(target):
                (self.root / "src").rename(self.root.parent / "shared")
                (self.root / "src").symlink_to(target)
                self.measured()
                shutil.rmtree(self.root / ".vprof")
                (self.root / "src").unlink()
                (self.root.parent / "shared").rename(self.root / "src")

    def test_a_linked_file(self):
        (self.root / "src/main.c").rename(self.root.parent / "elsewhere.c")
        (self.root / "src/main.c").symlink_to("../../elsewhere.c")
        self.measured()

    def test_a_workspace_behind_a_link(self):
        real = self.root.parent / "disk"
        real.mkdir()
        (self.root / ".vprof").symlink_to(real)
        self.measured()

    def test_a_configuration_named_through_a_link(self):
        link = self.root.parent / "link"
        link.symlink_to(self.root)
        text = (self.root / "vprof.json").read_text()
        self.vprof("--config", f"{link}/vprof.json", "loop", "--auto", "--max-iterations", "1")
        self.write("vprof.json", text)
        report = json.loads((self.root / ".vprof/report.json").read_text())
        self.assertIn("step", [f for factor in report["factors"] for f in factor["functions"]])

    def test_absolute_paths_into_the_tree(self):
        root = str(self.root).replace(" ", "\\ ")
        self.write("Makefile", support.MAKEFILE.replace("-c $<", f"-I{root}/src -c {root}/$<"))
        self.measured()
        self.assertEqual(sorted((self.root / "src").glob("*.o")), [])

    def test_absolute_paths_in_cmake(self):
        (self.root / "Makefile").unlink()
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p C)\n"
                   "include_directories(src)\nadd_executable(prog src/main.c src/work.c)\n")
        self.config('"make"', '"cmake --build build"')
        self.config('"./prog"', '"build/prog"')
        self.config('"build"', f'"configure": "cmake -S \'{self.root}\' -B build", "build"')
        self.measured()

    def test_a_build_in_the_source_tree_is_refused(self):
        self.config('"make"', f'"make -C \'{self.root}\'"')
        self.fails("loop", "--auto", words=["source tree itself", str(self.root), "absolute path"])

    def test_files_of_nobodys_tree_are_told(self):
        (self.root / "src/work.c").rename(self.root.parent / "work.c")
        self.write("Makefile", support.MAKEFILE.replace("%.o", "src/work.o: ../../../../work.c\n"
                   "\t$(CC) -g -Isrc -c '" + str(self.root.parent / "work.c") + "' -o $@\n%.o")
                   .replace("../../../../work.c", ""))
        self.assertIn("1 of 2 compiled files are not in the source tree", self.vprof("index").stderr)


class StaticPrograms(Project):
    def test_a_static_helper_of_instrumented_objects(self):
        for way in ("-static", "-static-pie", "-Wl,-O1 --static"):
            with self.subTest(way):
                self.write("Makefile", support.MAKEFILE.replace("prog: src/main.o", "prog: helper src/main.o") +
                           f"helper: src/main.o src/work.o\n\t$(CC) {way} -o $@ src/main.o src/work.o\n"
                           "CFLAGS += -fPIE\n")
                done = self.vprof("loop", "--auto", "--max-iterations", "2")
                self.assertIn("linked statically and therefore not measured: helper", done.stderr)
                subprocess.run([self.root / ".vprof/mirror/helper"], check=True, capture_output=True)
                shutil.rmtree(self.root / ".vprof")

    def test_the_stub_has_every_name_of_the_runtime(self):
        self.vprof("index")
        library = self.root / ".vprof/runtime/lib"

        def names(*arguments):
            out = subprocess.run(["nm", *arguments], check=True, capture_output=True, text=True).stdout
            return {line.split()[-1] for line in out.splitlines() if " vprof_" in line and " U " not in line}
        self.assertLessEqual(names("-D", "--defined-only", library / "libvprof.so"), names(library / "libvprof-stub.a"))

    def test_everything_is_static(self):
        self.config('"make"', '"make CC=\'cc -static\'"')
        self.fails("loop", "--auto", words=["linked statically", "prog", "-static"])

    def test_configuration_tests_are_not_reported(self):
        self.config('"build"', '"configure": "echo \'int main(void) { return 0; }\' > conftest.c; '
                    'cc -static conftest.c -o conftest; rm conftest*", "build"')
        self.assertNotIn("statically", self.vprof("index").stderr)

    def test_the_program_of_the_workload_is_static(self):
        self.config('"make"', '"make && cc -static -o fixed src/main.o src/work.o"')
        self.config('"./prog"', '"./fixed"')
        self.fails("loop", "--auto", words=["linked statically, as fixed"])


class Outputs(Project):
    """Output of vprof in the source tree is no source."""

    def again(self, command):
        """The standard error and output of a verb that would notice a change of the source."""
        done = subprocess.run(["sh", "-c", command], cwd=self.root, env={**os.environ, "VPROF": support.VPROF},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout + done.stderr
        for path in self.root.glob("out*"):
            text += path.read_text()
            path.unlink()
        self.assertNotIn("source changed", text)
        self.assertNotIn("as it is, to learn", text)

    def test_all_ways_to_write_there(self):
        subprocess.run(["sh", "-c", "$VPROF init > init.log; $VPROF loop --auto --max-iterations 1 > loop.log 2>&1"],
                       cwd=self.root, env={**os.environ, "VPROF": support.VPROF}, check=True)
        def begun(file, command):  # what reads the pipe has opened its file by then
            return "{ until test -e " + file + "; do sleep 0.01; done; " + command + "; }"

        for command in ('"$VPROF" index > out1', '"$VPROF" index > out2 2>&1',
                        begun("out3", '"$VPROF" index 2>&1') + " | tee out3",
                        begun("out4", '"$VPROF" index') + " | cat | tee out4", '"$VPROF" index > src/out5',
                        '"$VPROF" report > report.txt; "$VPROF" index',
                        begun("report.json", '"$VPROF" report --json') + ' | tee report.json; "$VPROF" index',
                        '"$VPROF" diff .vprof/profile.vprof .vprof/profile.vprof > diff.txt; "$VPROF" index',
                        '"$VPROF" merge .vprof/profile.vprof -o sum.vprof; "$VPROF" index',
                        '"$VPROF" export --csv all.csv --folded f.txt; "$VPROF" index',
                        '"$VPROF" analyze --profile p.vprof > /dev/null; "$VPROF" index',
                        '"$VPROF" init > init.log; "$VPROF" index', '"$VPROF" check > check.log; "$VPROF" index'):
            with self.subTest(command):
                command = command.replace('"$VPROF" init > init.log;', '"$VPROF" init > init.log || true;')
                self.again(command)
        # The source itself is still watched.
        self.write("src/new.c", "int new;\n")
        self.assertIn("source changed", self.vprof("index").stdout)


class Directories(Project):
    def test_a_colon_in_the_path(self):
        odd = self.root.parent / "a:b"
        self.root.rename(odd)
        self.root = odd
        self.fails("index", words=["a:b", "colon", "rename"])
        done = self.vprof("check", code=2)
        self.assertRegex(done.stdout, r"PROBLEM +directory: .*colon")

    def test_a_workspace_that_cannot_be_made(self):
        self.write(".vprof", "a file")
        self.assertRegex(self.vprof("check", code=2).stdout, r"PROBLEM +.vprof: .* is not a directory")
        (self.root / ".vprof").unlink()
        os.chmod(self.temporary.name, 0o755)
        self.root.chmod(0o555)
        self.addCleanup(self.root.chmod, 0o755)
        command = [support.VPROF, "check"]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid", "65534", "--clear-groups", *command]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
        self.assertRegex(done.stdout, r"PROBLEM +.vprof: cannot write")
        self.assertEqual(done.returncode, 2)


class Comparisons(Project):
    def prepared(self):
        self.vprof("loop", "--auto", "--max-iterations", "1")

    def test_another_command_has_no_baseline(self):
        self.prepared()
        self.vprof("record", "--", "env", "X=1", "./prog")
        done = self.vprof("analyze", "--json")
        self.assertIn("baseline, which is of another command (/bin/sh -c ./prog)", done.stderr)
        self.assertEqual(json.loads(done.stdout)["overhead"]["baseline_mean_ns"], 0)
        self.vprof("record", "--baseline", "--", "env", "X=1", "./prog")
        done = self.vprof("analyze", "--json")
        self.assertNotIn("another command", done.stderr)
        self.assertGreater(json.loads(done.stdout)["overhead"]["baseline_mean_ns"], 0)
        # The loop measures its own again.
        self.assertNotIn("another command", self.vprof("loop", "--auto", "--restart", "--max-iterations", "1").stderr)

    def test_instrument_follows_the_intervals(self):
        self.prepared()
        self.config('"function": "order"', '"function": "deep"')
        done = self.vprof("instrument")
        self.assertIn("starting a new search", done.stdout)
        self.assertIn("1 function expanded", done.stdout)
        self.assertNotIn("VPROF_", (self.root / ".vprof/mirror/src/main.c").read_text())
        self.assertNotIn("starting a new search", self.vprof("instrument").stdout)
        self.vprof("build")
        self.vprof("record")
        self.vprof("analyze")


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class OtherUsers(Project):
    def test_the_runtime_may_be_installed_where_the_program_may_not_enter(self):
        os.chmod(self.temporary.name, 0o755)
        parts = json.loads((Path(support.VPROF).parent / "vprof-locations.json").read_text())
        private = self.root.parent / "private"
        private.mkdir(mode=0o700)
        for file in Path(parts["runtime"]).parent.glob("libvprof*"):
            shutil.copy2(file, private, follow_symlinks=False)
        parts["runtime"] = str(private / "libvprof.so")
        locations = self.root.parent / "locations.json"
        locations.write_text(json.dumps(parts))
        self.config('"./prog"', '"setpriv --reuid 65534 --clear-groups ./prog"')
        self.vprof("loop", "--auto", "--max-iterations", "1", env={"VPROF_LOCATIONS": str(locations)})


if __name__ == "__main__":
    unittest.main()
