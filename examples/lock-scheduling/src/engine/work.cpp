#include "engine/work.h"

#include <sys/prctl.h>

#include <chrono>
#include <thread>

namespace lab {

void work(double microseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(microseconds));
}

void sleep_precisely() { prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }

}  // namespace lab
