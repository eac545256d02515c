// `vprof fleet`: reads the tables of many hosts. It is a part of the Python package, on DuckDB.
#include <cstdlib>

#include "pipeline/results.h"
#include "verbs/answers/become_python.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_fleet(const std::vector<std::string>& arguments) {
  const auto locations = VPROF_TRY(find_locations());
  std::error_code error;
  if (!fs::exists(locations.python / "vprof/fleet", error)) {
    return fail("a part of vprof is missing: {}; install vprof again",
                (locations.python / "vprof/fleet").string());
  }
  const char* const others = std::getenv("PYTHONPATH");
  const std::string path =
      locations.python.string() + (others == nullptr ? "" : std::string(":") + others);
  ::setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<std::string> words = {"-m", "vprof.fleet"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return become_python("fleet", std::move(words));
}

}  // namespace vprof::driver
