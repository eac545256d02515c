// The driver's side of a live run: the control file of a trace directory. For the tests and for the
// subject, which can be its own driver.
#pragma once

#include <vprof/runtime/frontier.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace vprof::test {

class ControlFile {
 public:
  // Makes a control file in which all sites are off and the driver is there.
  static ControlFile make(const std::string& directory) {
    const std::string path = directory + "/" VPROF_FRONTIER_NAME;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, VPROF_FRONTIER_BYTES) != 0) {
      throw std::runtime_error("cannot make " + path);
    }
    ControlFile file(fd);
    file.header().magic = VPROF_FRONTIER_MAGIC;
    file.header().version = VPROF_FRONTIER_VERSION;
    file.header().header_bytes = VPROF_FRONTIER_HEADER_BYTES;
    file.header().sites = VPROF_FRONTIER_SITES;
    file.drive();
    return file;
  }
  static ControlFile existing(const std::string& directory) {
    const std::string path = directory + "/" VPROF_FRONTIER_NAME;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
      throw std::runtime_error("cannot open " + path);
    }
    return ControlFile(fd);
  }
  ~ControlFile() {
    if (memory_ != nullptr) {
      munmap(memory_, VPROF_FRONTIER_BYTES);
    }
  }
  ControlFile(ControlFile&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;

  vprof_frontier_header& header() const {
    return *reinterpret_cast<vprof_frontier_header*>(memory_);
  }
  uint64_t load(const uint64_t& field) const { return __atomic_load_n(&field, __ATOMIC_ACQUIRE); }

  void set(unsigned site, bool on) const {
    __atomic_store_n(memory_ + VPROF_FRONTIER_HEADER_BYTES + site, on ? 1 : 0, __ATOMIC_RELAXED);
  }
  bool is_on(unsigned site) const {
    return __atomic_load_n(memory_ + VPROF_FRONTIER_HEADER_BYTES + site, __ATOMIC_RELAXED) != 0;
  }

  void drive() const { beat(now() | VPROF_FRONTIER_RECORDING); }
  void pause() const {
    __atomic_fetch_add(&header().gaps, 1, __ATOMIC_RELEASE);
    beat(now() & ~VPROF_FRONTIER_RECORDING);
  }
  // As stale as a heartbeat can be, whatever the program's patience is (VPROF_PATIENCE).
  void die() const { beat(UINT64_MAX); }
  void die_in_pause() const { beat(UINT64_MAX & ~VPROF_FRONTIER_RECORDING); }
  bool driven() const { return load(header().heartbeat_ns) != 0; }

 private:
  explicit ControlFile(int fd)
      : memory_(static_cast<unsigned char*>(
            mmap(nullptr, VPROF_FRONTIER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0))) {
    close(fd);
    if (memory_ == MAP_FAILED) {
      throw std::runtime_error("cannot map a control file");
    }
  }
  static uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
  }
  void beat(uint64_t ns) const { __atomic_store_n(&header().heartbeat_ns, ns, __ATOMIC_RELEASE); }

  unsigned char* memory_;
};

}  // namespace vprof::test
