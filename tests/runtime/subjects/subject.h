// Instrumented programs in small. Each scenario is one run of the subject; tests look at its output and its trace.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace vprof::test {

using Scenario = int (*)();

struct Registration {
  Registration(const char* name, Scenario scenario);
};

// What a test counts on; read by Outcome::number.
inline void tell(const char* name, uint64_t value) {
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
  std::fflush(stdout);
}

inline bool sanitized() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

// Sites used here: leaf 1, middle 2, outer 3; others where they are used.
void leaf();
void middle(int leaves);
void outer(int leaves);

void sleep_ms(int ms);

}  // namespace vprof::test

#define SUBJECT(name)                                                           \
  static int name();                                                            \
  static const ::vprof::test::Registration registration_of_##name(#name, name); \
  static int name()
