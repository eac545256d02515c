"""The screen of `vprof live`, at a pseudo-terminal whose other end is an emulated terminal (pyte)."""
import json
import os
import re
import signal
import termios
import unittest

import pyte

from interactive import Terminal
from live_project import WORK_C, LiveProject

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
FOR_EVER = "600"  # s: an epoch that ends only if a key ends it, or the search knows enough


class Watched(Terminal):
    """A terminal of which one sees what a user sees. What was printed before the screen, and after it, is `text`."""

    def __init__(self, test, *arguments, rows=24, columns=80, env=None, job_control=False):
        self.raw = ""
        self.seen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.seen)
        super().__init__(test, *arguments, columns=columns, job_control=job_control,
                         env={"TERM": "screen", "LC_ALL": "C.UTF-8", "VPROF_CLOCK": "", **(env or {})})
        if rows != 24:
            self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.master)

    def read(self):
        more = super().read()
        self.raw += more
        before, entered, drawn = more.rpartition(ENTER)
        if entered:
            self.seen.reset()
        self.stream.feed(drawn)
        return more

    @property
    def shows(self):
        """Whether the screen is there."""
        return self.raw.rfind(ENTER) > self.raw.rfind(LEAVE)

    def rows(self):
        return [row.rstrip() for row in self.seen.display]

    def see(self, pattern):
        """Waits until some row matches. ctest ends a test that hangs."""
        while not (self.shows and any(re.search(pattern, row) for row in self.rows())):
            if self.read() == "":
                self.test.fail(f"{pattern!r} was not seen; there is:\n{self.raw}")
        return next(row for row in self.rows() if re.search(pattern, row))

    def until(self, condition):
        while not condition():
            if self.read() == "":
                self.test.fail(f"it was not seen; there is:\n{self.raw}")

    def resize(self, rows, columns):
        self.seen.resize(rows, columns)
        termios.tcsetwinsize(self.master, (rows, columns))

    def is_restored(self):
        """Whether the terminal is as it was before."""
        self.test.assertEqual(self.raw.count(ENTER), self.raw.count(LEAVE), self.raw)
        self.test.assertGreater(self.raw.rfind(SHOW), self.raw.rfind(HIDE))
        # What the driver has said since it left the screen is on the terminal as it was before.
        return self.raw.rpartition(LEAVE)[2]


