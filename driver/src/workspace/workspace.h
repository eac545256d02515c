// The files of `.vprof/` (docs/formats.md).
#pragma once

#include "vprof/support/files.h"

namespace vprof::driver {

struct Workspace {
  fs::path root;  ///< absolute directory of vprof.json
  fs::path dot;   ///< root/.vprof

  explicit Workspace(const fs::path& directory) : root(directory), dot(directory / ".vprof") {}

  /// Whether a path is in the mirror once links are followed. What is not is never deleted.
  bool in_mirror(const fs::path& path) const {
    std::error_code error;
    const fs::path place = fs::weakly_canonical(path.parent_path(), error);
    const fs::path within =
        error ? fs::path() : place.lexically_relative(fs::weakly_canonical(mirror(), error));
    return !error && !within.empty() && *within.begin() != "..";
  }

  fs::path ignore() const { return dot / ".gitignore"; }
  fs::path mirror() const { return dot / "mirror"; }
  fs::path manifest() const { return dot / "mirror.json"; }
  fs::path pristine() const { return dot / "pristine"; }
  fs::path pristine_manifest() const { return pristine() / "manifest.json"; }
  fs::path shims() const { return dot / "shims"; }
  fs::path runtime() const { return dot / "runtime"; }
  fs::path compile_log() const { return dot / "compile_log.jsonl"; }
  fs::path compile_commands() const { return dot / "compile_commands.json"; }
  fs::path links() const { return dot / "links.json"; }
  fs::path outputs() const { return dot / "outputs.json"; }
  fs::path index() const { return dot / "index.json"; }
  fs::path names() const { return dot / "names.txt"; }
  fs::path cache() const { return dot / "cache"; }
  fs::path plan() const { return dot / "plan.json"; }
  fs::path sites() const { return dot / "sites.json"; }
  fs::path summary() const { return dot / "summary.json"; }
  fs::path changed() const { return dot / "changed.json"; }
  fs::path preview() const { return dot / "preview"; }
  fs::path state() const { return dot / "state.json"; }
  fs::path lock() const { return dot / "lock"; }
  fs::path report() const { return dot / "report.json"; }
  fs::path html() const { return dot / "report.html"; }
  fs::path profile() const { return dot / "profile.vprof"; }
  fs::path iterations() const { return dot / "iterations"; }
  /// What `--restart` and `--from` moved out of the way.
  fs::path previous_iterations() const { return dot / "iterations.previous"; }
  /// Iteration 0 is the build before anything is instrumented.
  fs::path iteration(int n) const { return iterations() / std::to_string(n); }
  fs::path trace(int n) const { return iteration(n) / "trace"; }
  /// The state before any decision on iteration `n`.
  fs::path kept_state(int n) const { return iteration(n) / "state.json"; }
  /// The sites that iteration `n` measures.
  fs::path kept_sites(int n) const { return iteration(n) / "sites.json"; }
  /// Of live runs: what the program was built with, the recording of a program that others start,
  /// and that of `run`.
  fs::path live() const { return dot / "live"; }
  fs::path live_trace() const { return live() / "trace"; }
  fs::path live_run() const { return live() / "run"; }
  fs::path armed() const { return live() / "armed"; }
  fs::path armed_sites() const { return live() / "sites.json"; }
  /// Of the flight recorder: the window that is looked at, and those that are kept.
  fs::path watch() const { return dot / "watch"; }
  fs::path window() const { return watch() / "window"; }
  fs::path kept() const { return watch() / "kept"; }
  fs::path baseline(int n) const { return iteration(n) / "baseline"; }
};

}  // namespace vprof::driver
