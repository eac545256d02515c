/* Hand-off by a pipe whose ends are read and written by system calls with a number, as servers with
 * an event library of their own do.
 *
 * interval: serve
 * expect: first fetch_row
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "planted.h"

static int questions[2], answers[2];

__attribute__((noinline)) static void fetch_row(int key) {
  cause_begin();
  work_us(key % 8 == 0 ? 14000 : 400);
  cause_end();
}

__attribute__((noinline)) static void parse(void) { work_us(600); }

static void* run_store(void* unused) {
  int key;
  while (syscall(SYS_read, questions[0], &key, sizeof key) == (long)sizeof key) {
    hold_begin();
    parse();
    fetch_row(key);
    hold_end();
    if (syscall(SYS_write, answers[1], &key, sizeof key) != (long)sizeof key) {
      exit(1);
    }
  }
  return unused;
}

__attribute__((noinline)) static void ask(int key) {
  int row;
  if (syscall(SYS_write, questions[1], &key, sizeof key) != (long)sizeof key ||
      syscall(SYS_read, answers[0], &row, sizeof row) != (long)sizeof row) {
    exit(1);
  }
}

void serve(int key) {
  work_us(500);
  wait_begin();
  ask(key);
  wait_end();
  work_us(500);
}

int main(void) {
  pthread_t store;
  if (pipe(questions) != 0 || pipe(answers) != 0 ||
      pthread_create(&store, NULL, run_store, NULL) != 0) {
    return 1;
  }
  for (int request = 0; request < 200; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  close(questions[1]);
  pthread_join(store, NULL);
  return 0;
}
