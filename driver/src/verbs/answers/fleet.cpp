// `vprof fleet`: reads the tables of many hosts. It is a part of the Python package, on DuckDB.
#include "pipeline/results.h"
#include "verbs/answers/become_python.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_fleet(const std::vector<std::string>& arguments) {
  const auto locations = VPROF_TRY(find_locations());
  const fs::path program = locations.python / "vprof_fleet.py";
  std::error_code error;
  if (!fs::exists(program, error)) {
    return fail("a part of vprof is missing: {}; install vprof again", program.string());
  }
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return become_python("fleet", std::move(words));
}

}  // namespace vprof::driver
