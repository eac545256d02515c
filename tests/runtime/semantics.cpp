// What the interposed functions return, as a table. The same program is built with libvprof and
// without it; the outputs must not differ.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>

#include "asleep.h"
#include "semantics.h"

using vprof::test::row;

namespace {

const char* name_of(int error) { return error == 0 ? "ok" : strerrorname_np(error); }

void row_errno(const char* what, int result) {
  std::printf("%-60s %s\n", what, result == 0 ? "ok" : name_of(errno));
}

timespec in_ms(clockid_t clock, long ms) {
  timespec t{};
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

}  // namespace

void vprof::test::row(const char* what, int result) {
  std::printf("%-60s %s\n", what, name_of(result));
}

void vprof::test::row_of_call(const char* what, long result) {
  std::printf("%-60s %ld %s\n", what, result, result == -1 ? name_of(errno) : "");
}

namespace {

const timespec kPast{1, 0};
const timespec kBad{1, 2000000000};

template <class Function>
int on_other_thread(Function function) {
  int result = 0;
  std::thread([&] { result = function(); }).join();
  return result;
}

pthread_mutex_t make_mutex(int type, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  return mutex;
}

void locked_by_other(pthread_mutex_t& mutex) {
  row("  timedlock by another, past",
      on_other_thread([&] { return pthread_mutex_timedlock(&mutex, &kPast); }));
  row("  timedlock by another, bad limit",
      on_other_thread([&] { return pthread_mutex_timedlock(&mutex, &kBad); }));
  row("  timedlock by another, 5 ms", on_other_thread([&] {
        const timespec t = in_ms(CLOCK_REALTIME, 5);
        return pthread_mutex_timedlock(&mutex, &t);
      }));
  row("  clocklock by another, 5 ms", on_other_thread([&] {
        const timespec t = in_ms(CLOCK_MONOTONIC, 5);
        return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t);
      }));
  row("  clocklock by another, bad clock", on_other_thread([&] {
        return pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &kPast);
      }));
  row("  trylock by another", on_other_thread([&] { return pthread_mutex_trylock(&mutex); }));
}

void mutex_type(const char* type_name, int type) {
  std::printf("mutex %s\n", type_name);
  pthread_mutex_t mutex = make_mutex(type, PTHREAD_MUTEX_STALLED);
  row("  lock", pthread_mutex_lock(&mutex));
  if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP) {
    row("  lock again", pthread_mutex_lock(&mutex));
    row("  timedlock again, past", pthread_mutex_timedlock(&mutex, &kPast));
    row("  clocklock again, past", pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &kPast));
    row("  unlock by another", on_other_thread([&] { return pthread_mutex_unlock(&mutex); }));
  }
  row("  trylock by the owner", pthread_mutex_trylock(&mutex));
  locked_by_other(mutex);
  for (int i = 0; i < 6; ++i) {
    // Unlocking once too often is undefined for the types that do not check.
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK || i == 0) {
      row("  unlock", pthread_mutex_unlock(&mutex));
    }
  }
  row("  timedlock of a free one, bad limit", pthread_mutex_timedlock(&mutex, &kBad));
  row("  unlock", pthread_mutex_unlock(&mutex));
  row("  destroy", pthread_mutex_destroy(&mutex));
}

void robust() {
  std::printf("mutex robust\n");
  for (const bool consistent : {true, false}) {
    pthread_mutex_t mutex = make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    row("  lock by a thread that ends",
        on_other_thread([&] { return pthread_mutex_lock(&mutex); }));
    row("  lock", pthread_mutex_lock(&mutex));
    if (consistent) {
      row("  consistent", pthread_mutex_consistent(&mutex));
    }
    row("  unlock", pthread_mutex_unlock(&mutex));
    row("  lock", pthread_mutex_lock(&mutex));
    row("  timedlock by another, past",
        on_other_thread([&] { return pthread_mutex_timedlock(&mutex, &kPast); }));
    if (consistent) {
      row("  unlock", pthread_mutex_unlock(&mutex));
    }
    pthread_mutex_destroy(&mutex);
  }
}

