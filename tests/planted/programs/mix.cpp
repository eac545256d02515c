// A mix of kinds: two thirds of the requests are quick, one third is slow, and half of those slower
// still. With means of 2 and 20 ms and +-5 ms among the slow ones the kinds explain 2/9 * 18^2 = 72
// of 72 + 25/3 = 80.3 ms^2, nine tenths.
//
// expect: between 0.8 0.96
// expect: first scan_table
#include "planted.h"

namespace {

__attribute__((noinline)) void look_up() { work_us(2000); }

__attribute__((noinline)) void scan_table(bool all) { work_us(all ? 25000 : 15000); }

__attribute__((noinline)) void execute(int request) {
  if (request % 3 == 0) {
    scan_table(request % 2 == 0);
  } else {
    look_up();
  }
}

}  // namespace

int main() {
  for (int request = 1; request <= 150; ++request) {
    const vprof::interval interval(static_cast<uint64_t>(request),
                                   request % 3 == 0 ? "SCAN" : "GET");
    execute(request);
  }
}
