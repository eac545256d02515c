"""Nothing that was inserted gets lost in the build: generated files, sources that the build does not compile again,
programs that it does not link again."""
import shutil
import subprocess
import unittest

import support

GENERATOR_C = """#include <stdio.h>
static void line(int i) { printf("  if (i == %d) return spin(%d);\\n", i, i); }
static void body(void) { for (int i = 0; i < 3; ++i) line(i); }
int main(void) {
  puts("#include \\"src/work.h\\"\\nint table(int i) {");
  body();
  puts("  return spin(9);\\n}");
  return 0;
}
"""

MAIN_C = support.MAIN_C.replace("sum += finish(i);", "sum += finish(i) + table(i);")
WORK_H = support.WORK_H + "int table(int i);\n"

GENERATED_MAKEFILE = """CFLAGS = -O1 -g
prog: src/main.o src/work.o table.o
\t$(CC) -o $@ src/main.o src/work.o table.o
%.o: %.c src/work.h
\t$(CC) $(CFLAGS) -c $< -o $@
gen: gen.c
\t$(CC) $(CFLAGS) gen.c -o $@
table.c: gen
\t./gen > $@
"""


class Generated(support.Project):
    def setUp(self):
        super().setUp()
        self.write("src/main.c", MAIN_C)
        self.write("src/work.h", WORK_H)
        self.write("gen.c", GENERATOR_C)
        self.write("Makefile", GENERATED_MAKEFILE)

    def mirror(self, name):
        return (self.root / ".vprof/mirror" / name).read_text()

    def units(self, program="prog"):
        """The names of the rewritten units that a program contains."""
        out = subprocess.run(["readelf", "-p", ".vprof.units", self.root / ".vprof/mirror" / program],
                             capture_output=True, text=True).stdout
        return {line.split()[-1] for line in out.splitlines() if "]" in line}

    def build_all(self, *options, code=0):
        self.vprof("index")
        self.vprof("instrument", *(options or ["--all"]))
        return self.vprof("build", code=code)

    def runs(self):
        done = subprocess.run(["./prog"], cwd=self.root / ".vprof/mirror", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_rewritten_generator_generates_again(self):
        out = self.build_all()
        self.assertIn("table.c", out.stdout)
        self.assertIn("VPROF_FUNCTION", self.mirror("table.c"))
        self.assertEqual(self.units(), {"src/main.c", "src/work.c", "table.c"})
        # The log of the pass that compiled the most is there, until the next build.
        first = self.root / ".vprof/iterations/1/build.1.log"
        self.assertIn("main.c", first.read_text())
        self.assertNotIn("main.c", first.with_name("build.log").read_text())
        # The second time there is nothing to do.
        self.assertNotIn("generated", self.vprof("build").stdout)
        self.assertFalse(first.exists())
        self.vprof("record")
        self.assertIn('"table"', self.vprof("analyze", "--json").stdout)

    def test_a_generated_text_that_changes(self):
        """The amalgamation is measured, by what was inserted into its part or into itself.

        Which of the two depends on whether make finds that the rewritten part is newer than it.
        """
        self.write("Makefile", GENERATED_MAKEFILE.replace("table.o\n\t$(CC) -o", "all.o part\n\t$(CC) -o")
                   .replace("src/work.o table.o", "src/work.o all.o") +
                   "all.c: table.c\n\tcat table.c > $@\n\techo 'int more(int i) { return spin(i); }' >> $@\n"
                   "part: table.o src/work.o check.o\n\t$(CC) -o $@ table.o src/work.o check.o\n")
        self.write("check.c", '#include "src/work.h"\nint main(void) { return table(1) < 0; }\n')
        self.build_all()
        self.assertTrue({"table.c", "all.c"} & self.units(), self.units())
        self.assertIn("table.c", self.units("part"))
        self.runs()

    def test_a_file_that_every_build_generates(self):
        self.write("Makefile", GENERATED_MAKEFILE.replace("table.c: gen", ".PHONY: always\ntable.c: gen always"))
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.fails("build", words=["table.c", "each build", "exclude", "build.log"])
        self.config('"run"', '"exclude": ["table.c"], "run"')
        self.vprof("instrument", "--all")
        self.vprof("build")
        self.assertEqual(self.units(), {"src/main.c", "src/work.c"})

    def test_sources_that_the_build_compiles_only_once(self):
        self.write("Makefile", "CFLAGS = -O1\nprog: src/main.o deps.stamp\n\tcc -o $@ src/main.o libwork.a\n"
                   "deps.stamp:\n\tcc $(CFLAGS) -c src/work.c -o src/work.o && cc -c $(CFLAGS) table.c && "
                   "ar cr libwork.a src/work.o table.o && touch $@\n")
        self.write("table.c", '#include "src/work.h"\nint table(int i) { return spin(i); }\n')
        out = self.build_all()
        self.assertIn("building everything again", out.stdout)
        self.assertEqual(self.units(), {"src/main.c", "src/work.c", "table.c"})
        # The loop needs that again only for files in there.
        self.config('"run"', '"factors": {"k": 1}, "run"')
        self.vprof("loop", "--auto")
        self.assertIn("src/work.c", self.units())

    def test_a_source_that_the_build_never_compiles_again(self):
        self.write("Makefile", "prog: src/main.o\n\ttest -f ../work.o || cc -c src/work.c -o ../work.o\n"
                   "\tcc -o $@ src/main.o ../work.o\n")
        self.write("src/main.c", support.MAIN_C)
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.fails("build", words=["src/work.c", "../work.o", "exclude", "\"build\""])

    def test_a_program_that_is_not_linked_again(self):
        self.write("Makefile", GENERATED_MAKEFILE.replace("\t$(CC) -o $@ src/main.o", "\ttest -f $@ || $(CC) -o $@ src/main.o"))
        self.assertIn("linking again", self.build_all().stdout)
        self.assertEqual(self.units(), {"src/main.c", "src/work.c", "table.c"})
        self.vprof("instrument")  # only what the interval needs
        self.assertIn("linking again", self.vprof("build").stdout)
        self.assertEqual(self.units(), {"src/main.c"})

    def test_a_program_that_is_never_linked_again(self):
        self.write("table.c", '#include "src/work.h"\nint table(int i) { return spin(i); }\n')
        self.write("Makefile", "all: src/main.o src/work.o table.o\n\ttest -f ../linked || cc -o prog $^\n\ttouch ../linked\n")
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.fails("build", words=["src/main.c", "link prog", "exclude"])

    def test_what_is_inserted_is_found_in_every_kind_of_program(self):
        for compiler, flags in (("gcc", "-s"), ("gcc", "-flto -O2"), ("gcc", "-flto -O2 -s -Wl,--gc-sections -fPIE"),
                                ("gcc", "-Wl,--gc-sections -ffunction-sections -g3 -gz"), ("clang-19", "-O2 -s")):
            with self.subTest(compiler + " " + flags):
                shutil.rmtree(self.root / ".vprof", ignore_errors=True)
                self.write("Makefile", GENERATED_MAKEFILE.replace("-O1 -g", flags).replace("$(CC)", f"{compiler} $(CFLAGS)"))
                self.build_all()
                self.assertEqual(self.units(), {"src/main.c", "src/work.c", "table.c"})
                self.runs()

    def test_objects_that_the_build_deletes(self):
        self.write("table.c", '#include "src/work.h"\nint table(int i) { return spin(i); }\n')
        self.write("Makefile", "prog: src/main.c src/work.c src/work.h\n\tgcc -c src/main.c src/work.c table.c\n"
                   "\tgcc -o $@ main.o work.o table.o\n\trm *.o\n")
        self.assertNotIn("again", self.build_all().stdout)
        self.assertEqual(self.units(), {"src/main.c", "src/work.c", "table.c"})

    def test_a_generator_records_nothing(self):
        traces = self.root / "traces"
        traces.mkdir()
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.vprof("build", env={"VPROF_TRACE_DIR": str(traces)})
        self.assertEqual(list(traces.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
