// Puts the compiler shim in place of compilers that a build calls by their full path.
//
//   exec("/usr/bin/g++", ARGS) ──▶ exec(".vprof/shims/vprof-compiler", ARGS)
//                                  with VPROF_COMPILER=/usr/bin/g++
//
// A preloaded library in the processes of `configure` and `build`. The shims on PATH remain: they
// also work below a statically linked build tool, into which nothing can be preloaded.
//
// Each exec decides what the new program gets:
//  - a compiler outside the mirror: the shim starts in its place, without this library;
//  - the shim itself: without this library, or it would find itself in place of the compiler;
//  - a program that the build has made (ELF, in the mirror): without this library, since a
//    sanitizer in it may insist on being the first library;
//  - any other program: with this library, even if the environment was cleared.
//
// It runs between vfork and exec in other people's programs: no allocation, no lock, no state that
// changes. It needs no library by name, so that programs of another libc can load it, too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "vprof/support/compiler_name.h"

#define VPROF_EXPORT __attribute__((__visibility__("default")))

typedef int spawn_function(pid_t*, const char*, const posix_spawn_file_actions_t*,
                           const posix_spawnattr_t*, char* const[], char* const[]);

// Set by the constructor, constant from then on. shims[0] is 0 where nothing is to be done.
static char shims[PATH_MAX];
static char preload[PATH_MAX];  // our entry in LD_PRELOAD
static char mirror[PATH_MAX];
static char stand_in[PATH_MAX];
static char machine[65];
static spawn_function* real_spawn;
static spawn_function* real_spawnp;

__attribute__((__constructor__)) static void start(void) {
  const char* directory = getenv("VPROF_SHIMS");
  const char* own = getenv("VPROF_PRELOAD");
  static const char link[] = "/vprof-compiler";
  struct utsname name;
  *(void**)&real_spawn = dlsym(RTLD_NEXT, "posix_spawn");
  *(void**)&real_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
  if (directory == NULL || own == NULL || strlen(directory) + sizeof link > PATH_MAX ||
      strlen(own) >= PATH_MAX || uname(&name) != 0) {
    return;
  }
  strcpy(preload, own);
  strcpy(machine, name.machine);
  strcpy(stand_in, directory);
  strcat(stand_in, link);
  if (realpath(directory, mirror) != NULL) {
    strcpy(strrchr(mirror, '/'), "/mirror/");
  }
  strcpy(shims, directory);
}

// ---- what becomes of a program

enum Kind {
  kOther,     // gets this library
  kBare,      // does not
  kCompiler,  // is replaced
};

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static bool is_elf(const char* path) {
  char bytes[4] = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  const bool whole = read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
  close(fd);
  return whole && memcmp(bytes, "\177ELF", sizeof bytes) == 0;
}

