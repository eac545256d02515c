/* A signal now and then interrupts a request, and its handler waits. The functions of the request
 * that it interrupts make no such call.
 *
 * interval: serve
 * expect: first wait(sleep)
 * expect: within dump_state
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "planted.h"

__attribute__((noinline)) static void dump_state(void) { poll(NULL, 0, 10); }

static void on_signal(int signal) {
  (void)signal;
  dump_state();
}

__attribute__((noinline)) static void decode(void) { compute_us(150); }

__attribute__((noinline)) static void encode(void) { compute_us(150); }

void serve(void) {
  decode();
  encode();
}

static volatile int done;

static void* watchdog(void* served) {
  while (!done) {
    work_us(15000);
    pthread_kill(*(pthread_t*)served, SIGUSR1);
  }
  return NULL;
}

int main(void) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  pthread_t self = pthread_self();
  pthread_t thread;
  sigaction(SIGUSR1, &action, NULL);
  pthread_create(&thread, NULL, watchdog, &self);
  for (int request = 0; request < 3000; ++request) {
    serve();
    work_us(1500);
  }
  done = 1;
  pthread_join(thread, NULL);
  return 0;
}
