// The approximate call graph of a scanned source: calls are matched by name. Functions of tests,
// examples and the like are left out, since what they repeat says nothing.
#pragma once

#include <map>

#include "discovery/scan/source_scan.h"

namespace vprof::driver {

class ScannedGraph {
 public:
  static constexpr int kUnreached = 1000;  ///< depth of a function that no thread reaches

  struct Caller {
    size_t function = 0;
    LoopKind loop = LoopKind::kNone;  ///< around the call
  };

  explicit ScannedGraph(const ScannedSource& source);

  size_t size() const { return functions_.size(); }
  const ScannedFunction& function(size_t i) const { return *functions_[i]; }
  /// A name for vprof.json: with its file if others have the same, and with its line if that file
  /// has several (overloads; of C, only one of them is compiled).
  std::string unique_name(size_t i) const;
  /// The number of calls from where a thread begins: from `main`, or from a function that is passed
  /// on as a pointer.
  int depth(size_t i) const { return depth_[i]; }
  /// The caller whose loop looks most like that of a server. With LoopKind::kNone there is none
  /// that calls it in a loop.
  Caller best_caller(size_t i) const { return callers_[i]; }
  /// Whether it may run again and again: it is called in a loop, through a pointer, or by such a
  /// function.
  bool is_repeated(size_t i) const { return repeated_[i]; }
  /// Whether it is passed on as a pointer, but not to make a thread.
  bool is_callback(size_t i) const;
  bool is_thread_entry(size_t i) const;
  /// Whether it is given to a pool of threads.
  bool is_pool_task(size_t i) const;
  /// Whether it is stored in an object, as what goes on with it.
  bool is_stored(size_t i) const;
  /// The function that accepts clients and passes this one on; SIZE_MAX if there is none.
  size_t accepted_by(size_t i) const { return accepted_by_[i]; }
  bool has(const std::string& name) const { return by_name_.contains(name); }
  /// The only function of this name; SIZE_MAX if there is none, or several.
  size_t only(const std::string& name) const;
  /// Number of functions that a function reaches.
  size_t below(size_t root) const;
  /// Number of names that it calls.
  size_t callees(size_t i) const;
  /// Number of functions with a parameter that points to this type.
  size_t users(const std::string& type) const;

 private:
  struct Edge {
    size_t to;
    LoopKind loop;
  };

  void connect(size_t from, const ScannedCall& call);
  void find_depths();
  void find_callers();
  void find_repeated();
  void find_accepted();

  const ScannedSource& source_;
  std::vector<const ScannedFunction*> functions_;
  std::vector<std::vector<Edge>> edges_;
  std::map<std::string, std::vector<size_t>> by_name_;
  std::map<std::string, size_t> users_;
  std::set<std::string> stored_;
  std::vector<int> depth_;
  std::vector<Caller> callers_;
  std::vector<bool> repeated_;
  std::vector<size_t> accepted_by_;
};

/// The name without its scope.
std::string unqualified(const std::string& name);

}  // namespace vprof::driver
