"""schemas/vprof.schema.json is a valid JSON Schema and accepts every vprof.json that we show or write."""
import json
import os
import re
import unittest
from pathlib import Path
from urllib.parse import unquote, urlparse

import jsonschema
from support import Project

ROOT = Path(os.environ["VPROF_DOCS"]).parent
SCHEMA = json.loads((ROOT / "schemas/vprof.schema.json").read_text())


def without_comments(text):
    """JSON from JSON with comments. Strings are matched first, so that a comment in a string stays."""
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda match: match.group(1) or "", text, flags=re.S)


def parsed(text):
    return json.loads(without_comments(text))


def documented():
    """Every complete configuration of a documentation page, with the page's name."""
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/*.md")]):
        for block in re.findall(r"^```jsonc?\n(\{.*?)^```", page.read_text(), re.M | re.S):
            if '"build"' in block:
                yield page.name, parsed(block)


class Schema(unittest.TestCase):
    def setUp(self):
        self.validator = jsonschema.Draft7Validator(SCHEMA)

    def accepts(self, document):
        self.assertEqual([error.message for error in self.validator.iter_errors(document)], [])

    def test_it_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_examples(self):
        files = sorted((ROOT / "examples").glob("*/vprof.json"))
        self.assertGreaterEqual(len(files), 4)
        for file in files:
            with self.subTest(file):
                self.accepts(parsed(file.read_text()))

    def test_catalogue(self):
        files = sorted((ROOT / "catalogue").glob("*.json"))
        self.assertGreaterEqual(len(files), 14)
        for file in files:
            with self.subTest(file):
                text = file.read_text()
                self.accepts(parsed(text))
                # Found by its names; says what its intervals are and what it was tried on.
                self.assertRegex(text, rf"\A// ({file.stem}|{file.stem}, [a-z0-9, -]+): .+\.\n//\n// ")
                self.assertRegex(text.split("\n{\n")[0], r"Tried on|Not run|Not tried|Not\n// run")
                for line in text.splitlines():
                    if line.strip().startswith("//"):
                        self.assertLessEqual(len(line), 100, line)

    def test_documentation(self):
        pages = set()
        for page, document in documented():
            with self.subTest(page, document=document):
                self.accepts(document)
            pages.add(page)
        self.assertLessEqual({"configuration.md", "getting-started.md", "how-to.md"}, pages)

    def test_mistakes(self):
        least = {"build": "make", "run": "./run"}
        self.accepts(least)
        point = {"function": "f", "key": "arg:0"}
        for mistake in ({"intervls": []}, {"jobs": "two"}, {"jobs": 0}, {"build": ""}, {"env": {"A": 1}},
                        {"factors": {"threshold": 5}}, {"factors": {"specificity": "quartic"}},
                        {"record": {"leave_out": ["mutx"]}}, {"intervals": [{"name": "a"}]},
                        {"intervals": {"function": "f", "begin": point, "end": point}},
                        {"intervals": {"begin": {"function": "f", "key": "arg0"}, "end": point}},
                        {"intervals": {"function": "f", "label": {"function": "g", "value": "thread"}}},
                        {"sync": {"enqueue": {"function": "push"}}},
                        {"sync": {"enqueue": {"function": "push", "task": "that"}}},
                        {"sync": {"acquire": {"function": "f", "shared": 1}}}):
            with self.subTest(mistake):
                self.assertFalse(self.validator.is_valid({**least, **mistake}))


class Init(Project):
    def test_init_names_the_schema(self):
        (self.root / "vprof.json").unlink()
        self.vprof("init")
        written = parsed((self.root / "vprof.json").read_text())
        self.assertEqual(next(iter(written)), "$schema")
        named = urlparse(written["$schema"])
        self.assertEqual(named.scheme, "file")
        self.assertEqual(json.loads(Path(unquote(named.path)).read_text()), SCHEMA)
        jsonschema.Draft7Validator(SCHEMA).validate(written)


if __name__ == "__main__":
    unittest.main()
