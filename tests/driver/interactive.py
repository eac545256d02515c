"""The loop at a terminal, driven through a pseudo-terminal as a user would."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
import unittest

from pathlib import Path

from support import VPROF, Project, end

PROMPT = r"\[\?\] \([ea]\): $"
GATED_BUILD = '"make; while test ! -e seen; do sleep 0.1; done"'  # ends when the test has seen its progress
GATED_RUN = '"./prog; touch ../reached; while test ! -e ../free; do sleep 0.1; done"'

# A shell with job control, as far as one command needs it: runs it in the foreground, says when it has stopped, and
# lets it go on when there is a file `fg`.
SHELL = """
import os, signal, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    os.tcsetpgrp(0, os.getpgrp())
    os.write(1, b"STOPPED\\n")
    while not os.path.exists("fg"):
        time.sleep(0.02)
    os.remove("fg")
    os.tcsetpgrp(0, child)
    os.killpg(child, signal.SIGCONT)
"""


class Terminal:
    def __init__(self, test, *arguments, columns=0, env=None, job_control=False):
        master, slave = pty.openpty()
        if columns:
            termios.tcsetwinsize(slave, (24, columns))
        self.test = test
        self.master = master
        self.text = ""
        # A session of its own, so that Ctrl-C typed at the terminal reaches the program.
        shell = [sys.executable, "-c", SHELL] if job_control else []
        self.child = subprocess.Popen([*shell, VPROF, *arguments], cwd=test.root, stdin=slave, stdout=slave,
                                      stderr=slave, start_new_session=True, preexec_fn=self.adopt_terminal,
                                      env={**os.environ, **(env or {})})
        os.close(slave)
        test.addCleanup(os.close, master)
        test.addCleanup(end, self.child)

    @staticmethod
    def adopt_terminal():
        import fcntl
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self):
        """Waits for output; "" at the end. ctest ends a test that hangs."""
        try:
            return os.read(self.master, 65536).decode(errors="replace")
        except OSError:  # Linux reports the end of a terminal as an error
            return ""

    def expect(self, pattern):
        """Returns the output up to the end of `pattern` and drops it from the buffer."""
        while not (found := re.search(pattern, self.text)):
            more = self.read()
            if more == "":
                self.test.fail(f"{pattern!r} did not come; there is:\n{self.text}")
            self.text += more.replace("\r\n", "\n")
        seen, self.text = self.text[:found.end()], self.text[found.end():]
        return seen

    def type(self, text):
        os.write(self.master, text.encode())

    def finish(self, code=0):
        """Waits for the end of the program and returns the remaining output."""
        while more := self.read():
            self.text += more
        self.test.assertEqual(self.child.wait(), code, self.text)
        return self.text


class Interactive(Project):
    def state(self):
        return json.loads((self.root / ".vprof/state.json").read_text())

    def answer(self, terminal, choose, code=0):
        """Answers every question by `choose(name)` until the program ends."""
        asked = []
        while True:
            seen = terminal.expect(rf"(?:{PROMPT})|(?:vprof loop` resumes)|(?:done after)|(?:limit of)")
            if not re.search(PROMPT, seen):
                break
            name = re.findall(r"^\d+\. (.+?)  ", seen, re.M)[-1]
            asked.append(name)
            terminal.type(choose(name) + "\n")
        terminal.finish(code)
        return asked

    def test_expand_then_accept(self):
        before = self.snapshot()
        terminal = Terminal(self, "loop")
        names = self.answer(terminal, lambda name: "e" if name == "step" else "a")
        self.assertIn("step", names)
        self.assertIn("step@", self.state()["expanded"][1])
        self.assertEqual(self.state()["step"], "done")
        self.assertTrue(self.state()["selected"])
        self.assertEqual(self.snapshot(), before)
        statuses = {tuple(f["functions"]): f["status"]
                    for f in json.loads((self.root / ".vprof/report.json").read_text())["factors"]}
        self.assertIn("selected", statuses.values())

    def test_set_aside_is_not_asked_again(self):
        terminal = Terminal(self, "loop")
        names = self.answer(terminal, lambda name: "s" if name == "step" else "a")
        self.assertEqual(names.count("step"), 1)
        self.assertEqual([one["name"] for one in self.state()["set_aside"]], ["step"])
        self.assertEqual(self.answer(Terminal(self, "loop"), lambda name: "a"), [])

    def test_source_and_tree_are_shown_and_nonsense_is_asked_again(self):
        terminal = Terminal(self, "loop")
        while not re.search(r"\n\d+\. step  ", seen := terminal.expect(PROMPT)):
            terminal.type("s\n")  # on a busy machine another factor may come first
        self.assertRegex(seen, r"\d+\. step  src/work\.c:\d+\n +[\d.]+ % of the variance")
        terminal.type("o\n")
        self.assertRegex(terminal.expect(PROMPT), r" 25  int step\(")
        terminal.type("t\n")
        self.assertIn("order", terminal.expect(PROMPT))
        terminal.type("x\n")
        self.assertIn("letters in brackets", terminal.expect(PROMPT))
        terminal.type("?\n")
        explained = terminal.expect(PROMPT)
        for key in "easotq":
            self.assertRegex(explained, rf"\n   {key}  \w")
        terminal.type("q\n")
        self.assertIn("resumes here", terminal.finish())

    def test_quit_keeps_what_was_decided_and_goes_on_without_a_new_run(self):
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)
        terminal.type("s\n")
        terminal.expect(PROMPT + r"|done after")
        terminal.type("q\n")
        terminal.finish()
        self.assertEqual(len(self.state()["set_aside"]), 1)
        run = (self.root / ".vprof/iterations/1/run.log").stat().st_mtime_ns
        again = Terminal(self, "loop")
        seen = again.expect(PROMPT + r"|done after")
        self.assertNotIn("expanding", seen)
        self.assertEqual((self.root / ".vprof/iterations/1/run.log").stat().st_mtime_ns, run)

    def test_what_is_typed_ahead_answers_nothing(self):
        self.config('"./prog"', GATED_RUN)
        terminal = Terminal(self, "loop")
        self.wait_for(".vprof/reached", terminal.child)
        terminal.type("a\na\ns\n")  # no question is on the screen yet
        self.write(".vprof/free", "")
        terminal.expect(PROMPT)
        terminal.type("q\n")
        terminal.finish()
        self.assertEqual(self.state()["selected"] + self.state()["set_aside"], [])

    def test_words_stay_whole_at_the_width_of_the_terminal(self):
        for width in (50, 80):
            terminal = Terminal(self, "loop", *(["--restart"] if width == 80 else []), columns=width)
            text = terminal.expect(PROMPT)
            terminal.type("?\n")
            text += terminal.expect(PROMPT)
            terminal.type("q\n")
            text += terminal.finish()
            self.assertIn("expanding order", " ".join(text.split()))
            drawn_again, link, style = r"(?m)^.*\x1b\[K", r"\x1b\]8;;.*?\x1b\\", r"\x1b\[[\d;]*m"
            for line in re.sub(f"{drawn_again}|{link}|{style}", "", text).splitlines():
                self.assertLessEqual(len(line), width, line)
            self.assertIn("the calls of the expanded functions", " ".join(text.split()))

    def test_errors_and_warnings_wrap_at_a_terminal_alone(self):
        terminal = Terminal(self, "loop", "--from", "7", columns=40)
        text = terminal.finish(code=2)
        self.assertIn("there is no iteration 7 to go back to", " ".join(text.split()))
        for line in text.splitlines():
            if line.startswith("vprof:"):
                self.assertLessEqual(len(line), 40)

    def test_a_dumb_terminal_gets_no_escapes(self):
        self.config('"make"', GATED_BUILD)
        terminal = Terminal(self, "loop", env={"TERM": "dumb"})
        text = terminal.expect(r"build: \d+\.\d s 2 files compiled \.\.\.\n")
        self.write(".vprof/mirror/seen", "")
        text += terminal.expect(PROMPT)
        terminal.type("t\n")
        text += terminal.expect(PROMPT)
        terminal.type("q\n")
        text += terminal.finish()
        report = Terminal(self, "report", env={"TERM": "dumb"}).finish()
        self.assertNotIn("\x1b", text + report)
        self.assertIn("\x1b", Terminal(self, "report", env={"TERM": "xterm"}).finish())

    def test_the_locale_decides_what_is_shown(self):
        self.vprof("loop", "--auto", "--max-iterations", "1")
        for arguments in (["report"], ["report", "--tree"], ["history"]):
            text = self.vprof(*arguments, env={"LC_ALL": "C"}).stdout
            self.assertTrue(text.isascii(), text)
        self.assertIn("×", self.vprof("report", env={"LC_ALL": "C.UTF-8"}).stdout)
        self.assertIn("×", self.vprof("report", env={"LC_ALL": "", "LC_CTYPE": "", "LANG": "en_US.utf8"}).stdout)
        self.assertTrue(self.vprof("report", env={"LC_ALL": "", "LC_CTYPE": "", "LANG": ""}).stdout.isascii())

    def processes_of(self, name):
        """State letters of the processes that run in the mirror with this in their command line."""
        states = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and Path(os.readlink(entry / "cwd")) == self.root / ".vprof/mirror" \
                        and name.encode() in (entry / "cmdline").read_bytes():
                    states.append((entry / "stat").read_text().rpartition(")")[2].split()[0])
            except OSError:
                pass
        return states

    def test_ctrl_z_stops_the_build_too_and_fg_lets_it_go_on(self):
        self.config('"make"', '"make; touch begun; while test ! -e seen; do sleep 0.1; done"')
        terminal = Terminal(self, "loop", "--auto", "--max-iterations", "1", job_control=True)
        self.wait_for(".vprof/mirror/begun", terminal.child)
        terminal.type("\x1a")
        terminal.expect("STOPPED")
        # Stopped, or in the middle of vfork by the shell, whose child is stopped. ctest ends a test that hangs.
        while not (states := set(self.processes_of("begun"))) or states - {"T", "D"}:
            time.sleep(0.02)
        self.write(".vprof/mirror/seen", "")  # a build that ran would end now
        self.write("fg", "")
        terminal.finish()
        self.assertEqual(self.state()["iteration"], 1)
        self.assertEqual(self.state()["step"], "done")

    def test_ctrl_z_at_the_question_answers_nothing(self):
        terminal = Terminal(self, "loop", job_control=True)
        terminal.expect(PROMPT)
        terminal.type("\x1a")
        terminal.expect("STOPPED")
        self.write("fg", "")
        terminal.type("q\n")
        self.assertIn("resumes here", terminal.finish())
        self.assertEqual(self.state()["selected"], [])

    def test_end_of_input_quits(self):
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)
        terminal.type("\x04")
        self.assertIn("resumes here", terminal.finish())

    def test_ctrl_c_at_the_question(self):
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)
        terminal.type("\x03")
        self.assertIn("interrupted", terminal.finish(code=128 + signal.SIGINT))
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)

    def test_ctrl_c_in_the_workload(self):
        self.config('"./prog"', '"./prog; touch reached; test -f free || sleep 1000"')
        terminal = Terminal(self, "loop")
        self.wait_for(".vprof/mirror/reached", terminal.child)
        terminal.type("\x03")
        self.assertIn("interrupted", terminal.finish(code=130))
        self.write(".vprof/mirror/free", "")
        Terminal(self, "loop").expect(PROMPT)

    def test_progress_is_a_line_that_is_redrawn(self):
        self.config('"make"', GATED_BUILD)
        terminal = Terminal(self, "loop")
        terminal.expect(r"\r\x1b\[K[|/\\-] build: \d+\.\d s 2 files compiled")
        self.write(".vprof/mirror/seen", "")
        terminal.expect(PROMPT)

    def test_progress_of_a_recording(self):
        self.config('"./prog"', '"./prog; while test ! -e seen; do sleep 0.1; done"')
        terminal = Terminal(self, "loop")
        terminal.expect(r"\r\x1b\[K[|/\\-] baseline run: \d+\.\d s \(200 intervals, \d+ records\)")
        self.write(".vprof/mirror/seen", "")
        terminal.expect(PROMPT)

    def test_colours(self):
        for name, value in (("NO_COLOR", ""), ("NO_COLOR", "1"), ("TERM", "dumb")):
            with self.subTest(name=name, value=value):
                os.environ["NO_COLOR"], os.environ["TERM"] = "", "xterm"
                os.environ[name] = value
                terminal = Terminal(self, "loop", "--restart")
                seen = terminal.expect(PROMPT)
                terminal.type("q\n")
                terminal.finish()
                coloured = "\x1b[1miteration 1: " in seen and re.search(r"\n\d\. \x1b\[1m", seen) is not None
                self.assertEqual(coloured, not value, seen)
                if value:
                    self.assertNotIn("\x1b[1m", seen)

    def setUp(self):
        super().setUp()
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))


class NoTerminal(Project):
    def test_progress_is_plain_lines(self):
        self.config('"make"', GATED_BUILD)
        child = self.start("loop", "--auto", "--max-iterations", "1")
        text = ""
        while not re.search(r"(?m)^build: \d+\.\d s 2 files compiled \.\.\.$", text):
            line = child.stderr.readline()
            self.assertTrue(line, text)
            text += line
        self.write(".vprof/mirror/seen", "")
        text += child.communicate()[1]
        self.assertEqual(child.returncode, 0, text)
        self.assertRegex(text, r"(?m)^build: \d+\.\d s$")
        self.assertNotIn("\x1b", text)


if __name__ == "__main__":
    unittest.main()
