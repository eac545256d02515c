// sites.json: what the site numbers of a trace mean (docs/formats.md). The rewriter writes it, the
// driver reads it through this header. The analyzer, which knows no instrumenter, has a reader of
// its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"
#include "vprof/support/result.h"

namespace vprof::instrumenter {

enum class SiteKind : uint8_t { kFunction, kCall };

/// Numbers of the sites of earlier rewrites, by site_identity() of the rewriter. A site keeps its
/// number from iteration to iteration, so a file whose sites stay the same keeps its text.
using SiteIds = std::map<std::string, uint32_t>;

struct SitesFile {
  struct FunctionEntry {
    size_t id = 0;
    std::string key, name, file;
    uint32_t line = 0;
    int height = 0;
    size_t callees = 0;
    bool expandable = false;
    bool expanded = false;
    bool wrapper = false;
  };
  struct SiteEntry {
    uint32_t id = 0;
    SiteKind kind = SiteKind::kCall;
    size_t function = 0;           ///< id; of a call site, the callee
    std::optional<size_t> parent;  ///< of a call site: id of the function that contains it
    std::string file;
    uint32_t line = 0;
    uint32_t column = 0;
    std::string rule;
    std::optional<CallKind> call;  ///< of a call site
    uint32_t gate = 0;  ///< its function's; the site is only reached if it is on; 0: none
  };
  /// Where a coroutine can be suspended.
  struct SuspensionEntry {
    uint32_t index = 0;
    std::string name;     ///< what is awaited
    bool yields = false;  ///< co_yield
    size_t parent = 0;    ///< id of the coroutine
    std::string file;
    uint32_t line = 0;
    std::vector<size_t> awaits;  ///< ids of the coroutines that may begin because of it

    bool operator==(const SuspensionEntry&) const = default;
  };
  struct UnwrappedEntry {
    size_t parent = 0;
    std::string callee, file;
    uint32_t line = 0;
    uint32_t column = 0;
    std::string reason;
    bool by_rule = false;
  };
  /// A gate that no code looks at: other gates stand for it.
  struct GateEntry {
    uint32_t id = 0;
    std::vector<uint32_t> open;

    bool operator==(const GateEntry&) const = default;
  };
  struct IntervalEntry {
    unsigned index = 0;
    std::string name;
  };
  struct SyncEntry {
    unsigned index = 0;
    SyncRole role = SyncRole::kAcquire;
    std::string function;
    bool shared = false;
  };

  int schema = 1;
  int root_height = 0;
  std::vector<FunctionEntry> functions;
  std::vector<SiteEntry> sites;
  std::vector<IntervalEntry> intervals;
  std::vector<SyncEntry> sync;
  std::vector<SuspensionEntry> suspensions;
  std::vector<UnwrappedEntry> unwrapped;
  std::vector<GateEntry> gates;
  /// Gates that must be on for intervals, locks and queues to be recorded.
  std::vector<uint32_t> event_gates;
  SiteIds site_ids;
  /// content_hash() of each file of the tree that has one of the functions or sites.
  std::map<std::string, std::string> files;
};

/// Error: one line that names the file and the entry.
Result<SitesFile> load_sites(const std::string& path);
Result<void> save_sites(const SitesFile& sites, const std::string& path);

/// Only the numbers. A missing or damaged file has none.
SiteIds load_site_ids(const std::string& path);

}  // namespace vprof::instrumenter
