// Long lists of numbers in a profile: LEB128 (seven bits a byte, the least significant first), most
// of them small, in one binary value. As MessagePack's own numbers they would take three times the
// space in the file, and twenty times in memory while it is written or read.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "statistics/moments.h"

namespace vprof::analyzer {

class PackedWriter {
 public:
  void add(UInt128 value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<uint8_t>(0x80 | static_cast<uint8_t>(value & 0x7f)));
    }
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// Throws std::runtime_error where the bytes end too soon or a number is too large.
class PackedReader {
 public:
  explicit PackedReader(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  UInt128 wide() {
    UInt128 value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_end()) {
        throw std::runtime_error("a list of numbers that ends too soon");
      }
      const uint8_t byte = bytes_[at_++];
      const UInt128 bits = byte & 0x7f;
      if (shift >= 126 && (shift > 126 || bits > 3)) {
        too_large();
      }
      value |= bits << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  }
  uint64_t number() {
    const UInt128 value = wide();
    if (value > UINT64_MAX) {
      too_large();
    }
    return static_cast<uint64_t>(value);
  }
  uint32_t index(uint64_t limit, const char* otherwise) {
    const uint64_t value = number();
    if (value >= limit || value > UINT32_MAX) {
      throw std::runtime_error(otherwise);
    }
    return static_cast<uint32_t>(value);
  }

 private:
  [[noreturn]] static void too_large() { throw std::runtime_error("a number that is too large"); }

  const std::vector<uint8_t>& bytes_;
  size_t at_ = 0;
};

}  // namespace vprof::analyzer
