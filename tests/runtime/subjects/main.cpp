#include <vprof/runtime/scope.h>

#include <cstring>
#include <ctime>
#include <map>
#include <string>

#include "subject.h"

namespace vprof::test {
namespace {

std::map<std::string, Scenario>& scenarios() {
  static std::map<std::string, Scenario> all;
  return all;
}

}  // namespace

Registration::Registration(const char* name, Scenario scenario) { scenarios()[name] = scenario; }

__attribute__((noinline)) void leaf() {
  VPROF_FUNCTION(1);
  __asm__ __volatile__("");
}

__attribute__((noinline)) void middle(int leaves) {
  VPROF_FUNCTION(2);
  for (int i = 0; i < leaves; ++i) {
    leaf();
  }
}

__attribute__((noinline)) void outer(int leaves) {
  VPROF_FUNCTION(3);
  middle(leaves);
  leaf();
}

void sleep_ms(int ms) {
  timespec rest{ms / 1000, ms % 1000 * 1000000L};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

}  // namespace vprof::test

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  const auto found = vprof::test::scenarios().find(argv[1]);
  return found == vprof::test::scenarios().end() ? 3 : found->second();
}
