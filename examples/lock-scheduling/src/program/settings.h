// What a run is: read from the command line, used by both kinds of run.
#pragma once

#include <cstdint>
#include <string>

namespace lab {

struct Settings {
  bool simulated = false;
  std::string workload = "tpcc-32";
  std::string policy = "fcfs";
  int patience = 0;  // of LockManager
  uint64_t transactions = 10000;
  uint64_t warm_up = 0;  // the first of them, which the figures leave out
  uint64_t seed = 1;
  int unit_us = 1000;  // how long one unit of work takes

  // The load: either clients that each begin a transaction as soon as their last one has ended, or
  // transactions that come at random moments.
  int clients = 100;
  double rate = 0;  // a second; 0: clients

  // The engine.
  int workers = 0;      // 0: as many as clients
  int logs = 0;         // 0: nothing is logged
  int flush_us = 3000;  // what a flush takes on average
  int pages = 0;        // of the buffer pool; 0: there is none
  bool lazy_lru = false;
  int clean_us = 5000;  // for how long the page cleaner locks the LRU list, on average
  int read_us = 1000;   // what a read of a page takes on average
};

}  // namespace lab
