// What a new page of a trace costs, and for how long the processor is taken at a time; and what a
// store to a page costs that the kernel has written to the disk since.
//
//   bench_page_cost
//
// Makes 256 MiB of a file's pages present in pieces of 256 KiB, as the helper does, in the current
// directory: by faulting them in with the disk's read-ahead, one by one, and one by one after zeros
// were written over them. Prints processor time per page, and the longest piece. Then it stores to
// each page once, before and after fsync(2), and prints the time and the page faults of a store,
// and the longest store.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
constexpr double kPages = kBytes / kPage;

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

long page_faults() {
  struct rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

void make_present(const Way& way, int file, char* mapped) {
  double all = 0;
  double longest = 0;
  for (size_t at = 0; at < kBytes; at += kPiece) {
    const double start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    if ((way.zeros && !write_zeros(file, at)) ||
        madvise(mapped + at, kPiece, MADV_POPULATE_WRITE) != 0) {
      give_up("cannot get a page");
    }
    const double took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
    all += took;
    longest = std::max(longest, took);
  }
  std::printf("%-22s %5.2f us a page, longest piece %6.2f ms\n", way.name, all / 1e3 / kPages,
              longest / 1e6);
}

void store(const char* when, char* mapped) {
  const long faults = page_faults();
  double all = 0;
  double longest = 0;
  for (size_t at = 0; at < kBytes; at += kPage) {
    const double start = nanoseconds(CLOCK_MONOTONIC);
    *static_cast<volatile char*>(mapped + at) = 1;
    const double took = nanoseconds(CLOCK_MONOTONIC) - start;
    all += took;
    longest = std::max(longest, took);
  }
  std::printf("  a store %-12s %5.2f us and %.2f page faults, longest %7.3f ms\n", when,
              all / 1e3 / kPages, static_cast<double>(page_faults() - faults) / kPages,
              longest / 1e6);
}

void measure(const Way& way) {
  char name[] = "bench_page_cost.XXXXXX";
  const int file = mkstemp(name);
  if (file < 0 || unlink(name) != 0 || ftruncate(file, static_cast<off_t>(kBytes)) != 0 ||
      fallocate(file, 0, 0, static_cast<off_t>(kBytes)) != 0) {
    give_up("cannot make a file here");
  }
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED || (!way.read_ahead && madvise(memory, kBytes, MADV_RANDOM) != 0)) {
    give_up("cannot map the file");
  }
  char* const mapped = static_cast<char*>(memory);
  make_present(way, file, mapped);
  store("at once", mapped);
  if (fsync(file) != 0) {
    give_up("cannot write to the disk");
  }
  store("after fsync", mapped);
  munmap(memory, kBytes);
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
