#include "build/unit_notes.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace vprof::driver {

namespace {

/// Reads parts of a file. A part that the file does not have is empty.
class Parts {
 public:
  explicit Parts(const fs::path& file) : in_(file, std::ios::binary) {
    std::error_code error;
    size_ = fs::file_size(file, error);
    size_ = error ? 0 : size_;
  }

  std::string bytes(uint64_t at, uint64_t count) {
    if (at > size_ || count > size_ - at) {
      return "";
    }
    std::string text(count, '\0');
    in_.seekg(static_cast<std::streamoff>(at));
    in_.read(text.data(), static_cast<std::streamsize>(count));
    return in_ ? text : "";
  }

  template <typename T>
  std::vector<T> all(uint64_t at, uint64_t count) {
    const std::string text = bytes(at, count * sizeof(T));
    std::vector<T> result(text.size() / sizeof(T));
    std::memcpy(result.data(), text.data(), result.size() * sizeof(T));
    return result;
  }

 private:
  std::ifstream in_;
  uint64_t size_ = 0;
};

void add_texts(const std::string& section, std::set<std::string>& texts) {
  for (size_t at = 0; at < section.size();) {
    const size_t end = std::min(section.find('\0', at), section.size());
    if (end > at) {
      texts.insert(section.substr(at, end - at));
    }
    at = end + 1;
  }
}

}  // namespace

std::set<std::string> unit_notes(const fs::path& file) {
  std::set<std::string> texts;
  Parts parts(file);
  const auto headers = parts.all<Elf64_Ehdr>(0, 1);
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64 || headers[0].e_shentsize != sizeof(Elf64_Shdr)) {
    return texts;
  }
  // More than 65,279 sections: the first one has the numbers.
  const auto first = parts.all<Elf64_Shdr>(headers[0].e_shoff, 1);
  if (first.empty()) {
    return texts;
  }
  const uint64_t count = headers[0].e_shnum != 0 ? headers[0].e_shnum : first[0].sh_size;
  const uint32_t names =
      headers[0].e_shstrndx != SHN_XINDEX ? headers[0].e_shstrndx : first[0].sh_link;
  const auto sections = parts.all<Elf64_Shdr>(headers[0].e_shoff, count);
  if (names >= sections.size()) {
    return texts;
  }
  const std::string all_names = parts.bytes(sections[names].sh_offset, sections[names].sh_size);
  for (const Elf64_Shdr& section : sections) {
    const bool ours = section.sh_name < all_names.size() &&
                      std::string_view(all_names.c_str() + section.sh_name) == ".vprof.units";
    if (ours && section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_COMPRESSED) == 0) {
      add_texts(parts.bytes(section.sh_offset, section.sh_size), texts);
    }
  }
  return texts;
}

}  // namespace vprof::driver
