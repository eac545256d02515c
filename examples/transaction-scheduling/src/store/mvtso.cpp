#include "store/controls.h"
#include "store/timestamp_order.h"

namespace smf {

std::unique_ptr<ConcurrencyControl> make_mvtso(const StoreOptions& options) {
  return std::make_unique<TimestampOrder>(options);
}

}  // namespace smf
