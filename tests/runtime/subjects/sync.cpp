#include <vprof/runtime/scope.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "subject.h"

using namespace vprof::test;

static void tell_object(const void* object) { tell("object", reinterpret_cast<uintptr_t>(object)); }

// Runs `waiter` on another thread, which waits for `object`, and `release` here once it sleeps
// there.
template <class Object, class Waiter, class Release>
static void contend(const Object& object, Waiter waiter, Release release) {
  leaf();  // makes the trace
  WaitTimes times;
  std::atomic<int> waiter_id{0};
  std::thread thread([&] {
    leaf();
    times.began = wait_begins();
    waiter_id = this_thread();
    waiter();
    times.over = vprof_ticks();
  });
  until([&] { return waiter_id != 0; });
  see_asleep(times, task_directory(waiter_id), {&object, sizeof object});
  release();
  thread.join();
  times.tell_all();
}

// Threads that are kept from going on, so that others get ahead of them.
static std::atomic<int> kept{0};
static std::atomic<bool> may_go_on{false};

static void keep_on_signal() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    ++kept;
    until([] { return may_go_on.load(); });
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
}

// Runs `waiter` on another thread, which waits for `object` and is kept there.
template <class Object, class Waiter>
static std::thread kept_waiter(const Object& object, Waiter waiter) {
  std::atomic<int> waiter_id{0};
  std::thread thread([&waiter_id, waiter] {
    leaf();
    waiter_id = this_thread();
    waiter();
  });
  until([&] { return waiter_id != 0; });
  until_asleep(task_directory(waiter_id), {&object, sizeof object});
  const int before = kept;
  pthread_kill(thread.native_handle(), SIGUSR1);
  until([&] { return kept == before + 1; });
  return thread;
}

// Another thread waits for `object` and is kept there while this one gives the object up with
// `release` and gets it again, at once, with `acquire`.
template <class Object, class Waiter, class Release, class Acquire>
static int barge(const Object& object, Waiter waiter, Release release, Acquire acquire) {
  leaf();
  tell_object(&object);
  keep_on_signal();
  std::thread thread = kept_waiter(object, waiter);
  release();
  tell("before", vprof_ticks());
  const bool got = acquire() == 0;
  tell("after", vprof_ticks());
  may_go_on = true;
  release();
  thread.join();
  return got ? 0 : 1;
}

// A limit that is never reached.
static timespec in_an_hour(clockid_t clock) {
  timespec limit{};
  clock_gettime(clock, &limit);
  limit.tv_sec += 3600;
  return limit;
}

SUBJECT(mutex_contended) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  contend(
      mutex, [] { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); },
      [] { pthread_mutex_unlock(&mutex); });
  return 0;
}

SUBJECT(mutex_barged) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  return barge(
      mutex, [] { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); },
      [] { pthread_mutex_unlock(&mutex); }, [] { return pthread_mutex_trylock(&mutex); });
}

// Gets ahead of the waiter twice. The thread that waits has not marked the mutex again in between.
SUBJECT(mutex_barged_twice) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  return barge(
      mutex, [] { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); },
      [] { pthread_mutex_unlock(&mutex); },
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        return pthread_mutex_lock(&mutex);
      });
}

// Gets ahead of a waiter for one mutex and of one for another, and gives both up before either of
// them runs.
SUBJECT(two_mutexes_barged) {
  static pthread_mutex_t mutexes[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
  leaf();
  keep_on_signal();
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_t& mutex = mutexes[i];
    tell(i == 0 ? "object" : "other", reinterpret_cast<uintptr_t>(&mutex));
    pthread_mutex_lock(&mutex);
    threads[i] = kept_waiter(mutex, [&mutex] {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    });
  }
  int failures = 0;
  for (int time = 0; time < 3; ++time) {
    for (pthread_mutex_t& mutex : mutexes) {
      pthread_mutex_unlock(&mutex);
    }
    for (pthread_mutex_t& mutex : mutexes) {
      failures += time < 2 ? pthread_mutex_lock(&mutex) : 0;
    }
  }
  may_go_on = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  return failures;
}

