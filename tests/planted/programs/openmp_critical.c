/* OpenMP: all threads of a region enter one critical section, in which one of them is slow at
 * times. What comes late to the end of the region waited for that one.
 *
 * flags: -fopenmp
 * interval: serve
 * expect: first rebuild_index
 */
#include <omp.h>

#include "planted.h"

enum { kThreads = 3 };

__attribute__((noinline)) static void rebuild_index(int request) {
  work_us(request % 8 == 0 ? 9000 : 500);
}

__attribute__((noinline)) static void insert_row(void) { work_us(60); }

/* The slow thread comes first, so the others wait for it. */
__attribute__((noinline)) static void update(int thread, int request) {
  hold_begin();
  work_us(thread == 1 ? 100 : 1500);
#pragma omp critical(table)
  {
    if (thread == 1) {
      rebuild_index(request);
    } else {
      insert_row();
    }
  }
  hold_end();
}

void serve(int request) {
#pragma omp parallel num_threads(kThreads)
  update(omp_get_thread_num(), request);
}

int main(void) {
  for (int request = 0; request < 300; ++request) {
    serve(request);
  }
  write_truth();
  return 0;
}
