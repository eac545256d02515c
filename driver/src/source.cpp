// `vprof source FUNCTION`: what was inserted into a function.
#include <algorithm>

#include "commands.h"
#include "insertions.h"
#include "near.h"
#include "source_excerpt.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_source(const Global& global, const std::string& name) {
  auto session = open_session(global.config, Access::kRead);
  if (!session) return tl::unexpected(session.error());
  auto program = load_index(*session);
  if (!program) return tl::unexpected(program.error());
  auto found = find_function(*program, name, "source");
  if (!found) return tl::unexpected(found.error());
  const instrumenter::Function& f = **found;
  if (f.file.empty()) return fail("{} has no definition in the program", f.name);

  auto instrumented = read_file(session->workspace.mirror() / f.file);
  if (!instrumented) return tl::unexpected(instrumented.error());
  const auto [first, last] = lines_of_function(*session, f);
  const std::string diff =
      insertions(original_text(*session, f.file), *instrumented, f.file, first, last);
  if (diff.empty()) {
    const std::string why = f.refused.empty() ? "it is not part of the plan" : f.refused;
    say(fmt::format("{}  {}:{}: nothing is inserted: {}", f.name, f.file, f.line, why));
    return 0;
  }
  std::fputs(diff.c_str(), stdout);
  return 0;
}

}  // namespace vprof::driver
