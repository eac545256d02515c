// The workloads, each in its own file.
#pragma once

#include "workloads/workload.h"

namespace smf {

std::unique_ptr<Workload> make_smallbank();
std::unique_ptr<Workload> make_tpcc(uint64_t warehouses);
std::unique_ptr<Workload> make_epinions();
std::unique_ptr<Workload> make_taobench();
// `theta` of the Zipfian distribution, and the share of writes.
std::unique_ptr<Workload> make_ycsb(double theta, double writes);

}  // namespace smf
