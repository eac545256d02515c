#include "build/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "process/interrupt.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

/// The properties that tell whether a file has changed.
struct Entry {
  char kind = 'f';  ///< `f`ile, `d`irectory, `l`ink
  int64_t size = 0;
  int64_t mtime_ns = 0;
  unsigned mode = 0;
  std::string target;  ///< target of a link, as in the source

  bool operator==(const Entry&) const = default;
};

using Manifest = std::map<std::string, Entry>;  // sorted: a directory precedes its contents

int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

timespec to_timespec(int64_t ns) {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

bool inside(const fs::path& path, const fs::path& directory) {
  const fs::path relative = path.lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

bool is_object_file(const fs::path& name) {
  return name.extension() == ".o" || name.extension() == ".lo";
}

/// Whether CMake or Meson has configured a build tree here.
bool is_build_tree(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "CMakeCache.txt", error) ||
         fs::is_directory(directory / "meson-private", error);
}

/// For a build at the top of the source tree: whether a file contains absolute paths, and must
/// therefore not be copied.
bool has_absolute_paths(const fs::path& relative) {
  return relative == "CMakeCache.txt" || relative == "CMakeFiles";
}

/// Lists the source tree. Reads directories and opens no file.
class Scan {
 public:
  Scan(const fs::path& source, fs::path leave_out, std::vector<std::string>& skipped)
      : source_(source), leave_out_(std::move(leave_out)), skipped_(skipped) {}

  Result<Manifest> run() {
    std::vector<fs::path> pending = {fs::path()};
    while (!pending.empty()) {
      const fs::path directory = std::move(pending.back());
      pending.pop_back();
      std::error_code error;
      for (const auto& item : fs::directory_iterator(source_ / directory, error)) {
        const fs::path relative = directory / item.path().filename();
        VPROF_TRY(look_at(relative, pending));
      }
      if (error) {
        return fail("cannot read {}: {}", shown(source_ / directory), error.message());
      }
    }
    return std::move(found_);
  }

 private:
  Result<void> look_at(const fs::path& relative, std::vector<fs::path>& pending) {
    const fs::path name = relative.filename();
    if (name == ".git" || name == ".vprof" || is_object_file(name) ||
        has_absolute_paths(relative)) {
      return {};
    }
    const fs::path full = source_ / relative;
    if (full == leave_out_) {
      return {};
    }
    struct stat status{};
    if (::lstat(full.c_str(), &status) != 0) {
      return fail("cannot read {}: {}", shown(full), std::strerror(errno));
    }
    Entry entry{.kind = 'f',
                .size = status.st_size,
                .mtime_ns = nanoseconds(status.st_mtim),
                .mode = status.st_mode & 07777,
                .target = ""};
    if (S_ISDIR(status.st_mode)) {
      if (is_build_tree(full)) {
        skipped_.push_back(relative.string());
        return {};
      }
      // A directory's size and time change with its contents, which have entries of their own.
      entry.kind = 'd';
      entry.size = 0;
      entry.mtime_ns = 0;
      pending.push_back(relative);
    } else if (S_ISLNK(status.st_mode)) {
      std::error_code error;
      entry.kind = 'l';
      entry.target = fs::read_symlink(full, error).string();
      if (error) {
        return fail("cannot read {}: {}", shown(full), error.message());
      }
    } else if (!S_ISREG(status.st_mode)) {
      skipped_.push_back(relative.string());
      return {};
    }
    found_.emplace(relative.string(), entry);
    return {};
  }

  const fs::path& source_;
  const fs::path leave_out_;
  std::vector<std::string>& skipped_;
  Manifest found_;
};

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

class Sync {
 public:
  Sync(const fs::path& source, const Workspace& workspace, bool first)
      : source_(source),
        mirror_(workspace.mirror()),
        pristine_(workspace.pristine()),
        first_(first) {}

  Result<void> remove(const std::string& relative, const Entry& entry) {
    std::error_code error;
    const fs::path to = mirror_ / relative;
    if (entry.kind == 'd') {
      fs::remove(to, error);  // fails if the build generated files in it, which is intended
      return {};
    }
    fs::remove(pristine_ / relative, error);
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
    fs::remove(pristine_ / relative, error);
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
  /// Adds write permission: the build and the rewriter need it, whatever the mode in the source.
  static Result<void> make_directory(const fs::path& to, const Entry& entry) {
    VPROF_TRY(make_directories(to));
    if (::chmod(to.c_str(), entry.mode | 0700) != 0) {
      return fail("cannot write {}: {}", shown(to), std::strerror(errno));
    }
    return {};
  }

  const fs::path& source_;
  fs::path mirror_, pristine_;
  bool first_;
};

Manifest load_manifest(const Workspace& workspace) {
  Manifest manifest;
  std::error_code error;
  if (!fs::is_directory(workspace.mirror(), error)) {
    return manifest;
  }
  auto document = read_json(workspace.manifest());
  if (!document || !document->is_object()) {
    return manifest;
  }
  for (const auto& [path, e] : document->items()) {
    if (!e.is_array() || e.size() != 5) {
      return {};
    }
    const std::string kind = e[0];
    manifest[path] = {.kind = kind.empty() ? 'f' : kind[0],
                      .size = e[1],
                      .mtime_ns = e[2],
                      .mode = e[3],
                      .target = e[4]};
  }
  return manifest;
}

Result<void> save_manifest(const Workspace& workspace, const Manifest& manifest) {
  json document = json::object();
  for (const auto& [path, e] : manifest) {
    document[path] = {std::string(1, e.kind), e.size, e.mtime_ns, e.mode, e.target};
  }
  // File names need not be UTF-8; dump() would throw on those that are not.
  return write_file_atomic(workspace.manifest(),
                           document.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

Result<MirrorChange> sync_mirror(const fs::path& source, const Workspace& workspace,
                                 const fs::path& leave_out) {
  MirrorChange change;
  auto now = VPROF_TRY(Scan(source, leave_out, change.skipped).run());
  const Manifest before = load_manifest(workspace);
  change.first = before.empty();
  if (change.first) {
    // The mirror has no usable manifest, for example after an interrupted first copy: nothing tells
    // which of its files are out of date.
    VPROF_TRY(remove_tree(workspace.mirror()));
    VPROF_TRY(remove_tree(workspace.pristine()));
  }
  VPROF_TRY(make_directories(workspace.mirror()));
  Sync sync(source, workspace, change.first);
  // Backwards, so that the contents of a directory are deleted before the directory.
  for (auto entry = before.rbegin(); entry != before.rend(); ++entry) {
    if (now.contains(entry->first)) {
      continue;
    }
    VPROF_TRY(sync.remove(entry->first, entry->second));
    change.deleted.push_back(entry->first);
  }
  for (const auto& [path, entry] : now) {
    const auto old = before.find(path);
    if (old != before.end() && old->second == entry) {
      continue;
    }
    if (interrupt::requested()) {
      return fail(ErrorKind::kInterrupted, "interrupted");
    }
    VPROF_TRY(sync.copy(path, entry));
    if (entry.kind != 'd') {
      change.changed.push_back(path);
    }
  }
  if (change.first || change.any()) {
    VPROF_TRY(save_manifest(workspace, now));
  }
  return change;
}

}  // namespace vprof::driver
