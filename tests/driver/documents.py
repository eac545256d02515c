"""The command line, its manual page, its completion and docs/commands.md agree."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

VPROF = os.environ.get("VPROF", "vprof")
COMMANDS = (Path(os.environ["VPROF_DOCS"]) / "commands.md").read_text()


def vprof(*arguments):
    return subprocess.run([VPROF, *arguments], capture_output=True, text=True, check=True).stdout


def verbs():
    return re.findall(r"^  ([a-z]+) ", vprof("--help").split("Subcommands:")[1], re.M)


def options(verb):
    return [name for name in re.findall(r"^  (?:-\w,)?(--[\w-]+)", vprof(verb, "--help"), re.M) if name != "--help"]


def section(verb):
    found = re.search(rf"^## {verb}\n(.*?)(?=^## |\Z)", COMMANDS, re.M | re.S)
    return found.group(1) if found else ""


class Documents(unittest.TestCase):
    def test_every_verb_and_option_is_in_the_reference(self):
        self.assertGreater(len(verbs()), 15)
        for verb in verbs():
            with self.subTest(verb):
                text = section(verb)
                self.assertTrue(text, f"docs/commands.md has no section {verb}")
                for option in options(verb):
                    self.assertRegex(text, rf"{option}\b", f"docs/commands.md does not mention vprof {verb} {option}")

    def test_the_reference_has_nothing_else(self):
        known = set(verbs())
        headings = re.findall(r"^## ([a-z]+)$", COMMANDS, re.M)
        self.assertEqual([h for h in headings if h not in known], [])
        for verb in known:
            with self.subTest(verb):
                for option in re.findall(r"^\| `(--[\w-]+)", section(verb), re.M):
                    self.assertIn(option, options(verb))

    def test_exit_codes_and_variables_are_in_the_manual(self):
        page = vprof("manual")
        for word in ("EXIT STATUS", "130", "NO_COLOR", "VPROF_TRACE_DIR", "vprof.json"):
            self.assertIn(word, page)

    def test_the_manual_page(self):
        page = vprof("manual")
        for verb in verbs():
            self.assertIn(f".SS {verb}\n", page)
            for option in options(verb):
                self.assertIn(option.replace("-", "\\-"), page)
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def complete(self, *words):
        script = f"{vprof('completion', 'bash')}\nCOMP_WORDS=(vprof \"$@\"); COMP_CWORD=$#\n_vprof; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        with tempfile.TemporaryDirectory() as scratch:
            Path(scratch, "trace").mkdir()
            done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=scratch, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(set(verbs()) - set(self.complete("")), set())
        self.assertEqual(self.complete("hist"), ["history"])
        self.assertEqual(self.complete("-C", "somewhere", "inst"), ["instrument"])
        self.assertIn("--overhead-budget", self.complete("loop", "--o"))
        self.assertNotIn("--overhead-budget", self.complete("report", "--"))
        self.assertEqual(self.complete("analyze", "tr"), ["trace"])

    def test_zsh(self):
        text = vprof("completion", "zsh")
        self.assertTrue(text.startswith("#compdef vprof\n"))
        for verb in verbs():
            self.assertIn(f"'{verb}:", text)
        done = subprocess.run(["zsh", "-n"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    assert shutil.which("zsh"), "zsh is needed (scripts/setup.sh installs it)"
    unittest.main()