SUBJECT(recursive_mutex_barged) {
  static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_lock(&mutex);
  return barge(
      mutex, [] { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); },
      [] { pthread_mutex_unlock(&mutex); }, [] { return pthread_mutex_lock(&mutex); });
}

SUBJECT(read_lock_barged) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  return barge(
      lock, [] { pthread_rwlock_wrlock(&lock), pthread_rwlock_unlock(&lock); },
      [] { pthread_rwlock_unlock(&lock); }, [] { return pthread_rwlock_tryrdlock(&lock); });
}

SUBJECT(semaphore_barged) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  return barge(
      semaphore,
      [] {
        while (sem_wait(&semaphore) != 0) {
        }
      },
      [] { sem_post(&semaphore); }, [] { return sem_trywait(&semaphore); });
}

// Two waits in one turn of the mutex, then one after it was released.
SUBJECT(condition_turns) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  tell_object(&condition);
  tell("mutex", reinterpret_cast<uintptr_t>(&mutex));
  leaf();
  std::atomic<int> waiter_id{0}, returned{0};
  std::thread thread([&] {
    leaf();
    waiter_id = this_thread();
    for (int turn = 0; turn < 3; ++turn) {
      if (turn != 1) {
        pthread_mutex_lock(&mutex);
      }
      pthread_cond_wait(&condition, &mutex);
      ++returned;
      if (turn != 0) {
        pthread_mutex_unlock(&mutex);
      }
    }
  });
  until([&] { return waiter_id != 0; });
  for (int turn = 0; turn < 3; ++turn) {
    until_asleep(task_directory(waiter_id), {&condition, sizeof condition});
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    until([&] { return returned == turn + 1; });
  }
  thread.join();
  return 0;
}

SUBJECT(mutex_timed_contended) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  contend(
      mutex,
      [] {
        const timespec limit = in_an_hour(CLOCK_REALTIME);
        if (pthread_mutex_timedlock(&mutex, &limit) == 0) {
          pthread_mutex_unlock(&mutex);
        }
      },
      [] { pthread_mutex_unlock(&mutex); });
  return 0;
}

SUBJECT(mutex_clock_contended) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  contend(
      mutex,
      [] {
        const timespec limit = in_an_hour(CLOCK_MONOTONIC);
        if (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &limit) == 0) {
          pthread_mutex_unlock(&mutex);
        }
      },
      [] { pthread_mutex_unlock(&mutex); });
  return 0;
}

SUBJECT(uncontended) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  leaf();
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_trylock(&mutex);
    pthread_mutex_trylock(&mutex);  // busy, but nobody waited
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    sem_post(&semaphore);
    sem_wait(&semaphore);
  }
  return 0;
}

SUBJECT(read_lock_contended) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  tell_object(&lock);
  pthread_rwlock_wrlock(&lock);
  contend(
      lock, [] { pthread_rwlock_rdlock(&lock), pthread_rwlock_unlock(&lock); },
      [] { pthread_rwlock_unlock(&lock); });
  return 0;
}

SUBJECT(write_lock_contended) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  tell_object(&lock);
  pthread_rwlock_rdlock(&lock);
  contend(
      lock,
      [] {
        const timespec limit = in_an_hour(CLOCK_MONOTONIC);
        if (pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &limit) == 0) {
          pthread_rwlock_unlock(&lock);
        }
      },
      [] { pthread_rwlock_unlock(&lock); });
  return 0;
}

// A signal ends the first wait, and its time limit the last. Spurious wake-ups may end others
// between them.
SUBJECT(condition_timed) {
  static std::mutex mutex;
  static std::condition_variable condition;
  static bool ready = false;
  tell_object(condition.native_handle());
  leaf();
  std::atomic<bool> begins{false};
  const int waiter = this_thread();
  std::thread thread([&] {
    until([&] { return begins.load(); });
    until_asleep(waiter, {&condition, sizeof condition});
    const std::lock_guard<std::mutex> guard(mutex);
    ready = true;
    condition.notify_one();
  });
  std::unique_lock<std::mutex> guard(mutex);
  begins = true;
  while (!ready) {
    condition.wait_for(guard, std::chrono::hours(1));
  }
  while (condition.wait_for(guard, std::chrono::milliseconds(1)) != std::cv_status::timeout) {
  }
  guard.unlock();
  thread.join();
  return 0;
}

