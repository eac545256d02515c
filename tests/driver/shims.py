"""What the compiler shims do in builds of several kinds."""
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support import Project

CONFIGURE = """#!/bin/sh
# Like the configure of autoconf: many small compilations of files that it then deletes.
: ${CC=cc}
for n in 1 2 3 4 5; do
  echo "int main(void) { return 0; }" > conftest.c
  $CC -o conftest conftest.c || exit 77
  ./conftest || exit 78
  echo "#include <stdio.h>" | $CC -E - > /dev/null || exit 79
  $CC --version > /dev/null || exit 80
done
rm -f conftest conftest.c
echo "CC = $CC" > config.mk
"""


class Shims(Project):
    def index(self, **keywords):
        self.vprof("index", **keywords)
        return json.loads((self.root / ".vprof/compile_commands.json").read_text())

    def files(self, entries):
        mirror = self.root / ".vprof/mirror"
        return sorted(os.path.relpath(os.path.join(e["directory"], e["file"]), mirror) for e in entries)

    def linked(self, program="prog"):
        """Whether a program in the mirror is linked with the runtime."""
        out = subprocess.run(["ldd", self.root / ".vprof/mirror" / program], capture_output=True, text=True).stdout
        return "libvprof.so" in out and "not found" not in out

    def test_make(self):
        entries = self.index()
        self.assertEqual(self.files(entries), ["src/main.c", "src/work.c"])
        arguments = entries[0]["arguments"]
        self.assertIn("-DVPROF_ENABLED", arguments)
        include = Path(arguments[arguments.index("-isystem") + 1])
        self.assertTrue((include / "vprof").is_dir())
        # The user's own options follow unchanged.
        self.assertEqual(arguments[-6:], ["-O1", "-g", "-c", "src/main.c", "-o", "src/main.o"])
        self.assertTrue(self.linked())

    def test_configure_and_make(self):
        self.write("configure", CONFIGURE).chmod(0o755)
        self.write("Makefile", "include config.mk\n" + (self.root / "Makefile").read_text())
        self.config('"build"', '"configure": "./configure", "build"')
        self.assertEqual(self.files(self.index()), ["src/main.c", "src/work.c"])
        self.assertTrue(self.linked())

    def test_cmake(self):
        (self.root / "Makefile").unlink()
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p C CXX)\n"
                   "add_library(work SHARED src/work.c)\nadd_executable(prog src/main.c extra.cpp)\n"
                   "target_link_libraries(prog work)\nset_target_properties(prog PROPERTIES LINKER_LANGUAGE CXX)\n")
        self.write("extra.cpp", "int extra() { return 1; }\n")
        self.config('"make"', '"cmake --build build"')
        self.config('"build"', '"configure": "cmake -S . -B build", "build"')
        self.assertEqual(self.files(self.index()), ["extra.cpp", "src/main.c", "src/work.c"])
        self.assertTrue(self.linked("build/prog"))
        self.assertTrue(self.linked("build/libwork.so"))

    def test_one_command_for_everything(self):
        self.write("Makefile", "prog: src/main.c src/work.c\n\tgcc -g src/main.c src/work.c -o prog\n")
        self.assertEqual(self.files(self.index()), ["src/main.c", "src/work.c"])
        self.assertTrue(self.linked())

    def test_response_file(self):
        self.write("Makefile", "prog:\n\techo '-g -I \"a b\" src/main.c src/work.c' > args\n\tcc @args -o prog; rm args\n")
        entries = self.index()
        self.assertIn("a b", entries[0]["arguments"])
        self.assertEqual(len(entries), 2)

    def test_full_path_in_the_environment(self):
        entries = self.index(env={"CC": shutil.which("gcc")})
        self.assertEqual(len(entries), 2)

    @unittest.skipUnless(shutil.which("ccache"), "needs ccache")
    def test_ccache(self):
        env = {"CC": "ccache gcc", "CCACHE_DIR": str(self.root.parent / "ccache")}
        self.assertEqual(len(self.index(env=env)), 2)
        # The second time, ccache answers from its cache and does not call the compiler.
        shutil.rmtree(self.root / ".vprof")
        self.assertEqual(len(self.index(env=env)), 2)
        self.assertTrue(self.linked())

    @unittest.skipUnless(Path("/usr/lib/ccache/gcc").exists(), "needs ccache")
    def test_ccache_in_place_of_the_compiler(self):
        env = {"PATH": "/usr/lib/ccache:" + os.environ["PATH"], "CCACHE_DIR": str(self.root.parent / "ccache")}
        self.assertEqual(len(self.index(env=env)), 2)
        self.assertTrue(self.linked())

    def test_another_workspace_first_on_path(self):
        self.index()
        other = self.root.parent / "other"
        shutil.copytree(self.root, other, ignore=shutil.ignore_patterns(".vprof"))
        env = {"PATH": f"{self.root}/.vprof/shims:" + os.environ["PATH"]}
        self.root = other
        self.assertEqual(len(self.index(env=env)), 2)

    def test_static_programs_are_reported(self):
        self.config('"make"', '"make && cc -static -o fixed src/main.o src/work.o"')
        self.assertIn("fixed", self.vprof("index").stderr)
        self.assertFalse(self.linked("fixed"))

    def build_with_a_guess(self, compiler):
        self.write("src/flow.c", "int get(void);\nint flow(int a) {\n  int x;\n  if (a > 5) x = get();\n"
                                 "  if (get()) return x;\n  return 0;\n}\n")
        command = f"{compiler} -O2 -Wall -Werror -c src/flow.c"
        alone = subprocess.run(command.split(), cwd=self.root, capture_output=True, text=True)
        self.assertIn("maybe-uninitialized", alone.stderr)
        build = (self.root / "Makefile").read_text()
        self.write("Makefile", f"all: prog\n\t{command}\n{build}")

    @unittest.skipUnless(Path("/usr/lib/ccache/cc").exists(), "needs ccache")
    def test_warnings_of_the_optimizer_through_ccache_in_place_of_cc(self):
        self.build_with_a_guess("cc")
        path = "/usr/lib/ccache:" + os.environ["PATH"]
        self.index(env={"PATH": path, "CCACHE_DIR": str(self.root.parent / "ccache")})

    def test_warnings_of_the_optimizer_do_not_break_a_build(self):
        self.build_with_a_guess("gcc")
        self.index()
        # A warning that does not come from the optimizer is still an error.
        self.write("src/flow.c", "static int unused;\n")
        self.fails("index", words=["build"])

    def test_clean_environment(self):
        self.config('"make"', '"env -i PATH=\\"$PATH\\" make"')
        self.assertEqual(len(self.index()), 2)
        self.assertTrue(self.linked())

    def test_object_files_in_the_source_tree_are_built_again(self):
        subprocess.run(["make"], cwd=self.root, check=True, capture_output=True)
        (self.root / "prog").unlink()
        self.assertEqual(len(self.index()), 2)

    def test_a_program_built_in_the_source_tree_is_explained(self):
        subprocess.run(["make"], cwd=self.root, check=True, capture_output=True)
        self.write("Makefile", "all:\n")
        self.fails("index", words=["make clean"])

    def test_the_users_own_database(self):
        cc = shutil.which("gcc")
        entry = {"directory": str(self.root), "file": "src/main.c", "arguments": [cc, "-c", f"{self.root}/src/main.c"]}
        self.write("db.json", json.dumps([entry]))
        self.config('"build"', '"compile_commands": "db.json", "build"')
        entries = self.index()
        self.assertEqual(entries[0]["directory"], str(self.root / ".vprof/mirror"))
        self.assertEqual(entries[0]["arguments"][-1], str(self.root / ".vprof/mirror/src/main.c"))
        self.assertIn("-DVPROF_ENABLED", entries[0]["arguments"])
        self.config("db.json", "none.json")
        self.fails("index", words=["none.json"])

    def test_clang_accepts_the_flags(self):
        if shutil.which("clang") is None and shutil.which("clang-19") is None:
            self.skipTest("needs clang")
        clang = "clang" if shutil.which("clang") else "clang-19"
        self.index(env={"CC": f"{clang} -Werror"})
        self.assertTrue(self.linked())


if __name__ == "__main__":
    unittest.main()
