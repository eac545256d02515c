// What leaves the host in tables: names can be replaced by a keyed hash, or left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::tables {

enum class Treatment : uint8_t { kKeep, kHash, kLeaveOut };

/// What may tell more than its owner wants, and what becomes of it.
struct Privacy {
  Treatment labels = Treatment::kKeep;  ///< labels and keys of intervals
  Treatment paths = Treatment::kKeep;   ///< of source files
  Treatment hosts = Treatment::kKeep;
  /// The key of the hash. Who does not have it cannot find a name by trying.
  std::string salt;

  /// `hash` and `leave_out` are words: labels, paths, hosts. Error: another word, one that is in
  /// both, or a hash without a salt file; one line.
  static Result<Privacy> parse(const std::vector<std::string>& hash,
                               const std::vector<std::string>& leave_out,
                               const std::string& salt_file);

  /// The name itself, 16 hexadecimal digits of its BLAKE2b, or nothing. Empty stays empty.
  std::string apply(Treatment treatment, std::string_view name) const;
  /// The same for the file in `file:line` or `file:line:column`.
  std::string apply_to_position(std::string_view position) const;
  /// The same for the file in the key of a function, `name@file:line`.
  std::string apply_to_key(std::string_view key) const;
};

}  // namespace vprof::tables
