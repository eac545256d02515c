// The original text of files that are rewritten in the mirror.
//
//   mirror/a.c    what is compiled: instrumented text
//   pristine/a.c  what the user (or a generator of the build) wrote
//   pristine/manifest.json   {"a.c": [hash of what we last wrote to mirror/a.c]}
//
// While files are being written, the manifest names the old text and the new one of each, so that
// an instrumented file is known as such at whatever moment we are killed.
//
// If the mirror's file is not what we last wrote, somebody else wrote it since (the build
// regenerated it, the driver copied a newer source): then that is the original now.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

class PristineFiles {
 public:
  /// Opens the store; a missing one is empty. Error: the manifest is damaged.
  static Result<PristineFiles> open(const std::string& mirror, const std::string& pristine);

  /// Original text of a file of the mirror, whether rewritten or not.
  Result<std::string> original(const std::string& file) const;
  /// Files that are rewritten in the mirror now.
  std::vector<std::string> rewritten() const;
  /// Brings the mirror to `texts` (by file), on all cores; all other files get their original text
  /// again. Returns the files that changed, sorted; the others keep their time stamps.
  Result<std::vector<std::string>> update(const std::map<std::string, std::string>& texts);

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
