"""`vprof init` and `vprof check`."""
import unittest

from support import Project


class Init(Project):
    def setUp(self):
        super().setUp()
        (self.root / "vprof.json").unlink()

    def written(self):
        self.vprof("init")
        text = (self.root / "vprof.json").read_text()
        # What was written is valid: only the functions and the workload are still to be named.
        self.assertIn("OK       configuration", self.vprof("check").stdout)
        return text

    def test_make(self):
        self.assertIn('"build": "make -j', self.written())

    def test_cmake(self):
        self.write("CMakeLists.txt", "project(p)")
        self.assertIn("cmake --build build", self.written())

    def test_configure(self):
        self.write("configure", "#!/bin/sh\n").chmod(0o755)
        self.assertIn('"configure": "./configure"', self.written())

    def test_autoconf(self):
        self.write("configure.ac", "")
        self.vprof("init")
        self.assertIn("autoreconf", (self.root / "vprof.json").read_text())

    def test_meson(self):
        self.write("meson.build", "")
        self.vprof("init")
        self.assertIn("meson setup build", (self.root / "vprof.json").read_text())

    def test_unknown(self):
        (self.root / "Makefile").unlink()
        self.assertIn("not recognised", self.vprof("init").stdout)

    def test_nothing_is_overwritten(self):
        self.write("vprof.json", "mine")
        self.fails("init", words=["vprof.json", "not overwritten"])
        self.assertEqual((self.root / "vprof.json").read_text(), "mine")


class Check(Project):
    def test_all_is_well(self):
        out = self.vprof("check").stdout
        for what in ("configuration", "source", "vprof", "compiler", "build"):
            self.assertRegex(out, rf"OK +{what}:")
        self.assertFalse((self.root / ".vprof").exists(), "check only looks")

    def test_a_build_tool_that_is_missing(self):
        self.config('"make"', '"no_such_tool -j2"')
        done = self.fails("check", words=["1 problem"])
        self.assertRegex(done.stdout, r"PROBLEM +build: there is no program no_such_tool; install it")

    def test_functions_are_checked_once_there_is_an_index(self):
        self.vprof("index")
        self.assertRegex(self.vprof("check").stdout, r"OK +functions: order@src/main.c:4")
        self.config('"function": "order"', '"function": "never"')
        self.vprof("check")
        self.config('"function": "never"', '"function": "nevr"')
        self.assertIn('"never"', self.fails("check", words=["1 problem"]).stdout)

    def test_other_places(self):
        before = self.root
        self.root = self.root.parent
        self.assertIn("OK", self.vprof("-C", str(before), "check").stdout)
        self.assertIn("OK", self.vprof("check", "-C", str(before)).stdout)
        self.assertIn("OK", self.vprof("check", "--config", str(before / "vprof.json")).stdout)


if __name__ == "__main__":
    unittest.main()
