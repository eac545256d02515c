// The original text of files that are rewritten in the mirror.
//
//   mirror/a.c               what is compiled: the instrumented text
//   pristine/a.c             what the user (or a generator of the build) wrote
//   pristine/manifest.json   {"a.c": [hash of our last text of mirror/a.c]}
//
// While files are being written, the manifest lists the old and the new text of each, so that an
// instrumented file is recognised whenever we are killed.
//
// If a file in the mirror is not our last text, somebody else has written it since: the build
// generated it again, or the driver copied a newer source. That text is the original from then on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

class PristineFiles {
 public:
  /// Opens the store. A missing one is empty. Error: the manifest is damaged.
  static Result<PristineFiles> open(const std::string& mirror, const std::string& pristine);

  /// Original text of a file of the mirror, rewritten or not.
  Result<std::string> original(const std::string& file) const;
  /// Files that are currently rewritten in the mirror.
  std::vector<std::string> rewritten() const;
  /// Writes `texts` (by file) to the mirror in parallel and restores all other files. Returns the
  /// files that changed, sorted; adds them to the list `changed` (changed_files.h) before, unless
  /// that is empty. The others keep their time stamps.
  Result<std::vector<std::string>> update(const std::map<std::string, std::string>& texts,
                                          const std::string& changed = "");

 private:
  using Hashes = std::vector<std::string>;

  bool is_ours(const std::string& file, const std::string& content) const;
  Result<bool> prepare(const std::string& file, const std::string& text, Hashes& hashes) const;
  Result<void> save() const;

  std::string mirror_;
  std::string pristine_;
  std::map<std::string, Hashes> written_;
};

}  // namespace vprof::instrumenter
