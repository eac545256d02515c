// The original text of files that are rewritten in the mirror.
//
//   mirror/a.c    what is compiled: instrumented text
//   pristine/a.c  what the user (or a generator of the build) wrote
//   pristine/manifest.json   {"a.c": hash of what we last wrote to mirror/a.c}
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
  /// Makes `text` the content of the mirror's file. Returns whether it changed; an unchanged file
  /// keeps its time stamp.
  Result<bool> rewrite(const std::string& file, const std::string& original,
                       const std::string& text);
  /// Gives the mirror's file its original text again.
  Result<bool> restore(const std::string& file);

 private:
  bool is_ours(const std::string& file, const std::string& content) const;
  Result<void> save() const;

  std::string mirror_;
  std::string pristine_;
  std::map<std::string, std::string> written_;
};

}  // namespace vprof::instrumenter
