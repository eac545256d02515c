// Six handlers, one of which serves a request, take 8 ms each: they are alternatives, and none
// makes requests differ. Yet the variance of each is 64 * 5/36 = 8.9 ms^2, more than the 5.3 ms^2
// of the audit, from 0 to 8 ms, which is all that varies.
//
// interval: serve
// expect: first audit
// expect: share 0.8 1.1
// absent: get_item
// absent: put_item
// absent: list_items
// absent: copy_item
// absent: move_item
// absent: drop_item
#include "planted.h"

namespace {

__attribute__((noinline)) void get_item() { work_us(8000); }

__attribute__((noinline)) void put_item() { work_us(8000); }

__attribute__((noinline)) void list_items() { work_us(8000); }

__attribute__((noinline)) void copy_item() { work_us(8000); }

__attribute__((noinline)) void move_item() { work_us(8000); }

__attribute__((noinline)) void drop_item() { work_us(8000); }

__attribute__((noinline)) void audit(long us) { work_us(us); }

}  // namespace

void serve(int kind, long us) {
  switch (kind) {
    case 0:
      get_item();
      break;
    case 1:
      put_item();
      break;
    case 2:
      list_items();
      break;
    case 3:
      copy_item();
      break;
    case 4:
      move_item();
      break;
    default:
      drop_item();
  }
  cause_begin();
  audit(us);
  cause_end();
}

int main() {
  for (int request = 0; request < 180; ++request) {
    request_begin();
    serve(request % 6, 270L * (request / 6 * 7 % 30));  // every kind has the same times
    request_end();
  }
  write_truth();
}