void read_write_lock() {
  std::printf("rwlock\n");
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  row("  wrlock", pthread_rwlock_wrlock(&lock));
  row("  wrlock again", pthread_rwlock_wrlock(&lock));
  row("  rdlock again", pthread_rwlock_rdlock(&lock));
  row("  timedrdlock by another, past",
      on_other_thread([&] { return pthread_rwlock_timedrdlock(&lock, &kPast); }));
  row("  timedwrlock by another, bad",
      on_other_thread([&] { return pthread_rwlock_timedwrlock(&lock, &kBad); }));
  row("  clockwrlock by another, past",
      on_other_thread([&] { return pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &kPast); }));
  row("  clockrdlock by another, bad clock", on_other_thread([&] {
        return pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &kPast);
      }));
  row("  unlock", pthread_rwlock_unlock(&lock));
  row("  timedrdlock of a free one, bad", pthread_rwlock_timedrdlock(&lock, &kBad));
  row("  rdlock", pthread_rwlock_rdlock(&lock));
  row("  rdlock again", pthread_rwlock_rdlock(&lock));
  row("  timedwrlock by another, past",
      on_other_thread([&] { return pthread_rwlock_timedwrlock(&lock, &kPast); }));
  row("  unlock", pthread_rwlock_unlock(&lock));
  row("  unlock", pthread_rwlock_unlock(&lock));
}

void condition() {
  std::printf("cond\n");
  pthread_mutex_t mutex = make_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  row("  wait without the mutex", pthread_cond_timedwait(&condition, &mutex, &kPast));
  row("  lock", pthread_mutex_lock(&mutex));
  row("  timedwait, past", pthread_cond_timedwait(&condition, &mutex, &kPast));
  row("  timedwait, bad", pthread_cond_timedwait(&condition, &mutex, &kBad));
  row("  clockwait, past", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &kPast));
  row("  clockwait, bad clock",
      pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &kPast));
  row("  the mutex is still owned: lock", pthread_mutex_lock(&mutex));
  row("  unlock", pthread_mutex_unlock(&mutex));
  row("  signal", pthread_cond_signal(&condition));
  row("  broadcast", pthread_cond_broadcast(&condition));
}

void semaphore() {
  std::printf("sem\n");
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  errno = 77;
  row_errno("  timedwait, bad limit", sem_timedwait(&semaphore, &kBad));
  row_errno("  clockwait, bad clock", sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &kPast));
  errno = 77;
  row_errno("  wait", sem_wait(&semaphore));
  std::printf("  errno %d\n", errno);
  row_errno("  timedwait, past", sem_timedwait(&semaphore, &kPast));
  row_errno("  clockwait, past", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kPast));
  errno = 77;
  std::thread poster([&semaphore, waiter = vprof::test::this_thread()] {
    vprof::test::until_asleep(waiter, {&semaphore, sizeof semaphore});
    sem_post(&semaphore);
  });
  row_errno("  wait for a post", sem_wait(&semaphore));
  std::printf("  errno %d\n", errno);
  poster.join();
  sem_t full;
  sem_init(&full, 0, 0x7fffffff);
  row_errno("  post beyond the maximum", sem_post(&full));
}

void threads() {
  std::printf("threads\n");
  row("  join of oneself", pthread_join(pthread_self(), nullptr));
  pthread_t thread{};
  void* value = nullptr;
  pthread_create(&thread, nullptr, [](void* x) -> void* { return x; }, &value);
  row("  join", pthread_join(thread, &value));
  std::printf("  value %s\n", value == &value ? "kept" : "lost");
  pthread_create(
      &thread, nullptr, [](void*) -> void* { pthread_exit(reinterpret_cast<void*>(5)); }, nullptr);
  pthread_join(thread, &value);
  std::printf("  value by pthread_exit %d\n", static_cast<int>(reinterpret_cast<intptr_t>(value)));
  std::atomic<bool> released{false};
  pthread_create(
      &thread, nullptr,
      [](void* flag) -> void* {
        while (!*static_cast<std::atomic<bool>*>(flag)) {
          vprof::test::rest_us(20);
        }
        return nullptr;
      },
      &released);
  row("  timedjoin, past", pthread_timedjoin_np(thread, nullptr, &kPast));
  row("  clockjoin, past", pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &kPast));
  released = true;
  row("  join", pthread_join(thread, nullptr));
  pthread_attr_t huge;
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, size_t{1} << 46);
  row("  create with too large a stack",
      pthread_create(&thread, &huge, [](void* x) { return x; }, nullptr));
}

}  // namespace

int main() {
  mutex_type("normal", PTHREAD_MUTEX_NORMAL);
  mutex_type("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP);
  mutex_type("recursive", PTHREAD_MUTEX_RECURSIVE);
  mutex_type("errorcheck", PTHREAD_MUTEX_ERRORCHECK);
  robust();
  read_write_lock();
  condition();
  semaphore();
  threads();
  vprof::test::calls();
  return 0;
}
