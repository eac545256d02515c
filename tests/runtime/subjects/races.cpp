// One contended mutex, and each order in which the steps of the waiter and of the releaser may follow
// one another (waiters.h). gate.c holds each of the two threads where the other one has to be first.
//
// The mutex checks for errors: such a one goes to libc for each step, and so through the gates.
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

// Runs the waiter on a thread of its own, from `waiter_goes` on, and the releaser here, from
// `releaser_goes` on. The gate sets the one that the order needs second.
int race(void (*gate)(const char*, int)) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  tell("object", reinterpret_cast<uintptr_t>(&mutex));
  leaf();
  pthread_mutex_lock(&mutex);
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
  vprof_test_gate = gate;
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

// It has counted itself, and does not sleep yet: the first look finds it.
SUBJECT(race_counted_before_the_first_look) {
  waiter_goes = true;
  return race([](const char* function, int is_over) {
    if (is_waiter && at(function, "pthread_mutex_lock", is_over, 0)) {
      releaser_goes = true;
      until_set(release_over);
    }
  });
}

// It sleeps before the mutex is given up, and is still in the wait at the second look, which finds it.
SUBJECT(race_counted_between_the_looks) {
  releaser_goes = true;
  return race([](const char* function, int is_over) {
    if (is_releaser && at(function, "pthread_mutex_unlock", is_over, 0)) {
      waiter_goes = true;
      until([] { return waiter != 0; });
      until_asleep(waiter, {&mutex, sizeof mutex});
    }
    if (is_waiter && at(function, "pthread_mutex_lock", is_over, 1)) {
      until_set(release_over);
    }
  });
}

// As before, but its wait is over before the second look, which finds nobody.
SUBJECT(race_gone_before_the_second_look) {
  releaser_goes = true;
  return race([](const char* function, int is_over) {
    if (is_releaser && at(function, "pthread_mutex_unlock", is_over, 0)) {
      waiter_goes = true;
      until([] { return waiter != 0; });
      until_asleep(waiter, {&mutex, sizeof mutex});
    }
    if (is_releaser && at(function, "pthread_mutex_unlock", is_over, 1)) {
      until_set(waiter_has);
    }
  });
}

// It found the mutex taken, and counts itself when that has been free for a while.
SUBJECT(race_counted_after_the_second_look) {
  waiter_goes = true;
  return race([](const char* function, int is_over) {
    if (is_waiter && at(function, "pthread_mutex_trylock", is_over, 1)) {
      releaser_goes = true;
      until_set(release_over);
    }
  });
}
