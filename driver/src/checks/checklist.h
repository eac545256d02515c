// What `vprof check` looked at: a line each.
#pragma once

#include <string>

#include "workspace/session.h"

namespace vprof::driver {

class Checklist {
 public:
  void ok(const std::string& what, const std::string& found);
  /// The result will be less good, but there will be one.
  void note(const std::string& what, const std::string& problem, const std::string& mend);
  void problem(const std::string& what, const std::string& problem, const std::string& mend);
  size_t problems() const { return problems_; }

 private:
  size_t problems_ = 0;
};

/// Every line of vprof.json: what it names is there.
void check_configuration(Checklist& list, const Session& session);

/// Installation, compiler, clock, processors, disk, and what the kernel lets us see.
void check_machine(Checklist& list, const Session& session);

/// A program as a shell would find it from `directory`; empty: there is none.
fs::path on_path(const std::string& name, const fs::path& directory);

}  // namespace vprof::driver
