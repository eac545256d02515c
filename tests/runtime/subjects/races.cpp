// One contended mutex, and every order in which waiter and releaser can take their steps
// (interpose/waiters.h). gate.c stops each of the two threads where the other has to go first.
//
// The mutex is an error-checking one: the runtime calls libc for each step of it, and so passes the
// gates.
#include <pthread.h>

#include <cstring>

#include "../gate.h"
#include "subject.h"

using namespace vprof::test;

namespace {

pthread_mutex_t mutex;
std::atomic<int> waiter{0};  // its thread
thread_local bool is_waiter = false;
thread_local bool is_releaser = false;
std::atomic<bool> waiter_goes{false}, waiter_has{false};
std::atomic<bool> releaser_goes{false}, release_over{false};

bool at(const char* function, const char* wanted, int is_over, int wanted_over) {
  return std::strcmp(function, wanted) == 0 && is_over == wanted_over;
}

void until_set(const std::atomic<bool>& flag) {
  until([&] { return flag.load(); });
}

// Starts the waiter after the releaser's first look for waiters, and returns once it sleeps.
void let_wait_after_the_first_look(const char* function, int is_over) {
  if (is_releaser && at(function, "pthread_mutex_unlock", is_over, 0)) {
    waiter_goes = true;
    until([] { return waiter != 0; });
    until_asleep(waiter, {&mutex, sizeof mutex});
  }
}

// Runs the waiter on a thread of its own once `waiter_goes` is set, and the releaser here once
// `releaser_goes` is. The gate sets the flag of the thread that goes second.
int race(void (*gate)(const char*, int)) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  tell("object", reinterpret_cast<uintptr_t>(&mutex));
  leaf();
  pthread_mutex_lock(&mutex);
  vprof_test_gate = gate;
  std::thread thread([] {
    leaf();
    until_set(waiter_goes);
    is_waiter = true;
    waiter = this_thread();
    pthread_mutex_lock(&mutex);
    is_waiter = false;
    waiter_has = true;
    until_set(release_over);
    pthread_mutex_unlock(&mutex);
  });
  until_set(releaser_goes);
  is_releaser = true;
  pthread_mutex_unlock(&mutex);
  is_releaser = false;
  release_over = true;
  thread.join();
  vprof_test_gate = nullptr;
  return 0;
}

}  // namespace

// The waiter has counted itself and does not sleep yet: the first look finds it.
SUBJECT(race_counted_before_the_first_look) {
  waiter_goes = true;
  return race([](const char* function, int is_over) {
    if (is_waiter && at(function, "pthread_mutex_lock", is_over, 0)) {
      releaser_goes = true;
      until_set(release_over);
    }
  });
}

// The waiter counts itself after the first look, and is still in the wait at the second, which
// finds it.
SUBJECT(race_counted_between_the_looks) {
  releaser_goes = true;
  return race([](const char* function, int is_over) {
    let_wait_after_the_first_look(function, is_over);
    if (is_waiter && at(function, "pthread_mutex_lock", is_over, 1)) {
      until_set(release_over);
    }
  });
}

// As before, but its wait is over before the second look, which finds nobody.
SUBJECT(race_gone_before_the_second_look) {
  releaser_goes = true;
  return race([](const char* function, int is_over) {
    let_wait_after_the_first_look(function, is_over);
    if (is_releaser && at(function, "pthread_mutex_unlock", is_over, 1)) {
      until_set(waiter_has);
    }
  });
}

// The waiter found the mutex taken, but counts itself only after the release is over.
SUBJECT(race_counted_after_the_second_look) {
  waiter_goes = true;
  return race([](const char* function, int is_over) {
    if (is_waiter && at(function, "pthread_mutex_trylock", is_over, 1)) {
      releaser_goes = true;
      until_set(release_over);
    }
  });
}
