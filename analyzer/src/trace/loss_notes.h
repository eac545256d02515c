// Notes in the report on what a recording lacks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

/// Notes for people on what processes did not record, or did not keep, according to the headers of
/// their traces. What several processes have in common is one note, with their numbers added up.
class LossNotes {
 public:
  /// @param is_whole whether all of the recording is looked at, and not what is new in its rings
  void add(const vprof_file_header& header, bool is_whole);

  /// In order of kind: of one process `process 12: ...`, of several `404 processes: ...`.
  std::vector<std::string> text() const;

 private:
  enum class Kind : uint8_t {
    kOverwritten,
    kLeftOut,
    kSwitchesRefused,
    kUnwatched,
    kLetGo,
    kSwitchesLost
  };
  struct Sum {
    uint64_t processes = 0;
    uint64_t pid = 0;  ///< of one of them
    uint64_t lost = 0;
    uint64_t threads = 0;
  };

  void add(Kind kind, const vprof_file_header& header, uint64_t lost,
           const std::string& detail = "");
  static std::string text(Kind kind, const std::string& detail, const Sum& sum);

  std::map<std::pair<Kind, std::string>, Sum> sums_;  // with the detail: what differs in words
};

}  // namespace vprof::analyzer
