"""`vprof init` and `vprof check`."""
import unittest

import support
from support import Project


class Init(Project):
    def setUp(self):
        super().setUp()
        (self.root / "vprof.json").unlink()

    def written(self):
        self.vprof("init")
        text = (self.root / "vprof.json").read_text()
        # The file is valid; only its functions and its workload need completing.
        self.assertIn("OK       configuration", self.vprof("check").stdout)
        return text

    def test_the_handler_is_suggested_with_its_reason(self):
        text = self.written()
        self.assertIn('{ "name": "request", "function": "order" }', text)
        self.assertRegex(text, r"// 1. order  src/main.c:4\n +//      called in a loop of main")
        (self.root / "vprof.json").unlink()
        self.assertRegex(self.vprof("init").stdout, r"1. order  src/main.c:4\n +called in a loop of main")

    def test_annotated_source_needs_no_interval(self):
        self.write("src/main.c", support.MAIN_C.replace("int sum = step(i);", "int sum = step(i); vprof_begin(i);"))
        self.assertIn("vprof_begin", self.written())
        self.assertIn("annotated in the source", self.vprof("check").stdout)

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
        self.fails("init", words=["vprof.json", "already exists"])
        self.assertEqual((self.root / "vprof.json").read_text(), "mine")


class Catalogue(Project):
    """`vprof init` with the catalogue of known programs."""

    # What the entry of memcached names.
    MEMCACHED = "".join(f"int {name}(struct conn *c, struct token *t) {{ return step(1); }}\n" for name in (
        "try_read_network", "conn_release_items", "drive_machine", "process_get_command", "process_update_command",
        "process_arithmetic_command", "process_delete_command"))

    def setUp(self):
        super().setUp()
        (self.root / "vprof.json").unlink()

    def test_the_list(self):
        lines = self.vprof("init", "--from", "list").stdout.splitlines()
        for name in ("nginx", "redis, valkey", "postgresql, postgres", "mariadb", "boost-asio, asio, beast", "qt", "leveldb"):
            self.assertTrue(any(line.startswith(name + " ") for line in lines), name)
        self.assertFalse((self.root / "vprof.json").exists())

    def test_an_entry_by_any_of_its_names(self):
        for name in ("redis", "valkey"):
            with self.subTest(name):
                out = self.vprof("init", "--from", name).stdout
                self.assertIn("from the catalogue: redis: a command", out)
                self.assertRegex(out, r"not in the text of this source: call, .*; replace them")
                written = self.root / "vprof.json"
                self.assertRegex(written.read_text(), r'\A// redis, valkey: (.|\n)*\n{\n  // Lets editors .*\n  "\$schema"')
                self.assertIn("OK       configuration", self.vprof("check").stdout)
                written.unlink()

    def test_an_unknown_name(self):
        self.fails("init", "--from", "ngnix", words=["no ngnix in the catalogue", "did you mean nginx?", "memcached"])
        self.assertFalse((self.root / "vprof.json").exists())

    def test_a_known_program_is_recognised(self):
        self.write("src/work.c", support.WORK_C + self.MEMCACHED)
        out = self.vprof("init").stdout
        self.assertIn("the catalogue knows this program", out)
        self.assertIn("from the catalogue: memcached: a request", out)
        self.assertNotIn("not in the text", out)
        (self.root / "vprof.json").unlink()
        self.assertNotIn("catalogue", self.vprof("init", "--from", "none").stdout)
        self.assertNotIn("try_read_network", (self.root / "vprof.json").read_text().split('"sync"')[0].split("2.")[0])

    def test_nothing_is_overwritten(self):
        self.write("vprof.json", "mine")
        self.fails("init", "--from", "nginx", words=["already exists"])
        self.assertEqual((self.root / "vprof.json").read_text(), "mine")


class Proposals(Project):
    """`vprof init` on common shapes of servers."""

    def test_the_life_of_a_request(self):
        (self.root / "vprof.json").unlink()
        steps = "".join(f"void step{i}(struct request *r) {{ look(r); more(r); }}\n" for i in range(8))
        self.write("src/server.c", """struct request *create_request(struct conn *c) { return alloc(c); }
void free_request(struct request *r) { drop(r); }
void on_read(struct event *e) { struct request *r = create_request(e->c); e->handler = step3; step1(r); free_request(r); }
void serve(void) { for (;;) { epoll_wait(1, 0, 0, 0); on_read(0); } }
""" + steps)
        out = self.vprof("init").stdout
        self.assertIn("1. create_request ... free_request  src/server.c:1", out)
        self.assertIn("a request is made and ended; 9 functions take one", out)
        self.assertIn("not serve  src/server.c:4: calls epoll_wait in a loop: the life of the server", out)
        self.assertIn("OK       interval \"request\" switch", self.vprof("check").stdout)
        text = (self.root / "vprof.json").read_text()
        self.assertIn('{ "function": "create_request", "at": "exit", "key": "return" }', text)
        self.assertIn('{ "function": "step3", "at": "entry", "key": "arg:0" }', text)


    def test_the_interface_of_a_library(self):
        (self.root / "vprof.json").unlink()
        (self.root / "src" / "main.c").unlink()
        self.write("src/lib.c", """int lib_step(struct st *s) { return look(s) + get(s); }
int look(struct st *s) { return get(s) + peek(s); }
int get(struct st *s) { return peek(s) + last(s); }
int peek(struct st *s) { return last(s); }
int last(struct st *s) { return s->x; }
""")
        self.write("include/lib.h", "int lib_step(struct st *s);")
        self.write("tests/run.c", "int main(void) { while (lib_step(s)) {} }")
        out = self.vprof("init").stdout
        self.assertRegex(out, r"1. lib_step  src/lib.c:1\n +what users of the library call \(include/lib.h\)")

    def test_a_name_that_two_files_have(self):
        (self.root / "vprof.json").unlink()
        for part in ("lib", "src"):
            self.write(f"{part}/read.c", f"""int handle_packet(int c) {{ {part}_one(c); {part}_two(c); return more(c); }}
void {part}_turn(void) {{ for (;;) {{ handle_packet(1); }} }}
""")
        self.vprof("init")
        text = (self.root / "vprof.json").read_text()
        self.assertIn('"function": "handle_packet@src/read.c"', text)
        self.assertIn('"function": "handle_packet@lib/read.c"', text)
        (self.root / "vprof.json").write_text(text.replace('"function": "order"', '"function": "handle_packet@src/read.c"'))
        self.assertIn("handle_packet  src/read.c:1, according to a text search", self.vprof("check").stdout)


