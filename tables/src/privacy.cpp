#include "vprof/tables/privacy.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "vprof/support/files.h"

namespace vprof::tables {
namespace {

constexpr size_t kLeastSalt = 16;  // bytes

struct Subject {
  const char* word;
  Treatment Privacy::* treatment;
};
constexpr std::array<Subject, 3> kSubjects = {
    {{"labels", &Privacy::labels}, {"paths", &Privacy::paths}, {"hosts", &Privacy::hosts}}};

Result<void> set(Privacy& privacy, const std::vector<std::string>& words, const char* option,
                 Treatment treatment) {
  for (const std::string& word : words) {
    const auto* const subject = std::ranges::find(kSubjects, word, &Subject::word);
    if (subject == kSubjects.end()) {
      return fail("{} {}: not known; there are labels, paths and hosts", option, word);
    }
    if (privacy.*subject->treatment != Treatment::kKeep) {
      return fail("{} {}: named twice; a name is hashed or left out", option, word);
    }
    privacy.*subject->treatment = treatment;
  }
  return {};
}

/// Where the file ends in `file:line` and `file:line:column...`: before the last one or two
/// numbers.
size_t end_of_file(std::string_view position) {
  size_t end = position.size();
  for (int numbers = 0; numbers < 2; ++numbers) {
    const size_t colon = position.rfind(':', end == 0 ? 0 : end - 1);
    if (colon == std::string_view::npos || colon + 1 >= position.size() ||
        std::isdigit(static_cast<unsigned char>(position[colon + 1])) == 0) {
      break;
    }
    end = colon;
  }
  return end;
}

}  // namespace

Result<Privacy> Privacy::parse(const std::vector<std::string>& hash,
                               const std::vector<std::string>& leave_out,
                               const std::string& salt_file) {
  Privacy privacy;
  VPROF_TRY(set(privacy, hash, "--hash", Treatment::kHash));
  VPROF_TRY(set(privacy, leave_out, "--leave-out", Treatment::kLeaveOut));
  if (hash.empty()) {
    return privacy;
  }
  if (salt_file.empty()) {
    return fail("--hash needs --salt-file FILE: without a secret, names can be found by trying");
  }
  privacy.salt = VPROF_TRY(read_file(salt_file));
  if (privacy.salt.size() < kLeastSalt) {
    return fail("{}: has {} bytes; a salt needs {} or more: head -c 32 /dev/urandom > {}",
                salt_file, privacy.salt.size(), kLeastSalt, salt_file);
  }
  return privacy;
}

std::string Privacy::apply(Treatment treatment, std::string_view name) const {
  if (treatment == Treatment::kKeep || name.empty()) {
    return std::string(name);
  }
  if (treatment == Treatment::kLeaveOut) {
    return "";
  }
  // Keys have 64 bytes at most, so the salt is hashed first.
  std::array<unsigned char, crypto_generichash_KEYBYTES> key{};
  crypto_generichash(key.data(), key.size(), reinterpret_cast<const unsigned char*>(salt.data()),
                     salt.size(), nullptr, 0);
  std::array<unsigned char, crypto_generichash_BYTES> digest{};
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(name.data()), name.size(), key.data(),
                     key.size());
  std::string digits;
  for (size_t i = 0; i < 8; ++i) {
    digits += fmt::format("{:02x}", digest[i]);
  }
  return digits;
}

std::string Privacy::apply_to_position(std::string_view position) const {
  const size_t end = end_of_file(position);
  return apply(paths, position.substr(0, end)) + std::string(position.substr(end));
}

std::string Privacy::apply_to_key(std::string_view key) const {
  const size_t at = key.rfind('@');
  return at == std::string_view::npos
             ? std::string(key)
             : std::string(key.substr(0, at + 1)) + apply_to_position(key.substr(at + 1));
}

}  // namespace vprof::tables
