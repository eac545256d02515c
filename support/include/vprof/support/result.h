// How every library of VProfiler reports failure: as a value. No exception crosses a component.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace vprof {

/// What went wrong, for callers that handle some errors differently. Add a kind when a caller needs
/// to tell it apart; never parse a message.
enum class ErrorKind : uint8_t {
  kOther,        ///< shown to the user as it is
  kNotFound,     ///< the file or the name does not exist
  kNoInterval,   ///< a recording without a completed interval
  kDiskFull,     ///< there is no room, or a quota is used up
  kInterrupted,  ///< the user pressed Ctrl-C
};

/// `message` is one line for the user. It names the file, line or option at fault and says what to
/// do about it.
struct Error {
  ErrorKind kind = ErrorKind::kOther;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// The error value of any Result, from a format string.
template <class... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      Error{ErrorKind::kOther, fmt::format(format, std::forward<Args>(args)...)});
}

/// The same with a kind.
template <class... Args>
tl::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{kind, fmt::format(format, std::forward<Args>(args)...)});
}

namespace internal {
template <class T>
T value_of(Result<T>&& result) {
  return std::move(*result);
}
inline void value_of(Result<void>&& /*result*/) {}
}  // namespace internal

}  // namespace vprof

#define VPROF_JOIN_(a, b) a##b
#define VPROF_JOIN(a, b) VPROF_JOIN_(a, b)
#define VPROF_TRY_(expression, name)                           \
  ({                                                           \
    auto name = (expression);                                  \
    if (!name) return tl::unexpected(std::move(name).error()); \
    ::vprof::internal::value_of(std::move(name));              \
  })

/// The value of a Result, or an early return with its error:
///
///   const std::string text = VPROF_TRY(read_file(path));
///   VPROF_TRY(write_file(path, text));
#define VPROF_TRY(expression) VPROF_TRY_(expression, VPROF_JOIN(vprof_try_, __COUNTER__))
