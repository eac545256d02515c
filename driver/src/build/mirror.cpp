#include "build/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "build/manifest.h"
#include "process/interrupt.h"
#include "vprof/instrumenter/changed_files.h"
#include "workspace/outputs.h"

namespace vprof::driver {

namespace {

timespec to_timespec(int64_t ns) {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

bool inside(const fs::path& path, const fs::path& directory) {
  const fs::path relative = path.lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

/// Copies content, mode and time under a temporary name and renames it: a file of the mirror is old
/// or new, never incomplete.
Result<void> copy_file(const fs::path& from, const fs::path& to, const Entry& entry, bool as_new) {
  const fs::path temporary = to.string() + ".vprof-copy";
  std::error_code error;
  fs::copy_file(from, temporary, fs::copy_options::overwrite_existing, error);
  if (error) {
    return fail("cannot copy {} to {}: {}", shown(from), shown(to), error.message());
  }
  const timespec time =
      as_new ? timespec{.tv_sec = 0, .tv_nsec = UTIME_NOW} : to_timespec(entry.mtime_ns);
  const timespec times[2] = {time, time};
  const bool ok = ::utimensat(AT_FDCWD, temporary.c_str(), times, 0) == 0 &&
                  ::chmod(temporary.c_str(), entry.mode) == 0 &&
                  ::rename(temporary.c_str(), to.c_str()) == 0;
  if (!ok) {
    return fail("cannot write {}: {}", shown(to), std::strerror(errno));
  }
  return {};
}

/// The target that a link of the source gets in the mirror.
fs::path retargeted(const fs::path& source, const fs::path& mirror, const std::string& relative,
                    const fs::path& target) {
  const fs::path full = (source / relative).parent_path() / target;
  const fs::path leads_to = full.lexically_normal();
  if (target.is_absolute()) {
    return inside(leads_to, source) ? mirror / leads_to.lexically_relative(source) : target;
  }
  return inside(leads_to, source) ? target : leads_to;
}

class MirrorWriter {
 public:
  MirrorWriter(const fs::path& source, const Workspace& workspace, bool first)
      : source_(source),
        mirror_(workspace.mirror()),
        pristine_(workspace.pristine()),
        manifest_(workspace.pristine_manifest()),
        first_(first) {}

  Result<void> remove(const std::string& relative, const Entry& entry) {
    std::error_code error;
    const fs::path to = mirror_ / relative;
    if (entry.kind == 'd') {
      fs::remove(to, error);  // fails if the build generated files in it, which is intended
      return {};
    }
    forget_original(relative);
    fs::remove(to, error);
    if (error) {
      return fail("cannot delete {}: {}", shown(to), error.message());
    }
    return {};
  }

  Result<void> copy(const std::string& relative, const Entry& entry) {
    const fs::path from = source_ / relative;
    const fs::path to = mirror_ / relative;
    std::error_code error;
    forget_original(relative);
    const fs::file_type there = fs::symlink_status(to, error).type();
    const bool directory_there = there == fs::file_type::directory;
    if (directory_there != (entry.kind == 'd') && there != fs::file_type::not_found) {
      fs::remove_all(to, error);
    }
    if (entry.kind == 'd') {
      return make_directory(to, entry);
    }
    if (entry.kind == 'f') {
      return copy_file(from, to, entry, !first_);
    }
    fs::remove(to, error);
    fs::create_symlink(retargeted(source_, mirror_, relative, entry.target), to, error);
    if (error) {
      return fail("cannot create {}: {}", shown(to), error.message());
    }
    return {};
  }

 private:
  void forget_original(const std::string& relative) const {
    const fs::path original = pristine_ / relative;
    std::error_code error;
    if (original != manifest_) {  // which is the rewriter's, whatever the source calls so
      fs::remove(original, error);
    }
  }

  /// Adds write permission: the build and the rewriter need it, whatever the mode in the source.
  static Result<void> make_directory(const fs::path& to, const Entry& entry) {
    VPROF_TRY(make_directories(to));
    if (::chmod(to.c_str(), entry.mode | 0700) != 0) {
      return fail("cannot write {}: {}", shown(to), std::strerror(errno));
    }
    return {};
  }

  const fs::path& source_;
  fs::path mirror_, pristine_, manifest_;
  bool first_;
};

}  // namespace

Result<MirrorChange> sync_mirror(const fs::path& source, const Workspace& workspace,
                                 const fs::path& leave_out) {
  MirrorChange change;
  auto now = VPROF_TRY(list_source(source, leave_out, change.skipped));
  const Manifest before = load_manifest(workspace);
  change.first = before.empty();
  for (const std::string& path : outputs(workspace)) {
    // One that was taken for source before it was known stays as it was.
    const auto old = before.find(path);
    now.erase(path);
    if (old != before.end()) {
      now.emplace(path, old->second);
    }
  }
  if (change.first) {
    // The mirror has no usable manifest, for example after an interrupted first copy: nothing tells
    // which of its files are out of date.
    VPROF_TRY(remove_tree(workspace.mirror()));
    VPROF_TRY(remove_tree(workspace.pristine()));
  }
  VPROF_TRY(make_directories(workspace.mirror()));
  MirrorWriter writer(source, workspace, change.first);
  Manifest to_copy;
  for (const auto& [path, entry] : now) {
    const auto old = before.find(path);
    if (old == before.end() || old->second != entry) {
      to_copy.emplace(path, entry);
      if (entry.kind != 'd') {
        change.changed.push_back(path);
      }
    }
  }
  // Backwards, so that the contents of a directory are deleted before the directory.
  for (auto entry = before.rbegin(); entry != before.rend(); ++entry) {
    if (!now.contains(entry->first)) {
      change.deleted.push_back(entry->first);
    }
  }
  if (!change.first) {
    std::set<std::string> changing(change.changed.begin(), change.changed.end());
    changing.insert(change.deleted.begin(), change.deleted.end());
    VPROF_TRY(instrumenter::add_changed_files(workspace.changed(), changing));
  }
  for (const std::string& path : change.deleted) {
    VPROF_TRY(writer.remove(path, before.at(path)));
  }
  for (const auto& [path, entry] : to_copy) {
    if (interrupt::requested()) {
      return fail(ErrorKind::kInterrupted, "interrupted");
    }
    VPROF_TRY(writer.copy(path, entry));
  }
  if (change.first || change.any()) {
    VPROF_TRY(save_manifest(workspace, now));
  }
  return change;
}

}  // namespace vprof::driver
