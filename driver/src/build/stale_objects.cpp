#include "build/stale_objects.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "vprof/instrumenter/changed_files.h"
#include "vprof/instrumenter/program.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using instrumenter::Program;

/// A plain makefile may not know that sources depend on a rewritten header.
void touch_dependents(const Session& session, const Program& program,
                      const std::set<std::string>& files) {
  for (const instrumenter::Unit& unit : program.units) {
    if (fs::path(unit.file).is_absolute() || files.contains(unit.file)) {
      continue;
    }
    const bool depends = std::any_of(unit.deps.begin(), unit.deps.end(),
                                     [&](const auto& d) { return files.contains(d); });
    if (depends) {
      ::utimensat(AT_FDCWD, (session.workspace.mirror() / unit.file).c_str(), nullptr, 0);
    }
  }
}

/// A build that names files of the source tree by absolute paths watches those, not the copies that
/// the shim has compiled in their place. Without its object, such a copy is compiled again.
Result<void> remove_moved_objects(const Session& session, const Program& program,
                                  const std::set<std::string>& files) {
  std::set<std::string> affected;
  for (const instrumenter::Unit& unit : program.units) {
    if (std::ranges::any_of(unit.deps, [&](const auto& d) { return files.contains(d); })) {
      affected.insert((session.workspace.mirror() / unit.file).lexically_normal().string());
    }
  }
  std::error_code error;
  if (!fs::exists(session.workspace.compile_commands(), error)) {
    return {};
  }
  const auto entries = VPROF_TRY(read_json(session.workspace.compile_commands()));
  for (const auto& entry : entries) {
    const fs::path directory = entry.value("directory", "");
    const fs::path file = (directory / entry.value("file", "")).lexically_normal();
    const auto arguments = entry.value("arguments", std::vector<std::string>());
    const bool moved = std::ranges::find(arguments, "-DVPROF_MOVED") != arguments.end();
    const fs::path object = directory / entry.value("output", "");
    if (moved && affected.contains(file.string()) && session.workspace.in_mirror(object)) {
      fs::remove(object, error);
    }
  }
  return {};
}

}  // namespace

Result<void> make_stale(const Session& session, const Program& program) {
  const fs::path list = session.workspace.changed();
  const auto changed = VPROF_TRY(instrumenter::load_changed_files(list));
  touch_dependents(session, program, changed);
  VPROF_TRY(remove_moved_objects(session, program, changed));
  return remove_tree(list);
}

size_t units_with(const instrumenter::Program& program, const std::vector<std::string>& changed) {
  const std::set<std::string> files(changed.begin(), changed.end());
  return static_cast<size_t>(std::ranges::count_if(program.units, [&](const auto& unit) {
    return files.contains(unit.file) ||
           std::ranges::any_of(unit.deps, [&](const auto& d) { return files.contains(d); });
  }));
}

}  // namespace vprof::driver
