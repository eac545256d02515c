#include "engine/log.h"

#include <algorithm>

#include "engine/work.h"

namespace lab {

Logs::Logs(int count, int flush_us) : logs_(static_cast<size_t>(count)), flush_us_(flush_us) {}

void Logs::commit(Random& random) {
  if (logs_.empty()) {
    return;
  }
  Log* log = choose();
  acquire_log(log);
  work(about(random, flush_us_));
  log->mutex.unlock();
  --log->users;
}

Logs::Log* Logs::choose() {
  Log* log = &*std::ranges::min_element(logs_, {}, [](const Log& l) { return l.users.load(); });
  ++log->users;
  return log;
}

void Logs::acquire_log(Log* log) { log->mutex.lock(); }

}  // namespace lab
