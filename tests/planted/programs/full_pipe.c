/* Back-pressure: the server logs to a pipe that is full, and the process that reads it stores what
 * it reads, slowly at times.
 *
 * interval: serve
 * expect: first store_page
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

enum { kPage = 4096 };
static int records[2];

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

__attribute__((noinline)) static void log_request(int request) {
  static char page[kPage];
  memcpy(page, &request, sizeof request);
  if (write(records[1], page, sizeof page) != sizeof page) {
    exit(1);
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
