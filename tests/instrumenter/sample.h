// A small program as data, for tests that need no Clang.
#pragma once

#include "vprof/instrumenter/program.h"

namespace sample {

using vprof::instrumenter::Call;
using vprof::instrumenter::CallKind;
using vprof::instrumenter::Form;
using vprof::instrumenter::Function;
using vprof::instrumenter::Program;

inline Function function(const std::string& name, const std::string& file, uint32_t line) {
  Function f;
  f.name = name;
  f.file = file;
  f.line = line;
  f.key = file.empty() ? name + "@" : name + "@" + file + ":" + std::to_string(line);
  f.in_tree = !file.empty();
  f.body = line * 10;
  return f;
}

inline Call call(const Function& caller, const Function& callee, uint32_t begin, uint32_t end,
                 Form form) {
  Call c;
  c.callee_key = callee.key;
  c.callee_name = callee.name;
  c.form = form;
  c.begin = begin;
  c.end = end;
  c.full_expr = begin;
  c.file = caller.file;
  c.line = caller.line + 1;
  c.column = begin;
  if (form == Form::kRefused) {
    c.reason = vprof::instrumenter::Reason::kScattered;
  }
  return c;
}

}  // namespace sample
