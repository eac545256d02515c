// Recursion: two functions call each other down a tree; at some leaves a hash table is rebuilt.
// Neither of the two is the cause, however often they are on the path.
//
// interval: evaluate
// expect: first rehash
#include "planted.h"

namespace {

int leaves = 0;

__attribute__((noinline)) void rehash() { work_us(12000); }

__attribute__((noinline)) void touch_leaf() {
  if (++leaves % 60 == 0) {
    cause_begin();
    rehash();
    cause_end();
  }
  work_us(100);
}

void visit_right(int depth);

__attribute__((noinline)) void visit_left(int depth) {
  if (depth == 0) {
    touch_leaf();
    return;
  }
  visit_left(depth - 1);
  visit_right(depth - 1);
}

__attribute__((noinline)) void visit_right(int depth) {
  if (depth == 0) {
    touch_leaf();
    return;
  }
  visit_right(depth - 1);
  visit_left(depth - 1);
}

}  // namespace

void evaluate() { visit_left(3); }

int main() {
  for (int request = 0; request < 200; ++request) {
    request_begin();
    evaluate();
    request_end();
  }
  write_truth();
}
