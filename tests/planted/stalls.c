/* How long does this machine keep those who want to go on from it? On each processor a thread
 * sleeps a millisecond at a time. Until SIGTERM; then it adds a line to the file that it is given:
 * the sum of the squares of what its sleeps took too long, in s^2, for each second of one
 * processor. What latencies have of that in their variance: this, times their mean. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };
static double squares[MOST];

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void* watch(void* which) {
  double* sum = which;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(sum - squares, &mine);
  sched_setaffinity(0, sizeof(mine), &mine);
  while (1) {
    const double begin = now_s();
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    const double late = now_s() - begin - 0.001;
    *sum += late * late;
  }
  return NULL;
}

int main(int argc, char** argv) {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, NULL);
  const double begin = now_s();
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors > MOST) {
    processors = MOST;
  }
  for (long i = 0; i < processors; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, &squares[i]) != 0) {
      return 1;
    }
  }
  int signal_number;
  sigwait(&end, &signal_number);
  double sum = 0;
  for (long i = 0; i < processors; ++i) {
    sum += squares[i];
  }
  FILE* file = fopen(argv[argc - 1], "a");
  if (file == NULL) {
    return 1;
  }
  fprintf(file, "%.3e\n", sum / (double)processors / (now_s() - begin));
  return fclose(file) == 0 ? 0 : 1;
}
