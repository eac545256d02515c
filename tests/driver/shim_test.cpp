#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "build/compile_log.h"
#include "build/shims.h"
#include "command_line.h"
#include "record.h"
#include "temporary.h"

using namespace vprof::shim;
namespace fs = std::filesystem;
using vprof::test::Temporary;
using Arguments = std::vector<std::string>;

namespace {

std::vector<std::string> sources(const CommandLine& line) {
  std::vector<std::string> files;
  for (const Source& source : line.sources) {
    files.push_back(source.file);
  }
  return files;
}

}  // namespace

TEST_CASE("modes of a compiler command") {
  CHECK(parse({"-c", "a.c"}).mode == Mode::kCompile);
  CHECK(parse({"-S", "a.c"}).mode == Mode::kCompile);
  CHECK(parse({"a.c", "-o", "a"}).mode == Mode::kLink);
  CHECK(parse({"a.o"}).mode == Mode::kLink);
  CHECK(parse({"-E", "a.c"}).mode == Mode::kPreprocess);
  CHECK(parse({"-MM", "a.c"}).mode == Mode::kPreprocess);
  CHECK(parse({"-fsyntax-only", "a.c"}).mode == Mode::kPreprocess);
  CHECK(parse({"-MD", "-MF", "a.d", "-c", "a.c"}).mode == Mode::kCompile);
  CHECK(parse({"-x", "c++-header", "a.h"}).mode == Mode::kCompile);
  for (const char* query :
       {"--version", "-v", "-dumpmachine", "-print-search-dirs", "--print-prog-name=ld"}) {
    CHECK(parse({query}).mode == Mode::kQuery);
  }
  CHECK(parse({}).mode == Mode::kQuery);
  CHECK(parse({"-o", "a.c"}).mode == Mode::kQuery);
}

TEST_CASE("sources among the arguments") {
  CHECK(sources(parse({"-c", "a.c", "b.cpp", "c.o", "d.s", "-I", "e.c", "-DX", "-o", "f.c"})) ==
        Arguments{"a.c", "b.cpp"});
  CHECK(sources(parse({"-c", "-x", "c", "a.inc", "-x", "none", "b.inc", "c.cc"})) ==
        Arguments{"a.inc", "c.cc"});
  CHECK(sources(parse({"-xc++", "-E", "-"})).empty());
  CHECK(sources(parse({"-include", "config.c", "-c", "dir.c/a"})).empty());
}

TEST_CASE("flags are added only where they are used") {
  CHECK(parse({"a.o", "-o", "a"}).takes_runtime);
  CHECK_FALSE(parse({"a.o", "-o", "a"}).preprocesses);
  CHECK(parse({"-c", "a.S"}).preprocesses);
  CHECK_FALSE(parse({"-c", "a.s"}).preprocesses);
  CHECK(parse({"-shared", "a.o", "-o", "a.so"}).takes_runtime);
  CHECK_FALSE(parse({"-r", "a.o", "-o", "b.o"}).takes_runtime);
  CHECK_FALSE(parse({"-c", "a.c"}).takes_runtime);
  CHECK_FALSE(parse({"-static", "a.o"}).takes_runtime);
  CHECK(parse({"-static", "a.o"}).is_static);
  CHECK_FALSE(parse({"-nostdlib", "a.o"}).takes_runtime);
  CHECK(parse({"-shared", "-nostdlib", "a.o", "-lstdc++", "-lc"}).takes_runtime);
}

TEST_CASE("GCC is recognised by its name") {
  for (const char* name :
       {"gcc", "g++", "gcc-12", "x86_64-linux-gnu-gcc-12", "aarch64-linux-gnu-g++"}) {
    CHECK(is_gcc(name));
  }
  for (const char* name : {"clang", "clang++-19", "cc", "ccache", "gcc.sh", "mygcc"}) {
    CHECK_FALSE(is_gcc(name));
  }
}

TEST_CASE("response files are expanded") {
  const Temporary directory;
  vprof::test::write(directory / "inner", "b.c");
  vprof::test::write(directory / "args", "-c 'a b.c' \"-DX=\\\"y\\\"\"\n-I inc\\ dir @" +
                                             (directory / "inner").string());
  const CommandLine line = parse({"@" + (directory / "args").string(), "@missing"});
  CHECK(line.arguments ==
        Arguments{"-c", "a b.c", "-DX=\"y\"", "-I", "inc dir", "b.c", "@missing"});
  vprof::test::write(directory / "loop", "@" + (directory / "loop").string());
  CHECK_FALSE(expand_response_files({"@" + (directory / "loop").string()}).empty());
}

