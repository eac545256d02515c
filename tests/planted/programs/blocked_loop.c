/* An event loop: each request is parked for the same time, but now and then the loop is busy with
 * something else when that is over.
 *
 * expect: first rebuild_index
 * absent: account
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "planted.h"

enum { kRequests = 400, kPauseUs = 2000 };

static int requests[2];
static long long due[kRequests + 1];

static long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

__attribute__((noinline)) static void account(void) { work_us(20); }

__attribute__((noinline)) static void start_request(int id) {
  vprof_begin((uint64_t)id);
  account();
  due[id] = now_us() + 3000;
  vprof_switch(0);
}

__attribute__((noinline)) static void finish_request(int id) {
  vprof_switch((uint64_t)id);
  account();
  due[id] = 0;
  vprof_end((uint64_t)id);
  vprof_switch(0);
}

__attribute__((noinline)) static void rebuild_index(void) { work_us(15000); }

__attribute__((noinline)) static void keep_house(void) {
  account();
  rebuild_index();
}

static void* send_requests(void* unused) {
  for (int id = 1; id <= kRequests; ++id) {
    work_us(kPauseUs);
    if (write(requests[1], &id, sizeof id) != sizeof id) {
      exit(1);
    }
  }
  return unused;
}

int main(void) {
  pthread_t client;
  struct epoll_event event = {.events = EPOLLIN};
  const int epoll = epoll_create1(0);
  if (epoll < 0 || pipe(requests) != 0 ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, requests[0], &event) != 0) {
    return 1;
  }
  pthread_create(&client, NULL, send_requests, NULL);
  int finished = 0;
  long long clean_at = now_us() + 40000;
  while (finished < kRequests) {
    if (epoll_wait(epoll, &event, 1, 1) == 1) {
      int id;
      if (read(requests[0], &id, sizeof id) == sizeof id) {
        start_request(id);
      }
    }
    if (now_us() >= clean_at) {
      keep_house();
      clean_at = now_us() + 60000;
    }
    for (int id = 1; id <= kRequests; ++id) {
      if (due[id] != 0 && due[id] <= now_us()) {
        finish_request(id);
        ++finished;
      }
    }
  }
  pthread_join(client, NULL);
  return 0;
}
