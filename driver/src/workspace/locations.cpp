#include "workspace/locations.h"
#include "vprof/support/json.h"

#include <cstdlib>

// driver/CMakeLists.txt sets the installed layout, relative to the directory of the program.
#ifndef VPROF_RELATIVE_LIBDIR
#error \
    "VPROF_RELATIVE_LIBDIR, VPROF_RELATIVE_LIBEXECDIR and VPROF_RELATIVE_INCLUDEDIR must be set by the build"
#endif

namespace vprof::driver {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<Locations> from_file(const fs::path& file) {
  auto document = VPROF_TRY(read_json(file));
  const auto text = [&document](const char* key) { return document.value(key, std::string()); };
  Locations found{.instrument = text("instrument"),
                  .shim = text("shim"),
                  .interposer = text("interposer"),
                  .runtime = text("runtime"),
                  .schemas = text("schemas"),
                  .assistant = text("assistant"),
                  .tables = text("tables"),
                  .python = text("python"),
                  .catalogue = text("catalogue"),
                  .includes = {}};
  for (const auto& include : document.value("includes", nlohmann::json::array())) {
    found.includes.emplace_back(include.get<std::string>());
  }
  return found;
}

Locations from_layout(const fs::path& bin) {
  const fs::path libexec = (bin / VPROF_RELATIVE_LIBEXECDIR).lexically_normal();
  return {.instrument = libexec / "vprof-instrument",
          .shim = libexec / "vprof-shim",
          .interposer = libexec / "libvprof-exec.so",
          .runtime = (bin / VPROF_RELATIVE_LIBDIR / "libvprof.so").lexically_normal(),
          .schemas = (bin / VPROF_RELATIVE_DATADIR / "vprof/schemas").lexically_normal(),
          .assistant = (bin / VPROF_RELATIVE_DATADIR / "vprof/assistant").lexically_normal(),
          .tables = libexec / "vprof-tables",
          .python = (bin / VPROF_RELATIVE_DATADIR / "vprof/python").lexically_normal(),
          .catalogue = (bin / VPROF_RELATIVE_DATADIR / "vprof/catalogue").lexically_normal(),
          .includes = {(bin / VPROF_RELATIVE_INCLUDEDIR).lexically_normal()}};
}

Result<Locations> search() {
  if (const std::string file = variable("VPROF_LOCATIONS"); !file.empty()) {
    return from_file(file);
  }
  if (const std::string home = variable("VPROF_HOME"); !home.empty()) {
    return from_layout(fs::path(home) / "bin");
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return fail(
        "cannot find the installation of vprof (/proc/self/exe: {}); set VPROF_HOME to its "
        "prefix",
        error.message());
  }
  const fs::path beside = self.parent_path() / "vprof-locations.json";
  if (fs::exists(beside, error)) {
    return from_file(beside);
  }
  return from_layout(self.parent_path());
}

}  // namespace

Result<Locations> find_locations() {
  auto found = VPROF_TRY(search());
  std::error_code error;
  for (const fs::path& needed : {found.instrument, found.shim, found.interposer, found.runtime}) {
    if (fs::exists(needed, error)) {
      continue;
    }
    return fail(
        "a part of vprof is missing: {}; install vprof again, or set VPROF_HOME to its prefix",
        needed.string());
  }
  return found;
}

}  // namespace vprof::driver
