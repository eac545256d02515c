#include "verbs/answers/become_python.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "vprof/support/files.h"

namespace vprof::driver {

namespace {

std::string variable_or_none(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// $VPROF_PYTHON; the environment that the documentation says to make; Python on the PATH.
fs::path interpreter() {
  if (const std::string named = variable_or_none("VPROF_PYTHON"); !named.empty()) {
    return named;
  }
  const std::string data = variable_or_none("XDG_DATA_HOME");
  const fs::path own =
      (data.empty() ? fs::path(variable_or_none("HOME")) / ".local/share" : fs::path(data)) /
      "vprof/python/bin/python3";
  std::error_code error;
  return fs::exists(own, error) ? own : fs::path("python3");
}

}  // namespace

Result<int> become_python(const std::string& verb, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), interpreter().string());
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return fail(
      "{}: {} cannot be started: {}; install Python 3.11 or later, or name it by VPROF_PYTHON",
      verb, arguments[0], std::strerror(errno));
}

}  // namespace vprof::driver
