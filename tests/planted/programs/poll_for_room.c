/* Back-pressure on an event loop: the server writes to a pipe that does not block, and waits in
 * epoll until it has room. The process that reads stores what it reads, slowly at times.
 *
 * interval: serve
 * expect: first store_page
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

enum { kPage = 4096 };
static int records[2];
static int loop;

__attribute__((noinline)) static void store_page(int page) {
  cause_begin();
  work_us(page % 8 == 0 ? 14000 : 600);
  cause_end();
}

__attribute__((noinline)) static void index_page(void) { work_us(500); }

static void run_logger(void) {
  static char page[kPage];
  for (int n = 0; read(records[0], page, sizeof page) == sizeof page; ++n) {
    hold_begin();
    index_page();
    store_page(n);
    hold_end();
  }
}

/* Asks for room only while there is none, as event loops do. */
__attribute__((noinline)) static void wait_for_room(void) {
  struct epoll_event event = {.events = EPOLLOUT};
  epoll_ctl(loop, EPOLL_CTL_MOD, records[1], &event);
  while (epoll_wait(loop, &event, 1, -1) < 0 && errno == EINTR) {
  }
  event.events = 0;
  epoll_ctl(loop, EPOLL_CTL_MOD, records[1], &event);
}

__attribute__((noinline)) static void log_request(int request) {
  static char page[kPage];
  memcpy(page, &request, sizeof request);
  while (write(records[1], page, sizeof page) != sizeof page) {
    if (errno != EAGAIN) {
      exit(1);
    }
    wait_for_room();
  }
}

void serve(int request) {
  work_us(300);
  wait_begin();
  log_request(request);
  wait_end();
  work_us(300);
}

int main(void) {
  if (pipe(records) != 0) {
    return 1;
  }
  fcntl(records[1], F_SETPIPE_SZ, kPage);
  if (fork() == 0) {
    close(records[1]);
    run_logger();
    return 0;
  }
  fcntl(records[1], F_SETFL, O_NONBLOCK);
  loop = epoll_create1(0);
  struct epoll_event event = {.events = 0};
  epoll_ctl(loop, EPOLL_CTL_ADD, records[1], &event);
  for (int request = 0; request < 200; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  close(records[1]);
  wait(NULL);
  return 0;
}
