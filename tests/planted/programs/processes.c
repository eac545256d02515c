/* Processes that share a lock: three backends take it for an instant for each request, a fourth
 * process holds it for long while it writes its checkpoint.
 *
 * interval: serve
 * expect: first write_checkpoint
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

enum { kBackends = 3, kRequests = 100 };

struct shared {
  pthread_mutex_t mutex;
  int stop;
};

__attribute__((noinline)) static void write_checkpoint(void) { work_us(20000); }

__attribute__((noinline)) static void checkpoint(struct shared* shared) {
  pthread_mutex_lock(&shared->mutex);
  hold_begin();
  write_checkpoint();
  hold_end();
  pthread_mutex_unlock(&shared->mutex);
}

static void run_checkpointer(struct shared* shared) {
  while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
    checkpoint(shared);
    work_us(50000);
  }
}

__attribute__((noinline)) static void change_page(struct shared* shared) {
  pthread_mutex_lock(&shared->mutex);
  hold_begin();
  work_us(100);
  hold_end();
  pthread_mutex_unlock(&shared->mutex);
}

void serve(struct shared* shared) {
  work_us(4000);
  change_page(shared);
}

static void run_backend(struct shared* shared) {
  for (int request = 0; request < kRequests; ++request) {
    serve(shared);
  }
}

int main(void) {
  struct shared* shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &attributes);
  pid_t backend[kBackends];
  for (int i = 0; i < kBackends; ++i) {
    backend[i] = fork();
    if (backend[i] == 0) {
      run_backend(shared);
      return 0;
    }
  }
  const pid_t checkpointer = fork();
  if (checkpointer == 0) {
    run_checkpointer(shared);
    return 0;
  }
  for (int i = 0; i < kBackends; ++i) {
    waitpid(backend[i], NULL, 0);
  }
  __atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
  waitpid(checkpointer, NULL, 0);
  write_truth();
  return 0;
}
