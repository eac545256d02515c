/* One bad call site of two: both call the same function, one of them with pages that are sometimes
 * cold.
 *
 * interval: serve
 * expect: first load_page
 * expect: site "planted"
 */
#include "planted.h"

__attribute__((noinline)) static void load_page(int cold) { work_us(cold ? 12000 : 400); }

__attribute__((noinline)) static void read_index(int key) {
  cause_begin(); /* of the same function */
  load_page(key % 100 == 99);
  cause_end();
  work_us(300);
}

__attribute__((noinline)) static void read_row(int key) {
  work_us(300);
  cause_begin();
  load_page(key % 6 == 0); /* planted */
  cause_end();
}

void serve(int key) {
  read_index(key);
  read_row(key);
  work_us(500);
}

int main(void) {
  for (int request = 0; request < 200; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  return 0;
}
