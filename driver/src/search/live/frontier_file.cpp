#include "search/live/frontier_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "vprof/runtime/frontier.h"

namespace vprof::driver {

namespace {

constexpr auto kHeartbeat = std::chrono::milliseconds(250);
constexpr uint32_t kWord = sizeof(uint64_t);

fs::path file_in(const fs::path& trace) { return trace / VPROF_FRONTIER_NAME; }

template <class T>
void store(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

/// Processes may count, too.
void add_one(uint64_t& field) { __atomic_fetch_add(&field, 1, __ATOMIC_RELEASE); }

template <class T>
T load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

vprof_frontier_header fresh_header() {
  vprof_frontier_header header{};
  header.magic = VPROF_FRONTIER_MAGIC;
  header.version = VPROF_FRONTIER_VERSION;
  header.header_bytes = VPROF_FRONTIER_HEADER_BYTES;
  header.sites = VPROF_FRONTIER_SITES;
  return header;
}

/// Whether the file is one that this version can drive.
bool is_valid(int fd) {
  struct stat status{};
  vprof_frontier_header header{};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size == VPROF_FRONTIER_BYTES &&
         ::pread(fd, &header, sizeof header, 0) == sizeof header &&
         header.magic == VPROF_FRONTIER_MAGIC && header.version == VPROF_FRONTIER_VERSION &&
         header.header_bytes == VPROF_FRONTIER_HEADER_BYTES && header.sites == VPROF_FRONTIER_SITES;
}

class Driving final : public FrontierFile {
 public:
  Driving(int fd, void* mapped)
      : fd_(fd),
        header_(static_cast<vprof_frontier_header*>(mapped)),
        sites_(static_cast<unsigned char*>(mapped) + VPROF_FRONTIER_HEADER_BYTES) {
    store(header_->driver_pid, static_cast<uint64_t>(::getpid()));
    store(header_->most_records_per_second, uint64_t{0});  // no limit
    store_heartbeat();
    pulse_ = std::thread([this] { beat(); });
  }
  ~Driving() override {
    {
      const std::scoped_lock lock(mutex_);
      end_ = true;
    }
    ended_.notify_one();
    pulse_.join();
    pause();
    add_one(header_->gaps);
    add_one(header_->undriven);
    store(header_->heartbeat_ns, uint64_t{0});
    store(header_->driver_pid, uint64_t{0});
    ::munmap(header_, VPROF_FRONTIER_BYTES);
    ::close(fd_);  // gives the lock back
  }
  Driving(const Driving&) = delete;
  Driving& operator=(const Driving&) = delete;

  void keep_on(const std::vector<uint32_t>& sites) override { kept_on_ = sites; }

  void switch_to(const std::vector<uint32_t>& sites) override {
    const std::scoped_lock lock(mutex_);
    if (!recording_) {
      recording_ = true;
      store_heartbeat();
    }
    switch_exactly({&sites, &kept_on_});
  }

  void pause() override { record_nothing({}); }

  void count() override { record_nothing({&kept_on_}); }

  uint64_t interruptions() const override {
    return load(header_->switched_off) + load(header_->undriven);
  }

  void record_nothing(std::initializer_list<const std::vector<uint32_t>*> gates) {
    const std::scoped_lock lock(mutex_);
    switch_exactly(gates);
    if (recording_) {
      recording_ = false;
      add_one(header_->gaps);
      store_heartbeat();
    }
  }

  /// Looks at eight sites at a time: slices follow each other fast.
  void switch_exactly(std::initializer_list<const std::vector<uint32_t>*> lists) {
    const auto want = [&](unsigned char on) {
      for (const auto* sites : lists) {
        for (const uint32_t site : *sites) {
          if (site != 0 && site < VPROF_FRONTIER_SITES) {
            wanted_[site] = on;
          }
        }
      }
    };
    want(1);
    for (uint32_t first = 0; first < VPROF_FRONTIER_SITES; first += kWord) {
      uint64_t wanted = 0;
      std::memcpy(&wanted, &wanted_[first], kWord);
      if (load(*reinterpret_cast<const uint64_t*>(sites_ + first)) != wanted) {
        for (uint32_t site = first; site < first + kWord; ++site) {
          if (load(sites_[site]) != wanted_[site]) {
            store(sites_[site], wanted_[site]);
          }
        }
      }
    }
    want(0);
    store(header_->epoch, load(header_->epoch) + 1);
  }

  void store_heartbeat() {
    const auto now = static_cast<uint64_t>(monotonic_ns());
    __atomic_store_n(&header_->heartbeat_ns,
                     recording_ ? now | VPROF_FRONTIER_RECORDING : now & ~VPROF_FRONTIER_RECORDING,
                     __ATOMIC_RELEASE);
  }

  void beat() {
    std::unique_lock lock(mutex_);
    while (!end_) {
      store_heartbeat();
      ended_.wait_for(lock, kHeartbeat);
    }
  }

  const int fd_;
  vprof_frontier_header* const header_;
  unsigned char* const sites_;
  std::vector<uint32_t> kept_on_;
  std::vector<unsigned char> wanted_ = std::vector<unsigned char>(VPROF_FRONTIER_SITES);
  bool recording_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread pulse_;
};

}  // namespace

int64_t monotonic_ns() {
  struct timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

Result<void> make_frontier_file(const fs::path& trace) {
  const fs::path file = file_in(trace);
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error))) {
    return {};  // take() looks at what it is
  }
  const fs::path draft = trace / ".frontier.draft";
  ::unlink(draft.c_str());
  const int fd =
      ::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    return fail("cannot write {}: {}", shown(file), std::strerror(errno));
  }
  const vprof_frontier_header header = fresh_header();
  // Not sparse: on a full disk, a process that touches a hole would get SIGBUS.
  int reason = ::posix_fallocate(fd, 0, VPROF_FRONTIER_BYTES);
  const bool written = reason == 0 && ::pwrite(fd, &header, sizeof header, 0) == sizeof header;
  reason = reason == 0 ? errno : reason;
  ::close(fd);
  if (!written || ::rename(draft.c_str(), file.c_str()) != 0) {
    ::unlink(draft.c_str());
    return fail("cannot write {}: {}", shown(file), std::strerror(written ? errno : reason));
  }
  return {};
}

Result<std::unique_ptr<FrontierFile>> FrontierFile::take(const fs::path& trace) {
  const fs::path file = file_in(trace);
  const int fd = ::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return fail("cannot open {}: {}; `vprof live --build` makes it", shown(file),
                std::strerror(errno));
  }
  if (!is_valid(fd)) {
    ::close(fd);
    return fail("{} is not a control file of this version; delete it and start the program again",
                shown(file));
  }
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return fail("another vprof drives {}; end it first", shown(trace));
  }
  void* mapped = ::mmap(nullptr, VPROF_FRONTIER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) {
    const int reason = errno;
    ::close(fd);
    return fail("cannot map {}: {}", shown(file), std::strerror(reason));
  }
  return std::make_unique<Driving>(fd, mapped);
}

}  // namespace vprof::driver
