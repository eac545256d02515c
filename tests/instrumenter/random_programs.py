#!/usr/bin/env python3
"""Random programs in C and C++: the original and the fully instrumented program must print the same.

The programs have defined behaviour and terminate: functions call only functions with a higher number, loops count,
arithmetic is unsigned. Where C leaves the order of evaluation open, at most one operand has an effect and the other one
reads nothing that an effect may change, so the output does not depend on the compiler.
"""
import os
import random
import sys
import tempfile

import golden

FUNCTIONS = 14

C_PRELUDE = """#include <setjmp.h>
#include <stdio.h>
typedef unsigned long num;
struct two { num a, b; };
static num hash = 17;
static num cells[8];
static num fuel = 20000;
static void note(num x) { hash = hash * 31 + x; }
#define MIX(x, y) ((x) * 7 + (y))
#define CALL(f, x, y) f((x), (y))
#define DO_NOTE(x) do { note(x); note(1); } while (0)
#define NOTE_TWICE(x) note(x); note((x) + 1)
#define CELL(x) (cells[(x) & 7])
#define MAX(x, y) ((x) > (y) ? (x) : (y))
"""

CXX_PRELUDE = C_PRELUDE + """#include <stdexcept>
#include <utility>
struct Loud {
  explicit Loud(num n) : n(n) { note(n + 1); }
  Loud(const Loud& o) : n(o.n) { note(o.n + 2); }
  Loud(Loud&& o) noexcept : n(o.n) { o.n = 0; note(n + 3); }
  ~Loud() { note(n + 4); }
  num get(num x) const { return n * 3 + x; }
  num operator+(num x) const { return n + x; }
  num n;
};
struct Base {
  virtual ~Base() {}
  virtual num value(num x) { return x + 5; }
};
struct Derived : Base {
  num value(num x) override { num s = 0; for (num i = 0; i < (x & 3); ++i) s += i * x; return s; }
};
static Base base;
static Derived derived;
static num pass(const Loud& l, num x) { return l.n ^ x; }
static num& cell(num x) { return cells[x & 7]; }
static num risky(num x) { for (num i = 0; i < (x & 1); ++i) note(x); if (x % 5 == 1) throw std::runtime_error("y"); return x; }
template <class T> T twice(T x) { T s = 0; for (int i = 0; i < 2; ++i) s += x; return s; }
"""


# What an expression may do.
NOTHING, READ, EFFECT = range(3)


