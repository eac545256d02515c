// Recordings of a server whose requests call f and g.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "trace_writer.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::test {

struct Request {
  int64_t in_f, in_g;  ///< ns of their own; 0 in g: g is not called
  std::string label = {};
  std::vector<uint64_t> work = {};  ///< declared in parts
};

/// Pseudo-random numbers that are the same on every machine.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  uint64_t next() { return state_ = state_ * 6364136223846793005ull + 1442695040888963407ull; }

 private:
  uint64_t state_;
};

enum class Order { kOneAfterTheOther, kGWithinF };

/// Each add() makes one process with one thread. Each request takes 100 ns besides f and g.
class RequestRecording {
 public:
  explicit RequestRecording(Order order = Order::kOneAfterTheOther) : order_(order) {}

  void add(uint32_t pid, const std::vector<Request>& all) {
    ProcessWriter process(pid);
    process.header.start_realtime_ns = pid;
    auto& t = process.thread(1);
    int64_t now = 1000;
    uint64_t id = uint64_t{pid} << 32;
    for (const Request& r : all) {
      t.begin(id, now);
      if (!r.label.empty()) {
        t.label(id, now + 1, r.label);
      }
      for (const uint64_t part : r.work) {
        t.work(id, now + 2, part);
      }
      const int64_t f = now + 10;
      if (order_ == Order::kGWithinF) {
        if (r.in_g != 0) {
          t.frame(g_, f + 10, f + 10 + r.in_g);
        }
        t.frame(f_, f, f + r.in_f + r.in_g);
      } else {
        t.frame(f_, f, f + r.in_f);
        if (r.in_g != 0) {
          t.frame(g_, f + r.in_f + 10, f + r.in_f + 10 + r.in_g);
        }
      }
      now += r.in_f + r.in_g + 100;
      t.end(id++, now);
      now += 1000;
    }
    process.write(dir_.path());
    sites_path_ = sites_.write(dir_.path());
  }
  analyzer::Profile profile(const analyzer::Options& options = {}) const {
    auto made = analyzer::analyze(directory(), sites_path_, options);
    REQUIRE(made);
    return *made;
  }
  std::string directory() const { return dir_.path(); }
  std::string sites_path() const { return sites_path_; }

 private:
  const Order order_;
  ScratchDir dir_;
  SitesWriter sites_;
  const uint32_t f_ = sites_.function_site(sites_.function("f", 1));
  const uint32_t g_ = sites_.function_site(sites_.function("g", 0));
  std::string sites_path_;
};

}  // namespace vprof::test