static bool is_program(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

// Whether this is a compiler, or a link of another name to one. `clang-cpp` and `clang-cl` are
// links to clang that take other options.
static bool is_compiler(const char* path, const char* resolved) {
  const char* name = base_name(path);
  if (vprof_is_compiler_name(name, machine)) {
    return true;
  }
  return strstr(name, "cpp") == NULL && strstr(name, "-cl") == NULL &&
         vprof_is_compiler_name(base_name(resolved), machine);
}

static enum Kind kind_of(const char* path) {
  char resolved[PATH_MAX];
  if (shims[0] == '\0' || !is_program(path) || realpath(path, resolved) == NULL) {
    return kOther;
  }
  if (strcmp(base_name(resolved), "vprof-shim") == 0) {
    return kBare;
  }
  if (strncmp(resolved, mirror, strlen(mirror)) == 0) {
    return is_elf(resolved) ? kBare : kOther;
  }
  return is_compiler(path, resolved) ? kCompiler : kOther;
}

// ---- its environment

static size_t length(char* const list[]) {
  size_t n = 0;
  while (list != NULL && list[n] != NULL) {
    ++n;
  }
  return n;
}

// The value of `NAME=` in an entry; NULL: the entry is of another variable.
static const char* value_of(const char* entry, const char* name) {
  const size_t n = strlen(name);
  return strncmp(entry, name, n) == 0 ? entry + n : NULL;
}

static const char preload_variable[] = "LD_PRELOAD=";
static const char own_variable[] = "VPROF_PRELOAD=";
static const char shims_variable[] = "VPROF_SHIMS=";
static const char compiler_variable[] = "VPROF_COMPILER=";

static const char* preloaded_in(char* const from[]) {
  const char* found = "";
  for (size_t i = 0; i < length(from); ++i) {
    const char* value = value_of(from[i], preload_variable);
    found = value == NULL ? found : value;
  }
  return found;
}

// Copies a list of libraries without ours.
static char* copy_others(char* to, const char* list) {
  const char* const begin = to;
  for (const char* at = list; *at != '\0';) {
    const size_t n = strcspn(at, ": ");
    if (n != 0 && !(n == strlen(preload) && memcmp(at, preload, n) == 0)) {
      if (to != begin) {
        *to++ = ':';
      }
      memcpy(to, at, n);
      to += n;
    }
    at += n;
    at += strspn(at, ": ");
  }
  return to;
}

static char* put(char* to, const char* text) {
  const size_t n = strlen(text);
  memcpy(to, text, n + 1);
  return to + n;
}

// Space for the entries that an environment gets.
static size_t text_bytes(char* const from[], const char* path) {
  return strlen(preloaded_in(from)) + 2 * strlen(preload) + strlen(shims) + strlen(path) + 128;
}

enum { kMoreEntries = 5 };

static void make_environment(enum Kind kind, const char* path, char* const from[], char* to[],
                             char* text) {
  size_t n = 0;
  for (size_t i = 0; i < length(from); ++i) {
    if (value_of(from[i], preload_variable) == NULL && value_of(from[i], own_variable) == NULL &&
        value_of(from[i], shims_variable) == NULL && value_of(from[i], compiler_variable) == NULL) {
      to[n++] = from[i];
    }
  }
  char* entry = text;
  char* end = copy_others(put(entry, preload_variable), preloaded_in(from));
  const bool others = end != entry + strlen(preload_variable);
  if (kind == kOther) {
    end = put(put(end, others ? ":" : ""), preload);
  }
  *end++ = '\0';
  if (others || kind == kOther) {
    to[n++] = entry;
  }
  if (kind == kOther) {
    to[n++] = end;
    end = put(put(end, own_variable), preload) + 1;
    to[n++] = end;
    put(put(end, shims_variable), shims);
  } else if (kind == kCompiler) {
    to[n++] = end;
    put(put(end, compiler_variable), path);
  }
  to[n] = NULL;
}

static void make_arguments(char* const from[], char* to[]) {
  const size_t n = length(from);
  to[0] = stand_in;
  to[1] = NULL;
  for (size_t i = 1; i < n; ++i) {
    to[i] = from[i];
    to[i + 1] = NULL;
  }
}

// ---- exec

static int run(const char* path, char* const argv[], char* const environment[]) {
  return (int)syscall(SYS_execve, path, argv, environment);
}

VPROF_EXPORT int execve(const char* path, char* const argv[], char* const environment[]) {
  if (shims[0] == '\0') {
    return run(path, argv, environment);
  }
  const enum Kind kind = kind_of(path);
  char text[text_bytes(environment, path)];
  char* changed[length(environment) + kMoreEntries];
  make_environment(kind, path, environment, changed, text);
  if (kind != kCompiler) {
    return run(path, argv, changed);
  }
  char* arguments[length(argv) + 2];
  make_arguments(argv, arguments);
  return run(stand_in, arguments, changed);
}

// A script without `#!`, as execvp starts it.
static int run_script(const char* path, char* const argv[], char* const environment[]) {
  char* arguments[length(argv) + 3];
  arguments[0] = (char*)"/bin/sh";
  arguments[1] = (char*)path;
  arguments[2] = NULL;
  for (size_t i = 1; i < length(argv); ++i) {
    arguments[i + 1] = argv[i];
    arguments[i + 2] = NULL;
  }
  return execve(arguments[0], arguments, environment);
}

static int exec_or_script(const char* path, char* const argv[], char* const environment[]) {
  execve(path, argv, environment);
  return errno == ENOEXEC ? run_script(path, argv, environment) : -1;
}

// The next directory of `*path`, with `/file`, in `to`. Returns whether there was one; `to` is
// empty if the result would be too long.
static bool next_candidate(const char** path, const char* file, char to[PATH_MAX]) {
  if (*path == NULL) {
    return false;
  }
  const size_t n = strcspn(*path, ":");
  to[0] = '\0';
  if (n + 1 + strlen(file) < PATH_MAX) {
    memcpy(to, *path, n);
    char* end = n == 0 ? put(to, ".") : to + n;
    put(put(end, "/"), file);
  }
  *path = (*path)[n] == ':' ? *path + n + 1 : NULL;
  return true;
}

static const char* search_path(void) {
  const char* path = getenv("PATH");
  return path == NULL ? "/bin:/usr/bin" : path;
}

VPROF_EXPORT int execvpe(const char* file, char* const argv[], char* const environment[]) {
  if (*file == '\0' || strchr(file, '/') != NULL) {
    return exec_or_script(file, argv, environment);
  }
  bool forbidden = false;
  char candidate[PATH_MAX];
  const char* path = search_path();
  while (next_candidate(&path, file, candidate)) {
    exec_or_script(candidate, argv, environment);
    if (errno == EACCES) {
      forbidden = true;
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV &&
               errno != ETIMEDOUT) {
      return -1;
    }
  }
  errno = forbidden ? EACCES : ENOENT;
  return -1;
}

VPROF_EXPORT int execv(const char* path, char* const argv[]) { return execve(path, argv, environ); }

VPROF_EXPORT int execvp(const char* file, char* const argv[]) {
  return execvpe(file, argv, environ);
}

// The arguments of an `execl` as an array. Counts them in a first pass.
#define VPROF_COLLECT(list, first)            \
  size_t n = 1;                               \
  va_list list;                               \
  va_start(list, first);                      \
  while (va_arg(list, const char*) != NULL) { \
    ++n;                                      \
  }                                           \
  va_end(list);                               \
  char* argv[n + 1];                          \
  va_start(list, first);                      \
  argv[0] = (char*)first;                     \
  for (size_t i = 1; i <= n; ++i) {           \
    argv[i] = va_arg(list, char*);            \
  }

VPROF_EXPORT int execl(const char* path, const char* first, ...) {
  VPROF_COLLECT(list, first)
  va_end(list);
  return execve(path, argv, environ);
}

VPROF_EXPORT int execlp(const char* file, const char* first, ...) {
  VPROF_COLLECT(list, first)
  va_end(list);
  return execvpe(file, argv, environ);
}

VPROF_EXPORT int execle(const char* path, const char* first, ...) {
  VPROF_COLLECT(list, first)
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return execve(path, argv, environment);
}

// ---- posix_spawn

// `call` starts `file`, which is at `path`.
static int spawn(spawn_function* call, pid_t* pid, const char* file, const char* path,
                 const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                 char* const argv[], char* const environment[]) {
  if (shims[0] == '\0') {
    return call(pid, file, actions, attributes, argv, environment);
  }
  const enum Kind kind = kind_of(path);
  char text[text_bytes(environment, path)];
  char* changed[length(environment) + kMoreEntries];
  make_environment(kind, path, environment, changed, text);
  if (kind != kCompiler) {
    return call(pid, file, actions, attributes, argv, changed);
  }
  char* arguments[length(argv) + 2];
  make_arguments(argv, arguments);
  return real_spawn(pid, stand_in, actions, attributes, arguments, changed);
}

VPROF_EXPORT int posix_spawn(pid_t* pid, const char* path,
                             const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const argv[],
                             char* const environment[]) {
  return spawn(real_spawn, pid, path, path, actions, attributes, argv, environment);
}

VPROF_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                              const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const argv[],
                              char* const environment[]) {
  if (strchr(file, '/') != NULL) {
    return spawn(real_spawnp, pid, file, file, actions, attributes, argv, environment);
  }
  char candidate[PATH_MAX];
  const char* path = search_path();
  while (next_candidate(&path, file, candidate)) {
    if (is_program(candidate)) {
      return spawn(real_spawnp, pid, file, candidate, actions, attributes, argv, environment);
    }
  }
  return spawn(real_spawnp, pid, file, file, actions, attributes, argv, environment);
}
