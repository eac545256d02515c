/* Each request is handled by a process of its own, whose exit the server waits for.
 *
 * interval: serve
 * expect: first convert
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

__attribute__((noinline)) static void convert(int document) {
  cause_begin();
  work_us(document % 8 == 0 ? 15000 : 500);
  cause_end();
}

__attribute__((noinline)) static void load(void) { work_us(600); }

__attribute__((noinline)) static void handle(int document) {
  hold_begin();
  load();
  convert(document);
  hold_end();
}

void serve(int document) {
  work_us(300);
  const pid_t child = fork();
  if (child == 0) {
    handle(document);
    _exit(0);
  }
  wait_begin();
  if (waitpid(child, NULL, 0) != child) {
    exit(1);
  }
  wait_end();
  work_us(300);
}

int main(void) {
  for (int request = 0; request < 200; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  return 0;
}
