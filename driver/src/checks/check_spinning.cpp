// The part of `vprof check` that looks for functions that wait by spinning, which no library call
// reveals.
#include <fmt/format.h>

#include <set>
#include <string>

#include "checks/checklist.h"
#include "pipeline/steps.h"

namespace vprof::driver {

namespace {

using instrumenter::Function;
using instrumenter::Program;
using instrumenter::SpinLoop;

/// The functions that "sync" names.
std::set<std::string> named_under_sync(const Config& config, const Program& program) {
  std::set<std::string> keys;
  for (const Sync& sync : config.sync) {
    for (const Function* f : program.find(sync.function)) {
      keys.insert(f->key);
    }
  }
  return keys;
}

std::string advice(const Function& f, const SpinLoop& loop) {
  if (!loop.alone) {
    return "move the loop into a function of its own, and name that under \"sync\": \"acquire\"";
  }
  if (loop.object.empty()) {
    return "give the function what it reads as an argument, and name it under \"sync\": "
           "\"acquire\"";
  }
  return fmt::format(
      "consider \"sync\": {{ \"acquire\": [{{ \"function\": \"{}\", \"object\": \"{}\" }}] }}, and "
      "name what ends the wait under \"release\"",
      f.name, loop.object);
}

}  // namespace

void check_spinning(Checklist& list, const Config& config, const Program& program) {
  const std::set<std::string> named = named_under_sync(config, program);
  for (const Function& f : program.functions) {
    if (f.spins.empty() || named.contains(f.key)) {
      continue;
    }
    const SpinLoop& loop = f.spins.front();
    list.note("sync",
              fmt::format("{} waits by spinning ({}:{}), which looks like work", f.name, f.file,
                          loop.line),
              advice(f, loop));
  }
}

}  // namespace vprof::driver
