#include "program/unseen_entries.h"

namespace vprof::instrumenter {

std::set<std::string> unseen_entries(
    const Program& program,
    const std::function<bool(const Function& caller, const Call& call)>& has_site) {
  std::set<std::string> address_taken;  // USRs
  for (const Unit& unit : program.units) {
    address_taken.insert(unit.address_taken.begin(), unit.address_taken.end());
  }
  std::set<std::string> unseen;
  for (const Function& f : program.functions) {
    if (f.is_cxx || address_taken.contains(f.usr) || program.caller_count(f) == 0) {
      unseen.insert(f.key);
    }
    for (const Call& call : f.calls) {
      if (has_site(f, call)) {
        continue;
      }
      if (const Function* callee = program.by_key(call.callee_key)) {
        unseen.insert(callee->key);
        unseen.insert(callee->targets.begin(), callee->targets.end());
      }
    }
  }
  return unseen;
}

}  // namespace vprof::instrumenter
