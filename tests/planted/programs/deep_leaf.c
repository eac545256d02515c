/* A deep leaf: one call in ten of a function five levels down is slow; all above it only pass the
 * time on.
 *
 * interval: serve
 * expect: first inflate_block
 */
#include "planted.h"

static uint32_t seed = 1;

__attribute__((noinline)) static void inflate_block(int block) {
  work_us(block % 10 == 0 ? 15000 : 300);
}

__attribute__((noinline)) static void verify_block(int block) {
  work_us(200 + draw(&seed) % 100 + (uint32_t)block % 2);
}

__attribute__((noinline)) static void read_block(int block) {
  cause_begin();
  inflate_block(block);
  cause_end();
  verify_block(block);
}

__attribute__((noinline)) static void look_up(int key) {
  work_us(300);
  read_block(key);
}

__attribute__((noinline)) static void answer(int key) { work_us(1000 + (uint32_t)key % 3 * 100); }

void serve(int key) {
  look_up(key);
  answer(key);
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
