// What a new page of a trace costs, and for how long the processor is taken at a time.
//
//   bench_page_cost
//
// Makes 256 MiB of a file's pages present in pieces of 256 KiB, as the helper does, in the current
// directory: by faulting them in with the disk's read-ahead, one by one, and one by one after zeros
// were written over them. Prints processor time per page, and the longest piece.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bench.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

using namespace vprof::bench;

namespace {

constexpr size_t kBytes = 256 << 20, kPiece = 256 << 10, kWritten = 64 << 10, kPage = 4096;

struct Way {
  const char* name;
  bool read_ahead, zeros;
};

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(2);
}

bool write_zeros(int file, size_t at) {
  static const std::vector<char> zeros(kWritten);
  for (size_t done = 0; done < kPiece; done += kWritten) {
    const auto to = static_cast<off_t>(at + done);
    if (pwrite(file, zeros.data(), kWritten, to) != static_cast<ssize_t>(kWritten)) {
      return false;
    }
  }
  return true;
}

void measure(const Way& way) {
  char name[] = "bench_page_cost.XXXXXX";
  const int file = mkstemp(name);
  if (file < 0 || unlink(name) != 0 || ftruncate(file, static_cast<off_t>(kBytes)) != 0 ||
      fallocate(file, 0, 0, static_cast<off_t>(kBytes)) != 0) {
    give_up("cannot make a file here");
  }
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED || (!way.read_ahead && madvise(mapped, kBytes, MADV_RANDOM) != 0)) {
    give_up("cannot map the file");
  }
  double all = 0;
  double longest = 0;
  for (size_t at = 0; at < kBytes; at += kPiece) {
    const double start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    if ((way.zeros && !write_zeros(file, at)) ||
        madvise(static_cast<char*>(mapped) + at, kPiece, MADV_POPULATE_WRITE) != 0) {
      give_up("cannot get a page");
    }
    const double took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
    all += took;
    longest = std::max(longest, took);
  }
  std::printf("%-22s %5.2f us a page, longest piece %6.2f ms\n", way.name,
              all / 1e3 / static_cast<double>(kBytes / kPage), longest / 1e6);
  munmap(mapped, kBytes);
  close(file);
}

}  // namespace

int main() {
  for (int round = 0; round < 3; ++round) {
    for (const Way& way : {Way{"the disk's read-ahead", true, false},
                           Way{"one by one", false, false}, Way{"zeros first", false, true}}) {
      measure(way);
    }
  }
}
