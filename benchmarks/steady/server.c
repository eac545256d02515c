// A server as steady as a program can be: threads that never sleep serve requests which compute in
// registers. What `vprof live` costs it can be told from outside (../live_cost.py) far better than
// that of a server whose memory, sockets and neighbours vary.
//
//   server FILE [THREADS]    serves until it is stopped; FILE says how many requests so far
//
// A request takes some 20 us and 34 calls; one in 64 also compacts.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMostThreads = 64, kLineBytes = 64 };

// One cache line for each thread.
struct counter {
  atomic_ulong served;
  char rest[kLineBytes - sizeof(atomic_ulong)];
};

static struct counter* counters;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static uint64_t table_state;

// Each step waits for the one before.
static inline uint64_t compute(uint64_t state, unsigned steps) {
  while (steps-- > 0) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    __asm__ volatile("" : "+r"(state));
  }
  return state;
}

__attribute__((noinline)) uint64_t read_request(uint64_t request) { return compute(request, 500); }

__attribute__((noinline)) uint64_t hash_key(uint64_t key) { return compute(key, 150); }

__attribute__((noinline)) uint64_t compare_keys(uint64_t key) { return compute(key, 350); }

__attribute__((noinline)) uint64_t look_up(uint64_t key) { return compare_keys(hash_key(key)); }

__attribute__((noinline)) void update_table(uint64_t key) {
  pthread_mutex_lock(&table);
  table_state = compute(table_state + key, 400);
  pthread_mutex_unlock(&table);
}

__attribute__((noinline)) uint64_t compact(uint64_t state) { return compute(state, 100000); }

__attribute__((noinline)) uint64_t answer(uint64_t state) {
  return compute(state, 4000 + state % 8 * 2000);
}

__attribute__((noinline)) uint64_t serve(uint64_t request) {
  uint64_t state = read_request(request);
  for (int i = 0; i < 10; ++i) {
    state = look_up(state);
  }
  update_table(state);
  if (request % 64 == 0) {
    state = compact(state);
  }
  return answer(state);
}

static void* work(void* counter) {
  struct counter* own = counter;
  uint64_t kept = 0;
  for (uint64_t request = 1;; ++request) {
    kept ^= serve(request);
    atomic_store_explicit(&own->served, request, memory_order_relaxed);
    __asm__ volatile("" : : "r"(kept));
  }
  return NULL;
}

int main(int count, char** words) {
  const int threads = count > 2 ? atoi(words[2]) : 1;
  if (count < 2 || threads < 1 || threads > kMostThreads) {
    fprintf(stderr, "usage: server FILE [THREADS, at most %d]\n", kMostThreads);
    return 2;
  }
  const int file = open(words[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, kMostThreads * kLineBytes) != 0) {
    perror(words[1]);
    return 1;
  }
  counters = mmap(NULL, kMostThreads * kLineBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counters == MAP_FAILED) {
    perror(words[1]);
    return 1;
  }
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &counters[i]) != 0) {
      fputs("no more threads\n", stderr);
      return 1;
    }
  }
  pause();
  return 0;
}