TEST_CASE("one entry per source, without the other sources") {
  const CommandLine line = parse({"-O2", "a.c", "sub/b.cc", "-c"});
  CHECK(arguments_for(line, line.sources[1]) == Arguments{"-O2", "sub/b.cc", "-c"});
  CHECK(output_of(line, line.sources[1]) == "b.o");
  const CommandLine linked = parse({"a.c", "b.c"});
  CHECK(output_of(linked, linked.sources[0]) == "a.out");
}

TEST_CASE("the log is one JSON object per line, whatever the arguments are") {
  const Temporary directory;
  const CommandLine line = parse({"-c", "a.c", "-DX=\"quoted\"\\\t\n"});
  record((directory / "log").string(), "/usr/bin/cc", {"-DVPROF_ENABLED"}, line);
  record((directory / "log").string(), "/usr/bin/cc", {}, parse({"-static", "a.o", "-o", "prog"}));
  std::istringstream in(vprof::test::read(directory / "log"));
  std::string first;
  std::string second;
  std::getline(in, first);
  std::getline(in, second);
  const auto entry = nlohmann::json::parse(first);
  CHECK(entry["arguments"] ==
        nlohmann::json({"/usr/bin/cc", "-DVPROF_ENABLED", "-c", "a.c", "-DX=\"quoted\"\\\t\n"}));
  CHECK(entry["output"] == "a.o");
  CHECK(nlohmann::json::parse(second)["static"] == "prog");
}

TEST_CASE("compilers are recognised by their names") {
  using vprof::driver::is_compiler_name;
  for (const char* name : {"cc", "gcc", "g++", "c++", "clang", "clang++", "gcc-12", "clang++-19",
                           "c99", "c89-gcc", "ccache"}) {
    INFO(name);
    CHECK(is_compiler_name(name));
  }
  for (const char* name : {"gcc-ar", "gcc-ar-12", "clang-format", "clang-19x", "musl-gcc",
                           "arm-none-eabi-gcc", "cccc", "distccd", ""}) {
    INFO(name);
    CHECK_FALSE(is_compiler_name(name));
  }
}

TEST_CASE("logs merge into the compilation database") {
  const Temporary directory;
  const vprof::driver::Workspace workspace(directory.path());
  const std::string dir = (directory / ".vprof/mirror").string();
  for (const char* file : {"a.c", "b.c", "CMakeFiles/3.25/CompilerIdC/CMakeCCompilerId.c"}) {
    vprof::test::write(fs::path(dir) / file, "int x;");
  }
  const auto entry = [&dir](const std::string& file, const std::string& output,
                            const std::string& flag) {
    return nlohmann::json{{"directory", dir},
                          {"file", file},
                          {"output", output},
                          {"arguments", {"cc", flag, file}}}
               .dump() +
           "\n";
  };
  vprof::test::write(workspace.compile_log(),
                     entry("a.c", "a.o", "-O0") + entry("a.c", "a.o", "-O2") +
                         entry("./a.c", "a.pic.o", "-fPIC") + "{damaged\n" +
                         entry("conftest.c", "conftest.o", "") +
                         entry("CMakeFiles/3.25/CompilerIdC/CMakeCCompilerId.c", "x.o", ""));
  const auto first = vprof::driver::collect_compile_commands(workspace);
  REQUIRE(first);
  CHECK(first->entries == 2);
  CHECK(first->damaged == 1);
  CHECK_FALSE(fs::exists(workspace.compile_log()));
  // An incremental build compiles one file; the other entries stay.
  vprof::test::write(workspace.compile_log(), entry("b.c", "b.o", "-O0"));
  CHECK(vprof::driver::collect_compile_commands(workspace)->entries == 3);
  const auto all = nlohmann::json::parse(vprof::test::read(workspace.compile_commands()));
  CHECK(all[0]["arguments"][1] == "-O2");
  fs::remove(fs::path(dir) / "a.c");
  CHECK(vprof::driver::collect_compile_commands(workspace)->entries == 1);
}
