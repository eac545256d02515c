// A small program as the index describes it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::test {

inline instrumenter::Call call(const std::string& key) {
  instrumenter::Call made;
  made.callee_key = key;
  made.callee_name = key.substr(0, key.rfind('@'));
  made.form = instrumenter::Form::kStatement;
  made.file = "a.c";
  made.line = 1;
  return made;
}

inline instrumenter::Function function(const std::string& key,
                                       const std::vector<std::string>& callees) {
  instrumenter::Function made;
  made.key = key;
  made.name = key.substr(0, key.find('@'));
  const std::string place = key.substr(key.find('@') + 1);
  made.file = place.substr(0, place.find(':'));
  made.in_tree = !made.file.empty();
  if (made.in_tree) {
    made.line = static_cast<uint32_t>(std::stoul(place.substr(place.find(':') + 1)));
  }
  for (const std::string& callee : callees) {
    made.calls.push_back(call(callee));
  }
  return made;
}

/// The call graph; `worker` is only called through a pointer, and two functions are named `helper`:
///
///   main ─▶ handle ─┬─▶ parse ─▶ helper (a.c)
///                   ├─▶ store ─▶ lock, helper (b.c), log
///                   └─▶ log
///   worker ─▶ vprof_begin, log
inline instrumenter::Program program() {
  instrumenter::Program made;
  made.functions = {function("handle@a.c:10", {"parse@a.c:1", "store@b.c:5", "log@"}),
                    function("helper@a.c:3", {}),
                    function("helper@b.c:3", {}),
                    function("log@", {}),
                    function("main@a.c:30", {"handle@a.c:10"}),
                    function("parse@a.c:1", {"helper@a.c:3"}),
                    function("store@b.c:5", {"lock@", "helper@b.c:3", "log@"}),
                    function("lock@", {}),
                    function("vprof_begin@", {}),
                    function("worker@c.c:7", {"vprof_begin@", "log@"})};
  std::sort(made.functions.begin(), made.functions.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  made.finish();
  return made;
}

}  // namespace vprof::test
