// Housekeeping in the background. Its turns differ wildly in length, but it shares no lock with the
// orders.
#pragma once

#include <atomic>

namespace orders {

/// The main function of the maintenance thread; returns soon after `stop` is set.
void maintenance_loop(const std::atomic<bool>& stop);

}  // namespace orders