class Check(Project):
    def test_a_valid_configuration(self):
        out = self.vprof("check").stdout
        for what in ("configuration", "source", "vprof", "compiler", "build", "factors"):
            self.assertRegex(out, rf"OK +{what}:")
        self.assertFalse((self.root / ".vprof").exists(), "check must not create anything")

    def test_the_machine_is_checked(self):
        out = self.vprof("check").stdout
        for what in ("clock", "preemption", "processors", "other work", "disk"):
            self.assertRegex(out, rf"(OK|note|PROBLEM) +{what}: ")
        self.assertNotIn("in the last recording", out)
        self.vprof("loop", "--auto", "--max-iterations", "1")
        self.assertRegex(self.vprof("check").stdout, r"processors: .* in the last recording")

    def test_names_are_searched_in_the_text_before_there_is_an_index(self):
        self.assertRegex(self.vprof("check").stdout,
                         r'OK +interval "order" \(vprof.json:5\): order  src/main.c:4, according to a text search')
        self.config('"function": "order"', '"function": "ordr"')
        self.assertRegex(self.vprof("check").stdout, r"note +interval .*no function ordr .*did you mean order\?")

    def test_every_setting_is_checked(self):
        self.config(""",
  "record": { "leave_out": ["preemption"] }""", "")
        self.config('"build": "make",', """"build": "make",
  "env": { "A": "1", "B": "" },
  "exclude": ["src/work.*", "nosuch_*"],
  "record": { "leave_out": ["timer"], "ring_mb": 8, "max_mb": 64 },
  "sync": { "acquire": { "function": "step" }, "release": { "function": "finish" } },""")
        self.vprof("index")
        out = self.vprof("check").stdout
        for line in (r"OK +env: A=1", r"OK +env: B removed", r"OK +exclude: src/work.\*: \d+ functions",
                     r"note +exclude: nosuch_\* matches no file and no function", r"OK +record: without waits of kind timer",
                     r"OK +record: the last 8 MiB", r"OK +record: at most 64 MiB",
                     r"OK +sync acquire \(vprof.json:6\): step@src/work.c", r"OK +sync release \(vprof.json:6\): finish@"):
            self.assertRegex(out, line)

    def test_no_interval_at_all(self):
        self.config("""
    { "name": "order", "function": "order" }
  """, "")
        self.assertRegex(self.fails("check", words=["1 problem"]).stdout, r"PROBLEM +intervals: neither")
        self.vprof("index", code=0)
        self.fails("check", words=["1 problem"])

    def test_a_missing_build_tool(self):
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

    def test_functions_that_spin_are_suggested_for_sync(self):
        spin_lock = """
void lock(volatile int *flag) { while (*flag) {} *flag = 1; }
void unlock(volatile int *flag) { *flag = 0; }
static volatile int ready;
void wait_ready(void) { while (!ready) {} }
"""
        self.write("src/main.c", support.MAIN_C + spin_lock)
        self.assertNotIn("spinning", self.vprof("check").stdout)
        self.vprof("index")
        out = self.vprof("check").stdout
        self.assertRegex(out, r'note +sync: lock waits by spinning \(src/main.c:\d+\), which looks like work; consider '
                              r'"sync": { "acquire": \[{ "function": "lock", "object": "arg:0" }\] }')
        self.assertRegex(out, r"note +sync: wait_ready waits by spinning .* as an argument")
        self.assertNotIn("unlock", out)
        self.config('"intervals"', '"sync": { "acquire": { "function": "lock" } }, "intervals"')
        self.assertNotIn("sync: lock waits", self.vprof("check").stdout)

    def test_other_places(self):
        before = self.root
        self.root = self.root.parent
        self.assertIn("OK", self.vprof("-C", str(before), "check").stdout)
        self.assertIn("OK", self.vprof("check", "-C", str(before)).stdout)
        self.assertIn("OK", self.vprof("check", "--config", str(before / "vprof.json")).stdout)


if __name__ == "__main__":
    unittest.main()
