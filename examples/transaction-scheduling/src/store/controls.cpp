#include "store/controls.h"

namespace smf {

std::unique_ptr<ConcurrencyControl> make_control(std::string_view name,
                                                 const StoreOptions& options) {
  if (name == "occ") {
    return make_occ(options);
  }
  if (name == "locks") {
    return make_locks(options);
  }
  if (name == "mvtso") {
    return make_mvtso(options);
  }
  if (name == "mvschedo") {
    return make_mvschedo(options);
  }
  return nullptr;
}

}  // namespace smf
