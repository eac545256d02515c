// Finds the parts of an installation, under any prefix, from the path of the running program.
#pragma once

#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

struct Locations {
  fs::path instrument;  ///< vprof-instrument
  fs::path shim;        ///< vprof-shim
  fs::path interposer;  ///< libvprof-exec.so
  fs::path runtime;     ///< libvprof.so
  fs::path schemas;     ///< directory of the JSON Schemas
  fs::path assistant;   ///< directory of the server of `vprof mcp`
  fs::path tables;      ///< vprof-tables; missing where vprof was built without Apache Arrow
  fs::path python;      ///< directory of the Python package, for `vprof fleet`
  fs::path catalogue;   ///< directory of the configurations of well-known programs
  /// Directories of `vprof/annotations.h` and the headers that it includes.
  std::vector<fs::path> includes;
};

/// The first of these that applies:
/// - the file that $VPROF_LOCATIONS names;
/// - the prefix that $VPROF_HOME names;
/// - `vprof-locations.json` next to the program (a build tree);
/// - the installed layout, relative to the program.
///
/// Error: names the missing part and how to fix that.
Result<Locations> find_locations();

}  // namespace vprof::driver
