// Lists of numbers, most of them small, as one binary value of a profile: LEB128, seven bits to a
// byte, the least significant first. As MessagePack numbers they would take three times the space
// in the file, and twenty times in memory while a profile is written or read.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "statistics/moments.h"

namespace vprof::analyzer {

/// The members of a struct that are packed, in order: specialise with a tuple `kMembers` of
/// pointers to them. They may be uint64_t, int64_t and UInt128.
template <class T>
struct PackedStruct;

class PackedWriter {
 public:
  void add(UInt128 value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<uint8_t>(0x80 | static_cast<uint8_t>(value & 0x7f)));
    }
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  /// A negative number is written as its two's complement in T.
  template <std::integral T>
  void add(T value) {
    add(UInt128{static_cast<std::make_unsigned_t<T>>(value)});
  }
  template <class T>
  void add_struct(const T& value) {
    std::apply([&](auto... member) { (add(value.*member), ...); }, PackedStruct<T>::kMembers);
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// Throws std::runtime_error if the bytes end too soon or a number is too large. Refers to the
/// bytes, which must outlive it.
class PackedReader {
 public:
  explicit PackedReader(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  UInt128 wide() {
    UInt128 value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_end()) {
        throw std::runtime_error("a list of numbers ends too soon");
      }
      const uint8_t byte = bytes_[at_++];
      const UInt128 bits = byte & 0x7f;
      if (shift >= 126 && (shift > 126 || bits > 3)) {
        throw_too_large();
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
      throw_too_large();
    }
    return static_cast<uint64_t>(value);
  }
  /// A number below `limit`; throws `otherwise` if it is not.
  uint32_t index(uint64_t limit, const char* otherwise) {
    const uint64_t value = number();
    if (value >= limit || value > UINT32_MAX) {
      throw std::runtime_error(otherwise);
    }
    return static_cast<uint32_t>(value);
  }
  template <class T>
  void read_struct(T& value) {
    std::apply([&](auto... member) { (read(value.*member), ...); }, PackedStruct<T>::kMembers);
  }

 private:
  void read(UInt128& value) { value = wide(); }
  void read(uint64_t& value) { value = number(); }
  void read(int64_t& value) { value = static_cast<int64_t>(number()); }

  [[noreturn]] static void throw_too_large() { throw std::runtime_error("a number is too large"); }

  const std::vector<uint8_t>& bytes_;
  size_t at_ = 0;
};

}  // namespace vprof::analyzer
