#include "vprof/support/compiler_name.h"

#include <stddef.h>
#include <string.h>

/* `-12`, `-19`, `-4.8`. */
static bool is_version(const char* text) {
  if (text[0] != '-' || text[1] == '\0') {
    return false;
  }
  return text[1 + strspn(text + 1, "0123456789.")] == '\0';
}

/* "", `c99-`, or the triplet of this machine: a cross compiler cannot link our runtime. */
static bool is_prefix(const char* text, size_t length, const char* machine) {
  static const char end[] = "-linux-gnu-";
  const size_t end_length = sizeof end - 1;
  if (length == 0 ||
      (length == 4 && (memcmp(text, "c89-", 4) == 0 || memcmp(text, "c99-", 4) == 0))) {
    return true;
  }
  const size_t own = strlen(machine);
  return length >= own + end_length && memcmp(text, machine, own) == 0 &&
         memcmp(text + length - end_length, end, end_length) == 0;
}

/* Where `core` is last found in `name`; NULL: nowhere. */
static const char* last(const char* name, const char* core) {
  const char* found = NULL;
  for (const char* at = strstr(name, core); at != NULL; at = strstr(at + 1, core)) {
    found = at;
  }
  return found;
}

bool vprof_is_launcher_name(const char* name) {
  return strcmp(name, "ccache") == 0 || strcmp(name, "sccache") == 0 || strcmp(name, "distcc") == 0;
}

bool vprof_is_compiler_name(const char* name, const char* machine) {
  static const char* const cores[] = {"clang++", "clang", "g++", "gcc", "c++", "cc", "c89", "c99"};
  if (vprof_is_launcher_name(name)) {
    return true;
  }
  for (size_t i = 0; i < sizeof cores / sizeof cores[0]; ++i) {
    const char* at = last(name, cores[i]);
    if (at == NULL || !is_prefix(name, (size_t)(at - name), machine)) {
      continue;
    }
    const char* rest = at + strlen(cores[i]);
    if (*rest == '\0' || is_version(rest)) {
      return true;
    }
  }
  return false;
}
