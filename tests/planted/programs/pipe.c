/* Hand-off by pipes: the server asks another process for each request and waits for its answer;
 * that one is slow, sometimes.
 *
 * interval: serve
 * expect: first rank_results
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

static int questions[2], answers[2];

__attribute__((noinline)) static void rank_results(int query) {
  cause_begin();
  work_us(query % 8 == 0 ? 14000 : 400);
  cause_end();
}

__attribute__((noinline)) static void collect_results(void) { work_us(600); }

__attribute__((noinline)) static void answer(int query) {
  hold_begin();
  collect_results();
  rank_results(query);
  hold_end();
  if (write(answers[1], &query, sizeof query) != sizeof query) {
    exit(1);
  }
}

static void run_searcher(void) {
  int query;
  while (read(questions[0], &query, sizeof query) == sizeof query) {
    answer(query);
  }
}

__attribute__((noinline)) static void ask(int query) {
  int result;
  if (write(questions[1], &query, sizeof query) != sizeof query) {
    exit(1);
  }
  if (read(answers[0], &result, sizeof result) != sizeof result) {
    exit(1);
  }
}

void serve(int query) {
  work_us(500);
  wait_begin();
  ask(query);
  wait_end();
  work_us(500);
}

int main(void) {
  if (pipe(questions) != 0 || pipe(answers) != 0) {
    return 1;
  }
  if (fork() == 0) {
    close(questions[1]);
    run_searcher();
    return 0;
  }
  for (int request = 0; request < 200; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  close(questions[1]);
  wait(NULL);
  return 0;
}