class Writer:
    """Writes one program."""

    def __init__(self, seed, cxx):
        self.random = random.Random(seed)
        self.cxx = cxx
        self.labels = 0

    def pick(self, choices):
        return self.random.choice(choices)

    def leaf(self, may):
        return self.pick(["a", "b", "v", "w", str(self.random.randrange(100)) + "UL"] + (["cells[2]"] if may >= READ else []))

    def expression(self, caller, depth, may):
        if depth <= 0:
            return self.leaf(may)
        write = lambda may: self.expression(caller, depth - 1, may)
        e = lambda: write(min(may, READ))
        kinds = ["binary", "ternary", "and", "mix", "pure", "pure", "max", "inner"]
        if may >= READ:
            kinds += ["cell"]
        if may == EFFECT:
            kinds += ["call", "call", "macro call", "comma", "assign", "struct"]
            if self.cxx:
                kinds += ["temporary", "pass", "lambda", "lvalue", "risky"]
        if self.cxx:
            kinds += ["virtual", "template"]
        kind = self.pick(kinds)
        callee = self.random.randrange(caller + 1, FUNCTIONS) if caller + 1 < FUNCTIONS else None
        if kind in ("call", "macro call") and callee is None:
            kind = "pure"
        # Operands whose order is open.
        sides = [EFFECT, NOTHING] if may == EFFECT else [may, may]
        self.random.shuffle(sides)
        left, right = write(sides[0]), write(sides[1])
        return {
            "binary": lambda: f"({left} {self.pick(['+', '-', '*', '^', '|'])} {right})",
            "ternary": lambda: f"({write(may)} & 1 ? {write(may)} : {write(may)})",
            "and": lambda: f"(num)({write(may)} > 3 {self.pick(['&&', '||'])} {write(may)} < 50)",
            "mix": lambda: f"MIX({left}, {right})",
            "max": lambda: f"MAX({e()}, {e()})",
            "pure": lambda: f"pure{self.random.randrange(3)}({left}, {right})",
            "call": lambda: f"f{callee}({e()}, {e()})",
            "macro call": lambda: f"CALL(f{callee}, {e()}, {e()})",
            "comma": lambda: f"(note({e()}), {write(may)})",
            "assign": lambda: f"(CELL({e()}) = {e()})",
            "cell": lambda: f"CELL({e()})",
            "inner": lambda: f"({{ num t = {write(may)}; t + {e()}; }})",
            "risky": lambda: f"risky({write(may)})",
            "struct": lambda: f"pair({e()}, {e()}).{self.pick('ab')}",
            "temporary": lambda: f"Loud({e()}).get({e()})",
            "pass": lambda: f"pass(Loud({e()}), {e()})",
            "lambda": lambda: f"[&](num z) {{ note(z); return {e()} + z; }}({e()})",
            "lvalue": lambda: f"(cell({e()}) += {e()})",
            "virtual": lambda: f"({e()} & 1 ? base : (Base&)derived).value({e()})",
            "template": lambda: f"twice({e()})",
        }[kind]()

    def block(self, caller, depth, indent):
        return "".join(self.statement(caller, depth, indent + "  ") for _ in range(self.random.randrange(1, 4)))

    def statement(self, caller, depth, indent):
        e = lambda: self.expression(caller, 3, EFFECT)
        body = lambda: self.block(caller, depth - 1, indent)
        kinds = ["assign", "note", "macro", "two", "call"]
        if depth > 0:
            kinds += ["if", "if else", "for", "while", "do", "switch", "goto", "return"] + (["try", "scope"] if self.cxx else [])
        kind = self.pick(kinds)
        self.labels += 1
        n = self.labels
        lines = {
            "assign": lambda: f"{self.pick('vw')} = {e()};",
            "note": lambda: f"note({e()});",
            "macro": lambda: f"DO_NOTE({self.expression(caller, 2, READ)});",
            "two": lambda: f"NOTE_TWICE({self.expression(caller, 2, READ)});",
            "call": lambda: f"(void){e()};",
            "if": lambda: f"if ({e()} & 2) note({e()});",
            "if else": lambda: f"if ({e()} > 9) {{\n{body()}{indent}}} else {{\n{body()}{indent}}}",
            "for": lambda: f"for (num i{n} = 0; i{n} < 3 && {e()} != 1; ++i{n}) {{\n{body()}{indent}}}",
            "while": lambda: f"{{ num i{n} = 0; while (i{n}++ < 2 && {e()} != 2) {{\n{body()}{indent}}} }}",
            "do": lambda: f"{{ num i{n} = 0; do {{\n{body()}{indent}}} while (i{n}++ < 1 && {e()} != 3); }}",
            "switch": lambda: f"switch ({e()} & 3) {{\n{indent}case 0: note({e()});\n{indent}case 1: v += {e()}; break;\n"
                              f"{indent}default: {{\n{body()}{indent}}} }}",
            "goto": lambda: f"if ({e()} & 1) goto l{n};\n{indent}note({e()});\n{indent}l{n}: note({e()});",
            "return": lambda: f"if ({e()} % 7 == 1) return {e()};",
            "try": lambda: f"try {{\n{body()}{indent}  if ({e()} & 1) throw std::runtime_error(\"x\");\n{body()}{indent}}}"
                           f" catch (const std::exception&) {{ note({e()}); }}",
            "scope": lambda: f"{{ Loud l{n}({e()}); note(l{n}.get({e()})); {self.pick(['', f'Loud m{n}(std::move(l{n}));'])} }}",
        }
        return f"{indent}{lines[kind]()}\n"

    def function(self, number):
        return (f"static num f{number}(num a, num b) {{\n  num v = a + {number}, w = b;\n"
                f"  if (fuel == 0) return v;\n  --fuel;\n{self.block(number, 3, '')}  return v ^ w ^ {self.expression(number, 3, EFFECT)};\n}}\n")

    def program(self):
        text = CXX_PRELUDE if self.cxx else C_PRELUDE
        text += "static struct two pair(num a, num b) { struct two t; t.a = a; t.b = b; while (t.a > 1000) t.a /= 3; return t; }\n"
        for i in range(3):
            text += (f"static num pure{i}(num a, num b) {{ num s = {i}; for (num i = 0; i < (a & 3); ++i) s += i ^ b; return s; }}\n")
        text += "".join(f"static num f{i}(num a, num b);\n" for i in range(FUNCTIONS))
        text += "".join(self.function(i) for i in range(FUNCTIONS))
        call = "try { note(f0(i, i * i)); } catch (const std::exception&) { note(1); }" if self.cxx else "note(f0(i, i * i));"
        text += (f"int main(void) {{\n  for (num i = 0; i < 20; ++i) {{\n    fuel = 20000;\n    {call}\n    note(cells[i & 7]);\n"
                 "    printf(\"%lu\\n\", hash);\n  }\n  return 0;\n}\n")
        standard = "c++17" if self.cxx else "gnu11"
        return text + f"// FLAGS: -std={standard} -O1 -w\n// EXPAND: EVERYTHING\n"


def main():
    options = golden.parse_arguments(**{"--language": {"choices": ("c", "cpp"), "required": True},
                                        "--first": {"type": int, "required": True},
                                        "--count": {"type": int, "required": True}})
    measured = 0
    for seed in range(options.first, options.first + options.count):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, f"program.{options.language}")
            text = Writer(seed, options.language == "cpp").program()
            with open(path, "w") as out:
                out.write(text)
            try:
                measured += len(golden.check(options, path)["sites"])
            except SystemExit:
                print(f"seed {seed}, the program:\n{text}")
                sys.exit(1)
    if measured < 100 * options.count:
        golden.fail(f"only {measured} sites in {options.count} programs: they test too little")
    print(f"{measured} sites measured\n{options.count} passed, 0 failed")


main()
