#include "discovery/build_system.h"

#include <algorithm>
#include <thread>

namespace vprof::driver {

namespace {

bool is_object(const fs::path& path) {
  return path.extension() == ".o" || path.extension() == ".lo";
}

/// Whether the program has been built in the source tree. A copy of its objects would be up to
/// date, and nothing would be compiled.
bool holds_objects(const fs::path& source) {
  std::error_code error;
  using Iterator = fs::recursive_directory_iterator;
  for (Iterator it(source, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    if (it->is_directory(error) && it->path().filename().string().starts_with(".")) {
      it.disable_recursion_pending();
    } else if (is_object(it->path())) {
      return true;
    }
  }
  return false;
}

/// With what removes the objects of an earlier build.
BuildSystem from_nothing(BuildSystem system, const fs::path& source) {
  if (holds_objects(source)) {
    system.configure += system.configure.empty() ? "make clean" : " && make clean";
  }
  return system;
}

}  // namespace

BuildSystem build_system_of(const fs::path& source) {
  const auto there = [&source](const char* name) {
    std::error_code error;
    return fs::exists(source / name, error);
  };
  const std::string jobs = std::to_string(std::max(1U, std::thread::hardware_concurrency()));
  const std::string make = "make -j" + jobs;
  if (there("CMakeLists.txt")) {
    return {"CMake", "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo",
            "cmake --build build -j" + jobs};
  }
  if (there("configure")) {
    return from_nothing({"a configure script", "./configure", make}, source);
  }
  if (there("configure.ac")) {
    return from_nothing({"autoconf", "autoreconf -fi && ./configure", make}, source);
  }
  if (there("meson.build")) {
    return {"Meson", "test -d build || meson setup build --buildtype=debugoptimized",
            "ninja -C build"};
  }
  if (there("Makefile") || there("makefile") || there("GNUmakefile")) {
    return from_nothing({"make", "", make}, source);
  }
  return {"", "", make};
}

}  // namespace vprof::driver
