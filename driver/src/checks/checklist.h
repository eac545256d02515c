// The output of `vprof check`: one line for each thing it looks at.
#pragma once

#include <string>
#include <vector>

#include "workspace/session.h"

namespace vprof::instrumenter {
class Program;
}

namespace vprof::driver {

class Checklist {
 public:
  struct Item {
    std::string state;  ///< `ok`, `note` or `problem`
    std::string what;
    std::string found;  ///< what there is, or what is wrong with it
    std::string fix;    ///< empty: nothing to mend
  };

  /// `prints`: each item at once, as a line.
  explicit Checklist(bool prints) : prints_(prints) {}
  void ok(const std::string& what, const std::string& found);
  /// vprof works, but its result may suffer.
  void note(const std::string& what, const std::string& problem, const std::string& mend);
  /// vprof will fail.
  void problem(const std::string& what, const std::string& problem, const std::string& mend);
  size_t problems() const { return problems_; }
  const std::vector<Item>& items() const { return items_; }

 private:
  void add(Item item);

  const bool prints_;
  std::vector<Item> items_;
  size_t problems_ = 0;
};

/// Checks that everything vprof.json names exists.
void check_configuration(Checklist& list, const Session& session);

/// Suggests to name under "sync" the functions that wait by spinning, as far as it does not yet.
void check_spinning(Checklist& list, const Config& config, const instrumenter::Program& program);

/// Checks installation, compiler, clock, processors, disk, and what the kernel lets vprof record.
void check_machine(Checklist& list, const Session& session);

/// The path of a program as a shell in `directory` would find it; empty if there is none.
fs::path on_path(const std::string& name, const fs::path& directory);

}  // namespace vprof::driver
