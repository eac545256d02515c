/* An acceptor begins each request, puts it into a queue of the program's own that nobody tells
 * vprof of, and waits for the next client. Now and then the only worker is busy with a rebuild when
 * a request comes. That the acceptor waits for clients delays no request.
 *
 * expect: first rebuild
 * absent: wait(read)
 */
#include <pthread.h>

#include "planted.h"

enum { kRequests = 300, kRebuild = -1, kStop = -2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queue[kRequests * 2];
static int first, last;
static int clients[2];

__attribute__((noinline)) static void put(int job) {
  pthread_mutex_lock(&mutex);
  queue[last++] = job;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static int get(void) {
  pthread_mutex_lock(&mutex);
  while (first == last) {
    pthread_cond_wait(&filled, &mutex);
  }
  const int job = queue[first++];
  pthread_mutex_unlock(&mutex);
  return job;
}

__attribute__((noinline)) static void rebuild(void) { work_us(12000); }

__attribute__((noinline)) static void answer(void) { work_us(700); }

__attribute__((noinline)) static void serve(int request) {
  vprof_switch(request);
  answer();
  vprof_end(request);
}

static void* worker(void* unused) {
  for (int job = get(); job != kStop; job = get()) {
    if (job == kRebuild) {
      rebuild();
    } else {
      serve(job);
    }
  }
  return unused;
}

__attribute__((noinline)) static void accept_request(int request) {
  vprof_begin(request);
  put(request);
}

static void* acceptor(void* unused) {
  int request;
  while (read(clients[0], &request, sizeof request) == sizeof request) {
    accept_request(request);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  uint32_t seed = 1;
  if (pipe(clients) != 0) {
    return 1;
  }
  pthread_create(&threads[0], NULL, worker, NULL);
  pthread_create(&threads[1], NULL, acceptor, NULL);
  for (int request = 1; request <= kRequests; ++request) {
    if (request % 4 == 0) {
      put(kRebuild);
      work_us(500 + (long)(draw(&seed) % 9000));
    }
    if (write(clients[1], &request, sizeof request) != sizeof request) {
      return 1;
    }
    work_us(16000);
  }
  close(clients[1]);
  pthread_join(threads[1], NULL);
  put(kStop);
  pthread_join(threads[0], NULL);
  return 0;
}
