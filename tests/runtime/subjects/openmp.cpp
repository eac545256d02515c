// Threads of a parallel region, of which one comes late to a barrier.
#include "subject.h"

using namespace vprof::test;

#ifdef VPROF_TEST_OPENMP
#include <omp.h>

template <class Late, class Early>
static int region(Late late, Early early) {
  leaf();
  static WaitTimes times;
  const int first = this_thread();
  times.began = vprof_ticks();
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      see_asleep(times, task_directory(first));
      late();
    } else {
      early();
    }
  }
  times.over = vprof_ticks();
  times.tell_all();
  return 0;
}

SUBJECT(waits_openmp) {
  return region([] {}, [] {});
}

SUBJECT(waits_openmp_barrier) {
  const auto barrier = [] {
#pragma omp barrier
  };
  return region(barrier, barrier);
}

#else

SUBJECT(waits_openmp) { return 99; }
SUBJECT(waits_openmp_barrier) { return 99; }

#endif
