// The first vprof.json of a program: how it is built, and what a request may be, judged by the text
// of its source.
#pragma once

#include "discovery/build_system.h"
#include "discovery/candidates.h"

namespace vprof::driver {

struct Draft {
  BuildSystem system;
  bool annotated = false;  ///< the source marks its intervals itself
  size_t files = 0;
  Proposals proposals;                    ///< the first one goes into "intervals"
  std::string run = "./run-workload.sh";  ///< the workload
};

/// `function` is what the user says a request is; empty: nothing is said.
Draft draft_for(const fs::path& source, const ScannedSource& scanned, const std::string& function);

/// `order  src/main.c:4`, or `stream_new ... stream_free  src/stream.c:10`.
std::string title(const Candidate& one);

/// `"$schema": "file:///..."` for editors; empty if there is no such file.
std::string schema_member(const fs::path& schema);

/// The text of vprof.json. Its comments explain each key, so that users can complete the file
/// without the manual.
std::string configuration(const Draft& draft, const fs::path& schema);

}  // namespace vprof::driver
