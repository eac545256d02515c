/* longjmp: an error jumps out of two frames, as in many servers; cleaning up after it is what takes
 * long. The frames that were left leave no record, and the time after the jump is not theirs.
 *
 * interval: execute
 * expect: first abort_statement
 * absent: run_plan
 */
#include <setjmp.h>

#include "planted.h"

static jmp_buf on_error;

__attribute__((noinline)) static void evaluate(int request) {
  work_us(300);
  if (request % 9 == 0) {
    longjmp(on_error, 1);
  }
}

__attribute__((noinline)) static void run_plan(int request) {
  work_us(400);
  evaluate(request);
  work_us(100);
}

__attribute__((noinline)) static void abort_statement(void) { work_us(14000); }

void execute(int request) {
  if (setjmp(on_error) == 0) {
    run_plan(request);
  } else {
    cause_begin();
    abort_statement();
    cause_end();
  }
}

int main(void) {
  for (int request = 0; request < 250; ++request) {
    request_begin();
    execute(request);
    request_end();
  }
  write_truth();
  return 0;
}
