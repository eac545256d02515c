// A limit on what a thread takes of the processors, which holds wherever the kernel's priorities do
// not reach: these compare threads within one control group or session, and the program that is
// measured is usually in another.
#pragma once

namespace vprof::driver {

/// While one exists, the calling thread takes no more than `processors` of a processor's time (such
/// as 0.02), on average over a second or so: a timer of its processor time interrupts it every few
/// milliseconds, and the signal's handler sleeps. With 1 or more it may take all. Ctrl-C ends the
/// sleep, and those to come. One at a time in a process. System calls of the thread go on
/// afterwards (SA_RESTART). Does nothing if the kernel refuses the timer.
class Throttle {
 public:
  explicit Throttle(double processors);
  ~Throttle();
  Throttle(const Throttle&) = delete;
  Throttle& operator=(const Throttle&) = delete;

  /// Another limit for the one that exists, from any thread. A sleep that has begun goes on, for a
  /// second at most.
  static void limit(double processors);

 private:
  void* timer_ = nullptr;
  bool is_set_ = false;
};

}  // namespace vprof::driver
