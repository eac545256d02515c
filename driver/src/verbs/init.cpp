// `vprof init`: writes a vprof.json to start from, after a look at the source tree.
#include <algorithm>
#include <cctype>
#include <string_view>
#include <thread>

#include "discovery/handlers.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

struct BuildSystem {
  std::string name;
  std::string configure, build;
};

/// Goes by the files at the top of the tree. A generated file counts before those that it is
/// usually generated from.
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

std::string json_quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string file_uri(const fs::path& path) {
  std::string uri = "file://";
  for (const char c : path.string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

/// `"$schema": "file:///..."` for editors; empty if the installation does not have the schema.
std::string schema_member() {
  const auto locations = find_locations();
  std::error_code error;
  if (!locations) {
    return "";
  }
  const fs::path schema = locations->schemas / "vprof.schema.json";
  if (!fs::exists(schema, error)) {
    return "";
  }
  const std::string uri = file_uri(schema);
  return fmt::format("  // Lets editors complete and check this file.\n  \"$schema\": {},\n\n",
                     json_quoted(uri));
}

constexpr size_t kSuggested = 5;

struct Found {
  bool annotated = false;  ///< the source marks its intervals itself
  size_t files = 0;
  std::vector<Handler> handlers;
};

Found scan(const fs::path& source) {
  const ScannedSource scanned = scan_tree(source);
  return {.annotated = scanned.annotated,
          .files = scanned.files,
          .handlers = likely_handlers(scanned, kSuggested)};
}

/// The content of "intervals": the likeliest handler, and the others as comments.
std::string intervals(const Found& found) {
  if (found.annotated) {
    return "    // The source calls vprof_begin and vprof_end, so nothing is needed here.\n";
  }
  if (found.handlers.empty()) {
    return "    { \"name\": \"request\", \"function\": \"handle_request\" }\n";
  }
  std::string text;
  for (size_t i = 0; i < found.handlers.size(); ++i) {
    const Handler& one = found.handlers[i];
    text += fmt::format("    // {}  {}\n    //   {}\n", one.name, one.place, one.reason);
    text += fmt::format("    {}{{ \"name\": \"request\", \"function\": {} }}\n",
                        i == 0 ? "" : "// ", json_quoted(one.name));
  }
  return text;
}

/// The comments explain each key, so that users can complete the file without the manual.
std::string configuration(const BuildSystem& system, const Found& found) {
  return fmt::format(
      R"(// What vprof needs to know about this program. docs/configuration.md of vprof explains all keys.
{{
{}  // The source tree. It is copied to .vprof/mirror and never written to.
  "source": ".",

  // Shell commands, run at the top of the copy. "configure" runs once; leave it empty if there is
  // none.
  "configure": {},
  "build": {},

  // The workload: starts the built program, puts load on it, stops it, and ends by itself.
  "run": "./run-workload.sh",

  // What one interval is: here one call of a function. For requests that span functions and threads
  // see the documentation. Leave the list empty if the source calls vprof_begin and vprof_end. The
  // suggestions are functions with many callees, called in a loop near the start of a thread.
  "intervals": [
{}  ],

  // The program's own locks and queues, if it has any; vprof knows those of POSIX and C++.
  "sync": {{
    "acquire": [],
    "release": [],
    "enqueue": [],
    "dequeue": []
  }},

  // How many factors to look for, and the least part of the variance that matters.
  "factors": {{ "k": 3, "threshold": 0.05 }}
}}
)",
      schema_member(), json_quoted(system.configure), json_quoted(system.build), intervals(found));
}

void say_found(const Found& found) {
  if (found.annotated) {
    return say("the source calls vprof_begin: its annotations define the intervals");
  }
  if (found.handlers.empty()) {
    return say(fmt::format(
        "no function in {} looks like a request handler; name yours under \"intervals\"",
        counted(found.files, "source file")));
  }
  say("these functions look like request handlers; \"intervals\" has the first one:");
  for (const Handler& one : found.handlers) {
    say(fmt::format("  {}  {}\n      {}", one.name, one.place, one.reason));
  }
}

}  // namespace

Result<int> verb_init(const Global& global) {
  remember_outputs_of_verb(global.config, {});
  std::error_code error;
  if (fs::exists(fs::symlink_status(global.config, error))) {
    return fail("{} already exists; edit it, or delete it first", shown(global.config));
  }
  const fs::path source = fs::absolute(global.config).parent_path();
  const BuildSystem system = build_system_of(source);
  const Found found = scan(source);
  VPROF_TRY(write_file_atomic(global.config, configuration(system, found)));
  if (system.name.empty()) {
    say(
        fmt::format("wrote {}; the build system was not recognised: complete "
                    "\"configure\" and \"build\"",
                    shown(global.config)));
  } else {
    say(fmt::format("wrote {} for a program built by {}", shown(global.config), system.name));
  }
  say_found(found);
  say("next: set \"run\" and \"intervals\" in it, then `vprof check`, then `vprof loop`");
  return 0;
}

}  // namespace vprof::driver
