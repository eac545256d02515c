// vprof-instrument: the part of VProfiler that understands C and C++. vprof calls it;
// docs/formats.md describes the command line.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "incremental/index.h"
#include "rewrite/rewrite.h"

namespace {

constexpr int kUserError = 2;

int finish(const vprof::Result<void>& result) {
  if (result) {
    return 0;
  }
  fmt::print(stderr, "vprof-instrument: {}\n", result.error().message);
  return kUserError;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace vprof::instrumenter;
  CLI::App app("Indexes and instruments C and C++ programs; called by vprof");
  app.require_subcommand(1);

  IndexOptions index;
  CLI::App* index_verb = app.add_subcommand("index", "Find all functions and calls of a program");
  index_verb->add_option("--compile-commands", index.compile_commands)->required();
  index_verb->add_option("--mirror", index.mirror)->required();
  index_verb->add_option("--pristine", index.pristine)->required();
  index_verb->add_option("--cache", index.cache)->required();
  index_verb->add_option("--out", index.out)->required();
  index_verb->add_option("--jobs", index.jobs);

  RewriteOptions rewrite;
  CLI::App* rewrite_verb = app.add_subcommand("rewrite", "Rewrite the mirror according to a plan");
  rewrite_verb->add_option("--index", rewrite.index)->required();
  rewrite_verb->add_option("--plan", rewrite.plan)->required();
  rewrite_verb->add_option("--mirror", rewrite.mirror)->required();
  rewrite_verb->add_option("--pristine", rewrite.pristine)->required();
  rewrite_verb->add_option("--sites", rewrite.sites)->required();
  rewrite_verb->add_option("--summary", rewrite.summary);
  rewrite_verb->add_option("--changed", rewrite.changed);
  rewrite_verb->add_option("--preview", rewrite.preview);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUserError;
  }
  return finish(*rewrite_verb ? rewrite_mirror(rewrite) : index_program(index));
}
