#include "discovery/build_system.h"

#include <algorithm>
#include <thread>

namespace vprof::driver {

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
    return {"a configure script", "./configure", make};
  }
  if (there("configure.ac")) {
    return {"autoconf", "autoreconf -fi && ./configure", make};
  }
  if (there("meson.build")) {
    return {"Meson", "test -d build || meson setup build --buildtype=debugoptimized",
            "ninja -C build"};
  }
  if (there("Makefile") || there("makefile") || there("GNUmakefile")) {
    return {"make", "", make};
  }
  return {"", "", make};
}

}  // namespace vprof::driver
