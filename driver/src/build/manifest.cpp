#include "build/manifest.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "vprof/support/json.h"
#include "workspace/foreign_links.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

bool is_object_file(const fs::path& name) {
  return name.extension() == ".o" || name.extension() == ".lo";
}

/// For a build at the top of the source tree: whether a file contains absolute paths, and must
/// therefore not be copied.
bool has_absolute_paths(const fs::path& relative) {
  return relative == "CMakeCache.txt" || relative == "CMakeFiles";
}

class SourceListing {
 public:
  SourceListing(const fs::path& source, fs::path leave_out, std::vector<std::string>& skipped)
      : source_(source), leave_out_(std::move(leave_out)), skipped_(skipped), links_(source) {}

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
    if (::lstat(full.c_str(), &status) != 0 ||
        (S_ISLNK(status.st_mode) && links_.follows(relative) &&
         ::stat(full.c_str(), &status) != 0)) {
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
      entry.target = links_.target_of(relative, fs::read_symlink(full, error).string());
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
  ForeignLinks links_;
  Manifest found_;
};

}  // namespace

Result<Manifest> list_source(const fs::path& source, const fs::path& leave_out,
                             std::vector<std::string>& skipped) {
  return SourceListing(source, leave_out, skipped).run();
}

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
  return write_file_atomic(workspace.manifest(), json_text(document, -1));
}

}  // namespace vprof::driver
