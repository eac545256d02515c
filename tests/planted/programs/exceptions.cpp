// Exceptions: a conflict is thrown through two frames and caught; undoing what was done is what
// takes long. The frames that the exception left end when it is thrown.
//
// interval: transact
// expect: first undo_writes
#include <stdexcept>

#include "planted.h"

namespace {

__attribute__((noinline)) void check_conflict(int request) {
  work_us(300);
  if (request % 9 == 0) {
    throw std::runtime_error("conflict");
  }
}

__attribute__((noinline)) void write_row(int request) {
  work_us(400);
  check_conflict(request);
}

__attribute__((noinline)) void commit(int request) {
  write_row(request);
  work_us(500);
}

__attribute__((noinline)) void undo_writes() { work_us(14000); }

__attribute__((noinline)) void report_conflict() { work_us(300); }

}  // namespace

void transact(int request) {
  try {
    commit(request);
  } catch (const std::runtime_error&) {
    cause_begin();
    undo_writes();
    cause_end();
    report_conflict();
  }
}

int main() {
  for (int request = 0; request < 250; ++request) {
    request_begin();
    transact(request);
    request_end();
  }
  write_truth();
}
