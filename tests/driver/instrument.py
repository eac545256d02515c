"""`vprof instrument --all`, `--dry-run`, `vprof source` and `vprof graph` on a small project with pointers, callbacks and threads."""
import json
import subprocess
import unittest

import support

DISPATCH_C = """#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b + spin(1) - 1; }
static int slow(int i) { return deep(i); }
static int fast(int i) { return spin(i); }
static int (*const handlers[])(int) = {slow, fast};
static void *background(void *unused) { return (void *)(long)spin(10) + (unused != 0); }

int dispatch(int i) {
  int values[2] = {i, 3};
  pthread_t thread;
  pthread_create(&thread, 0, background, 0);
  pthread_join(thread, 0);
  qsort(values, 2, sizeof(int), by_value);
  return handlers[i % 2](values[0]);
}
"""


class Instrument(support.Project):
    def setUp(self):
        super().setUp()
        self.write("src/dispatch.c", DISPATCH_C)
        self.write("src/work.h", support.WORK_H + "int dispatch(int i);\n")
        self.write("src/main.c", support.MAIN_C.replace("sum += finish(i);", "sum += finish(i) + dispatch(i);"))
        self.write("Makefile", support.MAKEFILE.replace("src/work.o", "src/work.o src/dispatch.o"))

    def mirror(self):
        return {path.name: path.read_text() for path in (self.root / ".vprof/mirror/src").glob("*.[ch]")}

    def test_dry_run_shows_and_changes_nothing(self):
        self.vprof("index")
        before = self.mirror()
        out = self.vprof("instrument", "--dry-run").stdout
        self.assertIn("--- src/main.c\n+++ src/main.c (instrumented)\n@@ ", out)
        self.assertRegex(out, r"(?m)^-static int order\(int i\) \{\n\+static int order\(int i\) \{ VPROF_INTERVAL\(0\); VPROF_FUNCTION\(\d+\);")
        self.assertRegex(out, r"(?m)^\+  int sum = VPROF_EXPR\(\d+\) step\(i\) VPROF_EXPR_END;")
        self.assertRegex(out, r"(?m)^calls measured: 3 of 3, 100.0 % \(3 expression\)$")
        self.assertEqual(before, self.mirror())
        self.assertFalse((self.root / ".vprof/preview").exists())

    def test_all_measures_every_function_and_the_program_runs(self):
        self.vprof("index")
        out = self.vprof("instrument", "--all").stdout
        self.assertRegex(out, r"everything expanded, \d+ sites, 3 files rewritten")
        self.assertRegex(out, r"functions measured: 14 of 14")
        self.vprof("build")
        self.vprof("record")
        functions = set()
        report = json.loads(self.vprof("analyze", "--json").stdout)
        open_nodes = [report["tree"]]
        while open_nodes:
            node = open_nodes.pop()
            functions.add(node["function"])
            open_nodes.extend(node["children"])
        self.assertTrue({"order", "step", "deep", "dispatch", "by_value", "qsort"} <= functions, functions)
        # What is no longer in the plan disappears from the mirror.
        self.vprof("instrument")
        self.assertNotIn("VPROF", self.mirror()["dispatch.c"])

    def test_source_shows_what_was_inserted(self):
        self.vprof("index")
        self.assertRegex(self.vprof("source", "order").stdout, "order  src/main.c:4: nothing is inserted: it is not part of the plan")
        self.vprof("instrument")
        out = self.vprof("source", "order").stdout
        self.assertRegex(out, r"(?m)^\+  int sum = VPROF_EXPR\(\d+\) step\(i\) VPROF_EXPR_END;")
        self.assertNotIn("main(void)", out)
        self.fails("source", "ordr", words=["ordr", "order"])
        self.fails("source", "qsort", words=["qsort", "no definition"])

    def test_graph_of_pointers_callbacks_and_threads(self):
        self.vprof("index")
        out = self.vprof("graph", "dispatch").stdout
        self.assertRegex(out, r"background  src/dispatch.c:14 .*starts a thread with it")
        self.assertRegex(out, r"by_value  src/dispatch.c:16 .*passes it on")
        self.assertRegex(out, r"\(\*handlers\[i % 2\]\)  src/dispatch.c:17 .*through a pointer")
        pointer = self.vprof("graph", "(*handlers[i % 2])").stdout
        self.assertIn("can be broken down", pointer)
        self.assertRegex(pointer, r"a call of it may reach:\n  fast .*\n  slow ")
        self.assertIn("may reach it", self.vprof("graph", "slow").stdout)

        graph = json.loads(self.vprof("graph", "--json").stdout)
        names = {f["key"]: f["name"] for f in graph["functions"]}
        edges = {(names[e["from"]], names[e["to"]], e["kind"]) for e in graph["edges"]}
        self.assertTrue({("dispatch", "background", "spawn"), ("dispatch", "by_value", "callback"),
                         ("(*handlers[i % 2])", "slow", "target"), ("deep", "spin", "direct")} <= edges)
        dot = self.vprof("graph", "deep", "--dot").stdout
        self.assertTrue(dot.startswith("digraph calls {") and dot.endswith("}\n"))
        self.assertIn('"deep@src/work.c:19" -> "spin@src/work.c:11";', dot)
        self.assertNotIn("dispatch", dot.replace("src/dispatch.c", ""))
        self.fails("graph", words=["--dot"])

    def test_expanding_a_pointer_measures_the_functions_behind_it(self):
        self.vprof("index")
        self.vprof("instrument", "--expand", "dispatch", "--expand", "(*handlers[i % 2])")
        text = self.mirror()["dispatch.c"]
        self.assertRegex(text, r"static int slow\(int i\) \{ VPROF_FUNCTION\(\d+\);  return VPROF_EXPR\(\d+\) deep\(i\)")
        self.assertRegex(text, r"static int fast\(int i\) \{ VPROF_FUNCTION\(\d+\);")
        self.assertNotRegex(text, r"by_value\([^)]*\) \{ VPROF_FUNCTION")

    def test_the_same_bytes_for_any_number_of_jobs(self):
        seen = set()
        for jobs in (1, 2, 7):
            self.write("vprof.json", support.CONFIG.replace('"build"', f'"jobs": {jobs}, "build"'))
            for path in ("cache", "index.json", "sites.json"):
                subprocess.run(["rm", "-rf", self.root / ".vprof" / path], check=True)
            self.vprof("index")
            self.vprof("instrument", "--all")
            seen.add((self.root / ".vprof/index.json").read_text() + (self.root / ".vprof/sites.json").read_text() +
                     str(sorted(self.mirror().items())))
        self.assertEqual(len(seen), 1)

    def test_an_unchanged_program_is_not_indexed_again(self):
        self.vprof("index")
        index = self.root / ".vprof/index.json"
        before = index.stat().st_mtime_ns
        self.vprof("instrument")  # for the index, rewritten files have their original text
        self.vprof("index")
        self.assertEqual(before, index.stat().st_mtime_ns)
        self.write("src/work.c", support.WORK_C + "\nint more(int i) { return spin(i); }\n")
        self.vprof("index")
        self.assertIn('"more"', index.read_text())


