"""A project that is copied or moved with its `.vprof`, and `vprof build` after a change of the source."""
import json
import shutil
import unittest

import support

# All files are named by absolute paths, which `configure` has found out.
CONFIGURE = "#!/bin/sh\necho \"top='$PWD'\" > config.sh\n"
BUILD = """#!/bin/sh
set -e
. ./config.sh
for unit in main work; do
  source=$top/src/$unit.c object=$top/src/$unit.o
  [ -e "$object" ] && [ ! "$source" -nt "$object" ] || ${CC:-cc} -O1 -g -c "$source" -o "$object"
done
if [ ! -e "PROGRAM" ] RELINK; then
  ${CC:-cc} -o "PROGRAM" "$top/src/main.o" "$top/src/work.o" $SIMULATED_CLOCK
fi
"""
RELINK = "|| [ \"$top/src/main.o\" -nt \"PROGRAM\" ] || [ \"$top/src/work.o\" -nt \"PROGRAM\" ]"


def build_script(program, relink=RELINK):
    return BUILD.replace("RELINK", relink).replace("PROGRAM", program)


def contents(directory):
    return {str(path.relative_to(directory)): (path.lstat().st_mtime_ns, path.read_bytes())
            for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink()}


class Moved(support.Project):
    def setUp(self):
        super().setUp()
        self.write("configure", CONFIGURE).chmod(0o755)
        self.write("build.sh", build_script("$top/prog"))
        self.config('"build": "make"', '"configure": "./configure", "build": "sh ./build.sh"')
        for verb in ("index", "instrument", "build", "record"):
            self.vprof(verb)
        self.old = self.root
        self.root = self.old.parent / "copy"
        shutil.copytree(self.old, self.root, symlinks=True)

    def measured(self):
        self.vprof("record")
        return json.loads(self.vprof("analyze", "--json").stdout)["interval"]["count"]

    def test_a_copy_leaves_the_old_place_alone(self):
        before = contents(self.old)
        self.fails("record", words=[str(self.old), "vprof build"])
        self.fails("instrument", words=[str(self.old), "vprof build"])
        done = self.vprof("build")
        self.assertIn(f"was made in {self.old}: copying and building the program again", done.stdout)
        self.assertEqual(self.measured(), 200)
        self.assertEqual(before, contents(self.old))
        self.assertIn("VPROF_", (self.root / ".vprof/mirror/src/main.c").read_text())
        # Once is enough.
        self.assertNotIn("was made in", self.vprof("build").stdout)

    def test_a_moved_project_does_not_need_the_old_place(self):
        shutil.rmtree(self.old)
        self.vprof("build")
        self.assertEqual(self.measured(), 200)
        self.assertFalse(self.old.exists())

    def test_the_loop_goes_on_in_the_copy(self):
        before = contents(self.old)
        self.vprof("loop", "--auto", "--max-iterations", "2")
        self.assertEqual(before, contents(self.old))


class Outside(support.Project):
    def test_a_program_outside_of_the_copy_is_not_deleted(self):
        outside = self.root.parent / "bin"
        outside.mkdir()
        # The build does not notice that the program is out of date.
        self.write("configure", CONFIGURE).chmod(0o755)
        self.write("build.sh", build_script(f"{outside}/prog", relink=""))
        self.config('"build": "make"', '"configure": "./configure", "build": "sh ./build.sh"')
        self.config('"run": "./prog"', f'"run": "\'{outside}/prog\'"')
        self.vprof("index")
        self.vprof("instrument")
        before = (outside / "prog").stat()
        self.fails("build", words=[f"{outside}/prog", "did not link", "delete it"])
        self.assertEqual(before.st_ino, (outside / "prog").stat().st_ino)
        (outside / "prog").unlink()
        self.vprof("build")
        self.vprof("record")


class BuildAfterChange(support.Project):
    def change(self):
        self.write("src/work.c", "/* a line more */\n" + (self.root / "src/work.c").read_text().replace(
            "int finish(int i) {", "int finish(int i) {\n  if (i < 0) { return step(i); }"))

    def test_what_was_measured_is_measured_again(self):
        self.vprof("index")
        self.vprof("instrument", "--expand", "deep")
        self.vprof("build")
        self.change()
        self.assertIn("instrumented as before", self.vprof("build").stdout)
        text = (self.root / ".vprof/mirror/src/work.c").read_text()
        self.assertIn("a line more", text)
        self.assertRegex(text, r"VPROF_\w+\(\d+(?:, ?\d+)?\) spin\(20000")
        self.vprof("record")
        self.assertEqual(json.loads(self.vprof("analyze", "--json").stdout)["interval"]["count"], 200)

    def test_everything_stays_everything(self):
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.vprof("build")
        self.change()
        self.vprof("build")
        self.assertIn("VPROF_FUNCTION", (self.root / ".vprof/mirror/src/work.c").read_text().split("int never")[1])

    def test_without_a_plan_it_says_what_is_next(self):
        self.assertIn("built without instrumentation", self.vprof("build").stdout)
        self.change()
        self.assertIn("built without instrumentation", self.vprof("build").stdout)


if __name__ == "__main__":
    unittest.main()