SUBJECT(condition_signalled) {
  static std::mutex mutex;
  static std::condition_variable condition;
  static bool ready = false;
  tell_object(condition.native_handle());
  contend(
      condition,
      [] {
        std::unique_lock<std::mutex> guard(mutex);
        condition.wait(guard, [] { return ready; });
      },
      [] {
        const std::lock_guard<std::mutex> guard(mutex);
        ready = true;
        condition.notify_one();
      });
  return 0;
}

SUBJECT(condition_broadcast) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static bool ready = false;
  tell_object(&condition);
  contend(
      condition,
      [] {
        const timespec limit = in_an_hour(CLOCK_MONOTONIC);
        pthread_mutex_lock(&mutex);
        while (!ready) {
          pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &limit);
        }
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        ready = true;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
      });
  return 0;
}

// A condition wait releases its mutex inside libc; whoever waited for the mutex must find a
// release.
SUBJECT(mutex_released_by_condition_wait) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static bool ready = false;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  contend(
      mutex,
      [] {
        pthread_mutex_lock(&mutex);
        ready = true;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        while (!ready) {
          pthread_cond_wait(&condition, &mutex);
        }
        pthread_mutex_unlock(&mutex);
      });
  return 0;
}

SUBJECT(semaphore_posted) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  tell_object(&semaphore);
  contend(semaphore, [] { sem_wait(&semaphore); }, [] { sem_post(&semaphore); });
  return 0;
}

SUBJECT(semaphore_posted_timed) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  tell_object(&semaphore);
  contend(
      semaphore,
      [] {
        const timespec limit = in_an_hour(CLOCK_REALTIME);
        sem_timedwait(&semaphore, &limit);
      },
      [] { sem_post(&semaphore); });
  return 0;
}

SUBJECT(joined) {
  leaf();
  WaitTimes times;
  const int waiter = this_thread();
  std::atomic<bool> begins{false};
  std::thread thread([&] {
    leaf();
    until([&] { return begins.load(); });
    see_asleep(times, task_directory(waiter));
  });
  tell("object", thread.native_handle());
  times.began = wait_begins();
  begins = true;
  thread.join();
  times.over = vprof_ticks();
  times.tell_all();
  return 0;
}

// A mutex and a semaphore in memory that two processes share.
struct Shared {
  pthread_mutex_t mutex;
  sem_t semaphore;
  std::atomic<int> stage;  // which of the two the child is about to wait for
};
SUBJECT(shared_between_processes) {
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &attributes);
  sem_init(&shared->semaphore, 1, 0);
  tell("object", reinterpret_cast<uintptr_t>(&shared->mutex));
  tell("semaphore", reinterpret_cast<uintptr_t>(&shared->semaphore));
  pthread_mutex_lock(&shared->mutex);
  const pid_t child = fork();
  if (child == 0) {
    leaf();
    shared->stage = 1;
    pthread_mutex_lock(&shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    shared->stage = 2;
    sem_wait(&shared->semaphore);
    _exit(0);
  }
  const std::string task = "/proc/" + std::to_string(child);
  until([&] { return shared->stage == 1; });
  until_asleep(task, {&shared->mutex, sizeof shared->mutex});
  pthread_mutex_unlock(&shared->mutex);
  until([&] { return shared->stage == 2; });
  until_asleep(task, {&shared->semaphore, sizeof shared->semaphore});
  sem_post(&shared->semaphore);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Heavy contention.
SUBJECT(mutex_storm) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static volatile uint64_t counter = 0;
  tell_object(&mutex);
  // Longer than it takes to wake a thread. Otherwise one thread would take the mutex again and
  // again.
  constexpr int kRounds = 400;
  constexpr auto kHeld = std::chrono::microseconds(50);
  const auto pass = [](auto time) {
    for (const auto end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end;) {
    }
  };
  static pthread_barrier_t begin;
  pthread_barrier_init(&begin, nullptr, 3);
  const auto work = [&] {
    pthread_barrier_wait(&begin);
    for (int i = 0; i < kRounds; ++i) {
      pthread_mutex_lock(&mutex);
      counter = counter + 1;
      pass(kHeld);
      pthread_mutex_unlock(&mutex);
      pass(kHeld);
    }
  };
  std::thread a(work), b(work), c(work);
  a.join(), b.join(), c.join();
  pthread_barrier_destroy(&begin);
  tell("counter", counter);
  return counter == 3 * kRounds ? 0 : 1;
}

