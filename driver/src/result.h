// Errors of the driver: one line for the user that names the file and what to do. main() prints it
// and exits with 2.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace vprof::driver {

template <class T>
using Result = tl::expected<T, std::string>;

/// The error value of any Result, from a format string.
template <class... Args>
tl::unexpected<std::string> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<std::string>(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace vprof::driver
