// Where the parts of an installation are: found from the place of the running program, under any
// prefix.
#pragma once

#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

struct Locations {
  fs::path instrument;  ///< vprof-instrument
  fs::path shim;        ///< vprof-shim
  fs::path runtime;     ///< libvprof.so
  fs::path schemas;     ///< directory of the JSON Schemas
  std::vector<fs::path>
      includes;  ///< directories that hold `vprof/annotations.h` and what it includes
};

/// In this order: the file that $VPROF_LOCATIONS names; the prefix that $VPROF_HOME names;
/// `vprof-locations.json` beside the program (a build tree); the directories of the installed
/// layout, relative to the program. Error: names what is missing and how to mend it.
Result<Locations> find_locations();

}  // namespace vprof::driver
