"""A project that is copied or moved with its `.vprof`, and `vprof build` after a change of the source."""
import json
import shutil
import unittest

import support

# The program is written to an absolute path, as many configure scripts make it.
CONFIGURE = "#!/bin/sh\necho \"top = $PWD\" > config.mk\n"
MAKEFILE = """include config.mk
CFLAGS = -O1 -g
$(top)/prog: $(top)/src/main.o $(top)/src/work.o
\t$(CC) -o $@ $^ $(SIMULATED_CLOCK)
$(top)/src/%.o: $(top)/src/%.c $(top)/src/work.h
\t$(CC) $(CFLAGS) -c $< -o $@
"""


def contents(directory):
    return {str(path.relative_to(directory)): (path.lstat().st_mtime_ns, path.read_bytes())
            for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink()}


class Moved(support.Project):
    def setUp(self):
        super().setUp()
        self.write("configure", CONFIGURE).chmod(0o755)
        self.write("Makefile", MAKEFILE)
        self.config('"build": "make"', '"configure": "./configure", "build": "make"')
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
        self.assertIn(f"was made in {self.old}: copying and building the program again", done.stderr)
        self.assertEqual(self.measured(), 200)
        self.assertEqual(before, contents(self.old))
        self.assertIn("VPROF_", (self.root / ".vprof/mirror/src/main.c").read_text())
        # Once is enough.
        self.assertNotIn("was made in", self.vprof("build").stderr)

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
        # The build takes the program for done, and writes it where vprof must not delete it.
        outside = self.root.parent / "bin"
        outside.mkdir()
        self.write("Makefile", support.MAKEFILE.replace("prog: ", f"all: ; test -e '{outside}/prog' || $(MAKE) prog\nprog: ")
                   .replace("-o $@ src/main.o", f"-o '{outside}/prog' src/main.o"))
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
        self.assertIn("instrumented as before", self.vprof("build").stderr)
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
        self.assertIn("built without instrumentation", self.vprof("build").stderr)
        self.change()
        self.assertIn("built without instrumentation", self.vprof("build").stderr)


if __name__ == "__main__":
    unittest.main()