// ---- cancellation

static std::atomic<bool> cleaned;
static void clean(void* mutex) {
  cleaned = true;
  if (mutex != nullptr) {
    pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex));
  }
}

static std::atomic<int> cancelled_thread;

// Cancels a thread that runs `function` once it sleeps. The function begins with about_to_sleep().
static void about_to_sleep() { cancelled_thread = this_thread(); }
static int cancel(void* (*function)(void*)) {
  leaf();
  pthread_t thread{};
  pthread_create(&thread, nullptr, function, nullptr);
  until([] { return cancelled_thread != 0; });
  until_asleep(cancelled_thread);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED && cleaned ? 0 : 1;
}

static pthread_mutex_t cancel_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cancel_condition = PTHREAD_COND_INITIALIZER;
SUBJECT(cancelled_in_condition_wait) {
  tell_object(&cancel_condition);
  const int result = cancel([](void*) -> void* {
    pthread_mutex_lock(&cancel_mutex);
    pthread_cleanup_push(clean, &cancel_mutex);
    about_to_sleep();
    for (;;) {
      pthread_cond_wait(&cancel_condition, &cancel_mutex);
    }
    pthread_cleanup_pop(0);
    return nullptr;
  });
  // Nobody is counted as a waiter any more, so this records nothing.
  pthread_cond_signal(&cancel_condition);
  return pthread_mutex_trylock(&cancel_mutex) != 0 ? 2 : result;
}

static sem_t cancel_semaphore;
SUBJECT(cancelled_in_semaphore_wait) {
  sem_init(&cancel_semaphore, 0, 0);
  tell_object(&cancel_semaphore);
  const int result = cancel([](void*) -> void* {
    pthread_cleanup_push(clean, nullptr);
    about_to_sleep();
    sem_wait(&cancel_semaphore);
    pthread_cleanup_pop(0);
    return nullptr;
  });
  sem_post(&cancel_semaphore);
  return result;
}

// sem_wait acts on a pending cancellation even if it need not wait.
SUBJECT(cancelled_before_semaphore_wait) {
  sem_init(&cancel_semaphore, 0, 1);
  static std::atomic<bool> disabled{false};
  static std::atomic<bool> pending{false};
  static std::atomic<bool> waited{false};
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_cleanup_push(clean, nullptr);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        disabled = true;
        until([] { return pending.load(); });
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
        sem_wait(&cancel_semaphore);
        waited = true;
        pthread_cleanup_pop(0);
        return nullptr;
      },
      nullptr);
  until([] { return disabled.load(); });
  pthread_cancel(thread);
  pending = true;
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED && cleaned && !waited ? 0 : 1;
}

// ---- the application's own

static void acquire(int* lock, int us, pthread_mutex_t* inner) {
  VPROF_ACQUIRE(5, lock);
  if (us > 0) {
    rest_us(us);
  }
  if (inner != nullptr) {
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
  }
}
static void release(int* lock) { VPROF_RELEASE(6, lock); }
static void enqueue(const void* task) { VPROF_ENQUEUE(7, task); }
static void dequeue(const void* task) { VPROF_DEQUEUE(8, task); }

SUBJECT(application_sync) {
  static int lock;
  static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
  static int quick;
  tell_object(&lock);
  tell("quick", reinterpret_cast<uintptr_t>(&quick));
  leaf();  // makes the trace, by which the rate of the clock is known
  for (int i = 0; i < 1000; ++i) {
    VPROF_SITE(80);  // at least as long as the acquire
    acquire(&quick, 0, nullptr);
  }
  acquire(&lock, 1000, nullptr);
  pthread_mutex_lock(&inner);
  contend(inner, [] { acquire(&lock, 0, &inner); }, [] { pthread_mutex_unlock(&inner); });
  release(&lock);
  enqueue(&lock);
  dequeue(nullptr);  // nothing was taken
  dequeue(&lock);
  return 0;
}
