"""An installed vprof finds its parts by itself, under any prefix, even after it was moved."""
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import support
from support import Project


class Install(Project):
    def setUp(self):
        super().setUp()
        self.prefix = Path(self.temporary.name) / "a prefix"
        self.install(self.prefix)
        self.addCleanup(setattr, support, "VPROF", support.VPROF)

    def install(self, prefix, **environment):
        done = subprocess.run(["cmake", "--install", os.environ["VPROF_BUILD_DIR"], "--prefix", str(prefix)],
                              capture_output=True, text=True, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_debug_symbols_stay_behind_unless_they_are_wanted(self):
        def symbols(prefix, name):
            listed = subprocess.run(["readelf", "--section-headers", "--wide", prefix / name], capture_output=True, text=True, check=True)
            return ".debug_info" in listed.stdout

        whole = self.prefix.parent / "whole"
        self.install(whole, VPROF_KEEP_SYMBOLS="1")
        for name in ("bin/vprof", "libexec/vprof/vprof-instrument", "libexec/vprof/vprof-tables", "lib/libvprof.so"):
            self.assertFalse(symbols(self.prefix, name), name)
            self.assertTrue(symbols(whole, name), name)
        size = sum(file.stat().st_size for file in self.prefix.rglob("*")
                   if not file.is_symlink() and file.parent.name != "arrow")  # Apache Arrow's libraries
        self.assertLess(size, 20_000_000)

    def use(self, prefix):
        support.VPROF = str(prefix / "bin/vprof")

    def test_loop(self):
        self.use(self.prefix)
        self.assertIn(str(self.prefix), self.vprof("check").stdout)
        self.vprof("loop", "--auto", "--max-iterations", "1")
        moved = self.prefix.parent / "moved"
        self.prefix.rename(moved)
        self.use(moved)
        # The shims and the links to the runtime are updated.
        self.vprof("loop", "--auto", "--restart", "--max-iterations", "1")

    def test_init_names_the_installed_schema(self):
        self.use(self.prefix)
        (self.root / "vprof.json").unlink()
        self.vprof("init")
        schema = self.prefix / "share/vprof/schemas/vprof.schema.json"
        self.assertTrue(schema.is_file())
        self.assertIn(schema.as_uri(), (self.root / "vprof.json").read_text())
        self.vprof("check")

    def test_init_finds_the_installed_catalogue(self):
        self.use(self.prefix)
        (self.root / "vprof.json").unlink()
        self.assertIn("redis, valkey", self.vprof("init", "--from", "list").stdout)
        self.assertFalse((self.root / "vprof.json").exists())
        shutil.rmtree(self.prefix / "share/vprof/catalogue")
        self.fails("init", "--from", "redis", words=["catalogue is missing", "VPROF_HOME"])
        self.vprof("init")

    def test_a_missing_part(self):
        self.use(self.prefix)
        shutil.rmtree(self.prefix / "libexec")
        self.fails("loop", "--auto", words=["vprof-instrument", "VPROF_HOME"])
        done = self.fails("check", words=["problem"])
        self.assertIn("PROBLEM  vprof", done.stdout)


if __name__ == "__main__":
    unittest.main()