class StaleObjects(support.Project):
    """A makefile that does not know which headers a source includes."""

    def setUp(self):
        super().setUp()
        self.header("spin")
        self.write("src/table.c", '#include "twice.h"\nint (*table)(int) = twice;\n')
        self.write("Makefile", support.MAKEFILE.replace(" src/work.h", "").replace("src/work.o", "src/work.o src/table.o"))

    def header(self, callee):
        self.write("src/twice.h", '#include "work.h"\n'
                   f"static inline int twice(int i) {{ int sum = {callee}(i); return sum; }}\n")

    def undefined(self):
        """What the object needs whose source calls nothing, and includes a header that does."""
        return subprocess.run(["nm", "-u", self.root / ".vprof/mirror/src/table.o"], check=True,
                              capture_output=True, text=True).stdout.split()[1::2]

    def test_a_restored_header_is_compiled_again(self):
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.vprof("build")
        self.assertTrue(any(name.startswith("vprof_") for name in self.undefined()), self.undefined())
        self.config('"build": "make"', '"build": "make -s"')
        self.vprof("index")
        self.assertEqual(self.undefined(), ["spin"])

    def test_a_header_that_changed_in_the_source_is_compiled_again(self):
        self.vprof("index")
        self.assertEqual(self.undefined(), ["spin"])
        self.header("never")
        self.vprof("index")
        self.assertEqual(self.undefined(), ["never"])

    def interrupted_by(self, path, *arguments):
        """Runs vprof while it cannot write this file of .vprof."""
        path = self.root / ".vprof" / path
        aside = path.with_suffix(".aside")
        if path.exists():
            path.rename(aside)
        path.mkdir()
        self.fails(*arguments, words=[path.name])
        path.rmdir()
        if aside.exists():
            aside.rename(path)

    def test_a_header_is_compiled_again_also_if_vprof_stops_after_rewriting_it(self):
        self.vprof("index")
        self.interrupted_by("sites.json", "instrument", "--all")
        self.assertIn("VPROF_", (self.root / ".vprof/mirror/src/twice.h").read_text())
        self.vprof("instrument", "--all")
        self.vprof("build")
        self.assertTrue(any(name.startswith("vprof_") for name in self.undefined()), self.undefined())

    def test_a_header_is_compiled_again_also_if_vprof_stops_after_copying_it(self):
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.vprof("build")
        self.header("never")
        self.interrupted_by("plan.json", "index")
        self.vprof("index")
        self.assertEqual(self.undefined(), ["never"])

    def test_a_file_called_as_the_list_of_the_rewritten_ones_may_change(self):
        self.write("manifest.json", "1")
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.vprof("build")
        self.write("manifest.json", "22")
        self.vprof("index")
        self.assertEqual(self.undefined(), ["spin"])

    def test_what_another_version_has_made_is_made_again(self):
        self.vprof("index")
        self.vprof("instrument", "--all")
        self.vprof("build")
        index = self.root / ".vprof/index.json"
        index.write_text(index.read_text().replace('"schema":1', '"schema":0'))
        self.config('"build": "make"', '"build": "make -s"')
        self.assertIn("another version of vprof made it", self.vprof("index").stdout)
        self.assertEqual(self.undefined(), ["spin"])
        self.assertNotIn("another version", self.vprof("index").stdout)


if __name__ == "__main__":
    unittest.main()
