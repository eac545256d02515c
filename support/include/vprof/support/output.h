// Where results go that the user named a file for.
//
// "-" is standard output. A symbolic link stays, and what it leads to is replaced. What is no
// regular file, such as a pipe or a device, is written to as it is.
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>

#include "vprof/support/files.h"

namespace vprof {

/// Whether the name leads to where standard output leads: "-", /dev/stdout, or the file that it was
/// redirected to. Then nothing else may be written there.
bool is_standard_output(const fs::path& name);

/// Whether a new file takes the place of the old one, which is done as a whole or not at all.
bool is_replaced(const fs::path& name);

/// Error: nothing can be written there, as far as can be told before.
Result<void> check_output(const fs::path& name);

/// Writes all of it.
Result<void> write_output(const fs::path& name, std::string_view text);

/// An output under construction. Where it replaces a file it is `NAME.part` until publish() gives
/// it its name, so that it is complete or absent.
class OutputDraft {
 public:
  explicit OutputDraft(fs::path name);
  ~OutputDraft();
  OutputDraft(const OutputDraft&) = delete;
  OutputDraft& operator=(const OutputDraft&) = delete;

  using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  /// For writing, from the beginning. Null: errno says why.
  Stream open() const;
  /// The file that is written.
  const fs::path& path() const { return draft_; }
  Result<void> publish();
  tl::unexpected<Error> failed(std::string_view reason) const;
  /// The reason is errno.
  tl::unexpected<Error> failed() const;

 private:
  const fs::path name_;
  const bool replaced_;
  fs::path target_, draft_;
};

}  // namespace vprof
