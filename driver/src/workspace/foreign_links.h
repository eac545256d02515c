// Links that lead out of the source tree.
//
// A link to sources is copied as what it leads to: the mirror must have files of its own to
// instrument. All other links remain links: nobody wants a copy of a data set, or of /usr/share.
#pragma once

#include <map>

#include "vprof/support/files.h"

namespace vprof::driver {

class ForeignLinks {
 public:
  explicit ForeignLinks(const fs::path& source);

  /// Whether what is at `relative`, a link in the tree or below a followed one, is copied in its
  /// place: a C or C++ file, or a directory that contains one.
  bool follows(const fs::path& relative);
  /// The target for a link that is not followed, below one that is: its own text would lead
  /// elsewhere from the mirror. Otherwise `target`.
  std::string target_of(const fs::path& relative, const std::string& target) const;

 private:
  bool below_followed(const fs::path& relative) const;
  bool is_cycle(const fs::path& relative, const fs::path& target) const;

  const fs::path source_;
  const fs::path canonical_;
  std::map<fs::path, fs::path> followed_;  // directories; where they are
};

}  // namespace vprof::driver
