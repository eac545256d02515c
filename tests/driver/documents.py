"""The command line, its manual page, its completion and docs/commands.md agree."""
import json
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
    if verb == "fleet":  # its options are those of a program in Python
        return []
    return [name for name in re.findall(r"^  (?:-\w,)?(--[\w-]+)", vprof(verb, "--help"), re.M) if name != "--help"]


def report_fields(schema):
    """Names of all fields of report.json."""
    names = set(schema.get("properties", {}))
    for part in [*schema.get("properties", {}).values(), *schema.get("definitions", {}).values(), schema.get("items", {})]:
        names |= report_fields(part) if part else set()
    return names


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

    def test_every_field_of_the_report_is_in_its_reference(self):
        docs = Path(os.environ["VPROF_DOCS"])
        names = report_fields(json.loads((docs.parent / "schemas/report.schema.json").read_text()))
        self.assertGreater(len(names), 80)
        text = (docs / "reading-a-report.md").read_text().split("## report.json")[1]
        self.assertEqual(sorted(name for name in names if not re.search(rf"[`.]{re.escape(name)}\b", text)), [])

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

    def complete_function(self, *words):
        """What bash adds to the last word, in a source tree with these functions."""
        script = f"{vprof('completion', 'bash')}\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n_vprof; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        with tempfile.TemporaryDirectory(prefix="vprof source ") as scratch:
            Path(scratch, "shop.cpp").write_text("namespace orders {\nint Stock::reserve(int n) { return n; }\n"
                                                 "int reserve_all() { return 1; }\n}\nint other() { return 2; }\n")
            words = [word.replace("SOURCE", scratch) for word in words]
            cwd = "/" if "-C" in words else scratch
            done = subprocess.run(["bash", "-c", script, "bash", VPROF, *words], cwd=cwd, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_functions_from_the_text_of_the_source(self):
        self.assertEqual(self.complete_function("graph", "res"), ["reserve", "reserve_all"])
        self.assertEqual(self.complete_function("try", "oth"), ["other"])
        self.assertEqual(self.complete_function("instrument", "--expand", "oth"), ["other"])
        self.assertEqual(self.complete_function("-C", "SOURCE", "source", "oth"), ["other"])
        # Bash makes words of `orders::Stock::r`, and replaces the last one.
        self.assertEqual(self.complete_function("source", "orders", "::", "Stock", "::", "r"), ["reserve"])
        self.assertEqual(self.complete_function("source", "orders", "::"), ["Stock::reserve", "reserve_all"])
        self.assertEqual(self.complete_function("history", "res"), [])
        self.assertEqual(self.complete_function("try", "--", "sh"), ["shop.cpp"])

    def test_zsh_completes_functions(self):
        text = vprof("completion", "zsh")
        for verb in ("try", "graph", "source"):
            self.assertRegex(text, rf"\n +{verb}\) (?:[^;]|\n)*'1:function:_vprof_functions'")
        self.assertRegex(text, r"'--expand\[.*\]:FUNCTION...:_vprof_functions'")

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
