// Proposes what an interval may be, from the text of the source: the life of an object that stands
// for a request, or a function that handles one. It knows common shapes: objects that are made and
// freed, state machines, command dispatch, handlers that an event loop calls. Each proposal comes
// with what speaks for it and against it.
#pragma once

#include "discovery/scan/source_scan.h"

namespace vprof::driver {

struct CandidatePoint {
  std::string function;
  std::string at;   ///< `entry` or `exit`
  std::string key;  ///< `arg:0` or `return`
};

/// Either a function, or begin, end and switch.
struct Candidate {
  std::string function;
  std::vector<CandidatePoint> begin, end, switches;
  std::string type;                  ///< of the object whose life it is
  std::string place;                 ///< `file:line`
  std::vector<std::string> reasons;  ///< for it, then against it
  double score = 0;
};

/// A function that looks likely by its name and place, but is none.
struct Rejected {
  std::string function;
  std::string place;
  std::string reason;
  double score = 0;
};

struct Proposals {
  std::vector<Candidate> candidates;  ///< best first
  std::vector<Rejected> rejected;     ///< most deceptive first
};

Proposals propose(const ScannedSource& source, size_t candidates, size_t rejected);

}  // namespace vprof::driver
