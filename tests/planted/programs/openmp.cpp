// OpenMP: the threads of each region share the work, and wait for one another at its end. One of
// them is slow at times, since it reads what is not in memory. The region is in a function that the
// request reaches only through another one.
//
// flags: -fopenmp
// interval: serve
// expect: first read_block
#include <omp.h>

#include <vector>

#include "planted.h"

namespace {

constexpr int kThreads = 3;

__attribute__((noinline)) void check_block() { work_us(400); }

__attribute__((noinline)) void read_block(int request) {
  cause_begin();
  work_us(request % 8 == 0 ? 9000 : 500);
  cause_end();
}

template <class T>
class Table {
 public:
  T load(int block, int request) {
    hold_begin();
    check_block();
    if (block == kThreads - 1) {
      read_block(request);
    }
    hold_end();
    return static_cast<T>(block);
  }

  T sum_of_blocks(int request) {
    T sum = 0;
#pragma omp parallel for num_threads(kThreads) reduction(+ : sum)
    for (int block = 0; block < kThreads; ++block) {
      blocks_[static_cast<size_t>(block)] = load(block, request);
      sum += blocks_[static_cast<size_t>(block)];
      if (block == 0) {  // the calling thread's
        wait_begin();
      }
    }
    wait_end();
    return sum;
  }

 private:
  std::vector<T> blocks_ = std::vector<T>(kThreads);
};

Table<int> table;
int total = 0;

__attribute__((noinline)) void answer(int request) { total += table.sum_of_blocks(request); }

}  // namespace

void serve(int request) {
  work_us(200);
  answer(request);
  work_us(100);
}

int main() {
  for (int request = 0; request < 300; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  return total == 300 * 3 ? 0 : 1;
}