class LiveScreen(LiveProject):
    def setUp(self):
        super().setUp()
        # Slow enough that no epoch has the intervals that it needs while keys are pressed.
        self.write("src/work.c", WORK_C.replace("8000 : 200", "60000 : 5000"))
        self.live("--build")

    def state(self):
        return json.loads((self.root / ".vprof/state.json").read_text())

    def decided(self, what):
        return [(one["name"], one["by_user"]) for one in self.state()[what]]

    def modes_are_those_of(self, terminal):
        self.assertEqual(termios.tcgetattr(terminal.master), terminal.modes)

    def test_what_is_shown_and_what_keys_do(self):
        # The baseline, so that what follows measures calls at once.
        self.config('"./prog"', '"./prog 60"')
        self.live("--epoch", "1", "--plain")
        self.config('"./prog 60"', '"./prog"')
        terminal = Watched(self, "live", "--epoch", FOR_EVER, "--budget", "10000", job_control=True)
        terminal.see("^ vprof live   order .* iteration 1 ")
        self.assertNotEqual(termios.tcgetattr(terminal.master), terminal.modes)
        terminal.see(r"^ requests +\d+/s   mean \d+(\.\d+)? ms")
        terminal.see(r"^ measured +\d sites on; calls of order")
        terminal.see("^ epoch .* measuring: .* of at most 600")
        terminal.see(r"^ cost +busy time \+[\d.]+ % of 10000 %; mean × ")
        terminal.see("^ counted .* 0 records dropped")
        terminal.see("resuming iteration 1")
        # The program does nothing but sleep: what remains to be seen is where.
        terminal.see(r"^> 1 .* [\d.]+ % .*  wait\(sleep\)")

        self.pages(terminal)
        self.decisions(terminal)
        self.sizes(terminal)
        self.ctrl_z(terminal)

        terminal.type("q")
        out = terminal.finish()
        self.assertIn("Where the variance comes from", terminal.is_restored())
        self.assertIn("iteration 2: breaking down wait(sleep)", out)
        self.assertIn("the next `vprof live` goes on", out)
        self.modes_are_those_of(terminal)
        self.assertEqual(self.decided("selected"), [("wait(sleep) in nanosleep", True)])
        self.assertEqual(self.report()["factors"][0]["status"], "selected")
        self.assertEqual(self.frontier("run")[2], [])

    def pages(self, terminal):
        for key, title, text in (("?", "help", "set aside"), ("t", "the variance tree", "order"),
                                 ("o", r"source of wait\(sleep\)", "it has no source"),
                                 ("\r", r"wait\(sleep\)", "share of the variance"),
                                 ("w", "1 of 3 slow intervals", "order > step"),
                                 ("w", "2 of 3 slow intervals", "order > step")):
            terminal.type(key)
            terminal.see(f"^ {title}")
            terminal.see(text)
            terminal.see("^ q back")
            if title[0] != "1":
                terminal.type("q")
                terminal.see("^ vprof live")

    def decisions(self, terminal):
        terminal.type("s")
        terminal.see(r"^ wait\(sleep\): set aside")
        terminal.see(r"^>.* set aside +wait\(sleep\)")
        self.assertEqual(self.decided("set_aside"), [("wait(sleep) in step", True)])
        terminal.type("a")
        terminal.see(r"^ wait\(sleep\): accepted")
        terminal.see(r"^>.* answer +wait\(sleep\)")
        self.assertEqual((self.decided("set_aside"), self.decided("selected")), ([], [("wait(sleep) in step", True)]))
        terminal.type("a")
        terminal.see(r"^ wait\(sleep\): open again")
        self.assertEqual(self.decided("selected"), [])
        terminal.type("x")
        terminal.see(r"\? explains the keys")
        terminal.type("e")
        terminal.see("^ vprof live .* iteration 2 ")
        terminal.see(r"^ because of +breaking down wait\(sleep\)")
        terminal.see("factors, as measured in iteration 1")
        terminal.see("factors, as measured so far")
        terminal.type("a")
        terminal.see(r"^ wait\(sleep\): accepted")

    def sizes(self, terminal):
        for rows, columns in ((10, 40), (1, 1), (60, 200), (2, 20), (24, 80)):
            terminal.resize(rows, columns)
            terminal.seen.reset()
            last_row = r"^ \? help" if columns >= 40 else "^ " if rows > 1 else ""
            if last_row:
                terminal.until(lambda: re.search(last_row, terminal.seen.display[-1]))  # noqa: B023
        terminal.see("^>.* wait")

    def ctrl_z(self, terminal):
        terminal.type("\x1a")
        terminal.until(lambda: "STOPPED" in terminal.raw)
        self.assertIn("STOPPED", terminal.is_restored())
        self.modes_are_those_of(terminal)
        self.write("fg", "")
        terminal.see("^ vprof live")
        self.assertNotEqual(termios.tcgetattr(terminal.master), terminal.modes)
        terminal.type("?")
        terminal.see("^ help")
        terminal.type("q")
        terminal.see("^ vprof live")

    def test_the_terminal_is_restored_whatever_ends_vprof(self):
        program = self.start_program()
        attach = ("live", "--attach", str(program.pid), "--budget", "10000", "--epoch")
        ends = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGQUIT: -signal.SIGQUIT}
        for number, code in ends.items():
            terminal = Watched(self, *attach, FOR_EVER)
            terminal.see("^ vprof live")
            if number == signal.SIGINT:
                terminal.type("\x03")
            else:
                terminal.child.send_signal(number)
            terminal.finish(code=code)
            terminal.is_restored()
            self.modes_are_those_of(terminal)
        for arguments, env in ((["--plain"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": "no-such-terminal"})):
            with self.subTest(arguments=arguments, env=env):
                terminal = Watched(self, *attach, FOR_EVER, *arguments, "--restart", env=env)
                terminal.expect("iteration 1: measuring the calls")
                terminal.type("\x03")
                terminal.finish(code=130)
                self.assertNotIn(ENTER, terminal.raw)
                self.modes_are_those_of(terminal)
        terminal = Watched(self, *attach, "1")
        terminal.see("^>")
        program.kill()
        program.wait()
        terminal.finish()
        self.assertIn("Where the variance comes from", terminal.is_restored())
        self.modes_are_those_of(terminal)


if __name__ == "__main__":
    unittest.main(verbosity=2)
