// Housekeeping in the background. Its rounds differ wildly in length, but share no lock with the
// orders.
#pragma once

#include <atomic>

namespace orders {

/// The main function of the maintenance thread; returns soon after `stop` is set.
void maintenance_loop(const std::atomic<bool>& stop);

}  // namespace orders
