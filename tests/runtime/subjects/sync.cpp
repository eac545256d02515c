#include <vprof/runtime/scope.h>

#include <pthread.h>
#include <semaphore.h>
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

// Runs `waiter` on another thread while this one holds what it waits for, and `release` once it certainly waits.
template <class Waiter, class Release>
static void contend(Waiter waiter, Release release) {
  std::thread thread(waiter);
  sleep_ms(150);
  release();
  thread.join();
}

static timespec in_ten_seconds(clockid_t clock) {
  timespec limit{};
  clock_gettime(clock, &limit);
  limit.tv_sec += 10;
  return limit;
}

SUBJECT(mutex_contended) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  contend([] { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); },
          [] { pthread_mutex_unlock(&mutex); });
  return 0;
}

SUBJECT(mutex_timed_contended) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  contend(
      [] {
        const timespec limit = in_ten_seconds(CLOCK_REALTIME);
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
      [] {
        const timespec limit = in_ten_seconds(CLOCK_MONOTONIC);
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
  contend([] { pthread_rwlock_rdlock(&lock), pthread_rwlock_unlock(&lock); },
          [] { pthread_rwlock_unlock(&lock); });
  return 0;
}

SUBJECT(write_lock_contended) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  tell_object(&lock);
  pthread_rwlock_rdlock(&lock);
  contend(
      [] {
        const timespec limit = in_ten_seconds(CLOCK_MONOTONIC);
        if (pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &limit) == 0) {
          pthread_rwlock_unlock(&lock);
        }
      },
      [] { pthread_rwlock_unlock(&lock); });
  return 0;
}

// The first wait is ended by a signal, the second by its time.
SUBJECT(condition_timed) {
  static std::mutex mutex;
  static std::condition_variable condition;
  static bool ready = false;
  tell_object(condition.native_handle());
  std::thread thread([] {
    sleep_ms(150);
    const std::lock_guard<std::mutex> guard(mutex);
    ready = true;
    condition.notify_one();
  });
  std::unique_lock<std::mutex> guard(mutex);
  while (!ready) {
    condition.wait_for(guard, std::chrono::seconds(60));
  }
  condition.wait_for(guard, std::chrono::milliseconds(20));
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
      [] {
        const timespec limit = in_ten_seconds(CLOCK_MONOTONIC);
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

// A condition wait releases its mutex inside libc; one who waited for that must find a release.
SUBJECT(mutex_released_by_condition_wait) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static bool ready = false;
  tell_object(&mutex);
  pthread_mutex_lock(&mutex);
  std::thread thread([] {
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  });
  sleep_ms(150);
  while (!ready) {
    pthread_cond_wait(&condition, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  thread.join();
  return 0;
}

SUBJECT(semaphore_posted) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  tell_object(&semaphore);
  contend([] { sem_wait(&semaphore); }, [] { sem_post(&semaphore); });
  return 0;
}

SUBJECT(semaphore_posted_timed) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  tell_object(&semaphore);
  contend(
      [] {
        const timespec limit = in_ten_seconds(CLOCK_REALTIME);
        sem_timedwait(&semaphore, &limit);
      },
      [] { sem_post(&semaphore); });
  return 0;
}

SUBJECT(joined) {
  std::thread thread([] {
    leaf();
    sleep_ms(150);
  });
  tell("object", thread.native_handle());
  thread.join();
  return 0;
}

// A mutex and a semaphore in memory that two processes share.
struct Shared {
  pthread_mutex_t mutex;
  sem_t semaphore;
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
    pthread_mutex_lock(&shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    sem_wait(&shared->semaphore);
    _exit(0);
  }
  sleep_ms(150);
  pthread_mutex_unlock(&shared->mutex);
  sleep_ms(150);
  sem_post(&shared->semaphore);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Heavy contention: every wait must find the release that ended it.
SUBJECT(mutex_storm) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static volatile uint64_t counter = 0;
  tell_object(&mutex);
  // Held, and left alone, for longer than it takes to wake a thread: else one thread takes it again and again. The
  // moment between the releaser's two looks is short beside that.
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

static int cancel(void* (*function)(void*)) {
  pthread_t thread{};
  pthread_create(&thread, nullptr, function, nullptr);
  sleep_ms(150);
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
    for (;;) {
      pthread_cond_wait(&cancel_condition, &cancel_mutex);
    }
    pthread_cleanup_pop(0);
    return nullptr;
  });
  // Nobody counts as waiting any more, so this records nothing.
  pthread_cond_signal(&cancel_condition);
  return pthread_mutex_trylock(&cancel_mutex) != 0 ? 2 : result;
}

static sem_t cancel_semaphore;
SUBJECT(cancelled_in_semaphore_wait) {
  sem_init(&cancel_semaphore, 0, 0);
  tell_object(&cancel_semaphore);
  const int result = cancel([](void*) -> void* {
    pthread_cleanup_push(clean, nullptr);
    sem_wait(&cancel_semaphore);
    pthread_cleanup_pop(0);
    return nullptr;
  });
  sem_post(&cancel_semaphore);
  return result;
}

// sem_wait acts upon a pending cancellation even if it need not wait.
SUBJECT(cancelled_before_semaphore_wait) {
  sem_init(&cancel_semaphore, 0, 1);
  return cancel([](void*) -> void* {
    pthread_cleanup_push(clean, nullptr);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    sleep_ms(400);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    sem_wait(&cancel_semaphore);
    sem_wait(&cancel_semaphore);
    pthread_cleanup_pop(0);
    return nullptr;
  });
}

// ---- the application's own

static void acquire(int* lock, int ms, pthread_mutex_t* inner) {
  VPROF_ACQUIRE(5, lock);
  if (ms > 0) {
    sleep_ms(ms);
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
  for (int i = 0; i < 1000; ++i) {
    acquire(&quick, 0, nullptr);  // at most a few of them take a microsecond
  }
  acquire(&lock, 30, nullptr);
  pthread_mutex_lock(&inner);
  contend([] { acquire(&lock, 0, &inner); }, [] { pthread_mutex_unlock(&inner); });
  release(&lock);
  enqueue(&lock);
  dequeue(nullptr);  // nothing was taken
  dequeue(&lock);
  return 0;
}
