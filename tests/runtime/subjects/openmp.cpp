// Threads of a parallel region, of which one comes late to a barrier.
#include "subject.h"

using namespace vprof::test;

#ifdef VPROF_TEST_OPENMP
#include <omp.h>

template <class Late, class Early>
static int region(Late late, Early early) {
  leaf();
  static WaitTimes times;
  static std::atomic<bool> begins;
  const int first = this_thread();
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      until([] { return begins.load(); });
      see_asleep(times, task_directory(first));
      late();
    } else {
      times.began = wait_begins();
      begins = true;
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

// A critical section is one lock for all threads, also for those that are not OpenMP's. The holder
// stays in it until the other thread sleeps.
template <class InSection>
static int section(InSection in_section) {
  static std::atomic<bool> entered, begins;
  static WaitTimes times;
  leaf();
  const int self = this_thread();
  std::thread holder([&] {
    in_section([&] {
      entered = true;
      until([] { return begins.load(); });
      see_asleep(times, task_directory(self));
    });
  });
  until([] { return entered.load(); });
  times.began = wait_begins();
  begins = true;
  in_section([] {});
  times.over = vprof_ticks();
  holder.join();
  times.tell_all();
  return 0;
}

SUBJECT(waits_openmp_critical) {
  return section([](auto work) {
#pragma omp critical
    work();
  });
}

SUBJECT(waits_openmp_named_critical) {
  return section([](auto work) {
#pragma omp critical(table)
    work();
  });
}

SUBJECT(waits_openmp_lock) {
  static omp_lock_t lock;
  omp_init_lock(&lock);
  return section([](auto work) {
    omp_set_lock(&lock);
    work();
    omp_unset_lock(&lock);
  });
}

SUBJECT(waits_openmp_nest_lock) {
  static omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  return section([](auto work) {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    work();
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  });
}

#else

SUBJECT(waits_openmp_critical) { return 99; }
SUBJECT(waits_openmp_named_critical) { return 99; }
SUBJECT(waits_openmp_lock) { return 99; }
SUBJECT(waits_openmp_nest_lock) { return 99; }
SUBJECT(waits_openmp) { return 99; }
SUBJECT(waits_openmp_barrier) { return 99; }

#endif
