// Live runs: the sites and the driver's life are in a file that all processes of a program map.
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "control_file.h"
#include "refusal.h"
#include "run.h"

using namespace vprof::test;

namespace {

// A trace directory with a control file in which these sites are on.
struct Live {
  explicit Live(std::initializer_list<unsigned> on = {}) {
    for (const unsigned site : on) {
      control.set(site, true);
    }
  }
  Setup setup() const { return countable({{}, {}, directory.path()}); }
  std::string path() const { return directory.path() + "/" VPROF_FRONTIER_NAME; }

  TemporaryDirectory directory;
  ControlFile control = ControlFile::make(directory.path());
};

bool is_root() { return geteuid() == 0; }

// The program that is armed.
Outcome run_armed(Setup setup) {
  const auto before = setup.before_exec;
  setup.before_exec = [before] {
    if (before) {
      before();
    }
    execl(VPROF_TEST_ARMED, VPROF_TEST_ARMED, static_cast<char*>(nullptr));
  };
  Outcome outcome = run("", setup);
  REQUIRE(outcome.exit_code == 0);
  return outcome;
}

// The ids of all BEGIN or END events.
std::vector<uint64_t> ids(const Trace& trace, uint32_t event) {
  std::vector<uint64_t> found;
  for (const Record& record : trace.all(event)) {
    found.push_back(record.more.at(0).word);
  }
  return found;
}

}  // namespace

TEST_CASE("live: the control file says which sites are on, and nothing else does") {
  const Live live{1, 3};
  Setup setup = live.setup();
  setup.environment["VPROF_SITES"] = GENERATE("", "on", "off", "2");
  const Outcome outcome = run("live_sites", setup);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames(1) == 4);
  CHECK(trace.frames(2) == 0);
  CHECK(trace.frames(3) == 1);
}

TEST_CASE("live: sites are switched while the program runs") {
  const Live live;
  const Outcome outcome = run("live_switches", live.setup());
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames() == 20);
}

TEST_CASE("live: a program that replaces itself maps the control file again") {
  const Live live;
  const Outcome outcome = run("live_executes_another", live.setup());
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  CHECK(outcome.traces[0].frames() == 7);
  CHECK(outcome.traces[1].frames(1) == 4);
}

TEST_CASE("live: processes forked before and after see 1,000 sites") {
  const Live live;
  const Outcome outcome = run("live_forks", live.setup());
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.number("too_early") == 0);
  CHECK(outcome.number("seen") == 200);
  uint64_t frames = 0;
  for (const Trace& trace : outcome.traces) {
    frames += trace.frames(1);
  }
  CHECK(frames == 600);
}

TEST_CASE("live: an object that is loaded later") {
  const Live live;
  const Outcome outcome = run("live_loads_an_object", live.setup());
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames() == outcome.number("frames"));
}

#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // their runtime is in the library only
TEST_CASE("live: a program that brings libvprof with a library") {
  const Live live{71};
  Setup setup = live.setup();
  setup.before_exec = [] {
    execl(VPROF_TEST_PLUGIN_HOST, VPROF_TEST_PLUGIN_HOST, VPROF_TEST_PLUGIN,
          static_cast<char*>(nullptr));
  };
  const Outcome outcome = run("", setup);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames(71) == 2000);
  CHECK(outcome.traces.at(0).frames(70) == 0);
}
#endif

TEST_CASE("live: an armed program without a control file makes one, and records nothing") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/" VPROF_FRONTIER_NAME;
  CHECK(run_armed({{}, {}, directory.path()}).traces.empty());
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_mode == (S_IFREG | 0600));
  CHECK(status.st_size == VPROF_FRONTIER_BYTES);
  CHECK(status.st_blocks * 512 >= VPROF_FRONTIER_BYTES);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);

  // A driver finds it, and the next process leaves it as it is.
  const ControlFile control = ControlFile::existing(directory.path());
  CHECK_FALSE(control.driven());
  control.set(1, true);
  control.drive();
  CHECK(run_armed({{}, {}, directory.path()}).traces.at(0).frames(1) == 4);
}

TEST_CASE("live: an armed program is recorded if somebody says which sites") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_armed({{{"VPROF_SITES", "on"}}, {}, directory.path()});
  CHECK(outcome.traces.at(0).frames(1) == 4);
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/" VPROF_FRONTIER_NAME));
}

TEST_CASE("live: an armed program that cannot make its control file says so, and runs") {
  const TemporaryDirectory directory;
  const auto refused =
      GENERATE(Refusal{"allocate", SYS_fallocate, ENOSPC}, Refusal{"write", SYS_pwrite64, ENOSPC},
               Refusal{"link", SYS_linkat, EPERM});
  Setup setup{{}, {}, directory.path()};
  setup.before_exec = [=] {
    refuse(refused);
#if defined(SYS_link)
    refuse({"link", refused.call == SYS_linkat ? SYS_link : refused.call, refused.error});
#endif
  };
  const Outcome outcome = run_armed(setup);
  INFO(refused.what << ": " << outcome.output);
  CHECK(outcome.traces.empty());
  CHECK(outcome.output.find(directory.path() + "/" VPROF_FRONTIER_NAME) != std::string::npos);
  CHECK(outcome.output.find(strerror(refused.error)) != std::string::npos);
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("live: no descriptor, another root, another user") {
  if (!is_root()) {
    WARN("not checked: only root may change its root directory");
    return;
  }
  const Live live;
  const TemporaryDirectory root;
  Setup setup = live.setup();
  setup.environment["VPROF_TEST_ROOT"] = root.path();
  setup.environment["ASAN_OPTIONS"] = "detect_leaks=0";  // needs /proc, which the new root has not
  const Outcome outcome = run("live_gives_up_its_rights", setup);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames() == 4 + 6);
  CHECK(live.control.load(live.control.header().switched_off) == 1);
}

TEST_CASE("live: an unprivileged program needs a control file of its own user") {
  constexpr unsigned kNobody = 65534;
  if (!is_root()) {
    WARN("not checked: only root can start programs of other users");
    return;
  }
  const Live live{1};
  const bool own = GENERATE(true, false);
  REQUIRE(chown(live.directory.path().c_str(), kNobody, kNobody) == 0);
  REQUIRE(chown(live.path().c_str(), own ? kNobody : 0, 0) == 0);
  Setup setup = live.setup();
  setup.before_exec = [] {
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) {
      _exit(99);
    }
  };
  const Outcome outcome = run("live_sites", setup);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.traces.size() == (own ? 1 : 0));
  CHECK(outcome.output ==
        (own ? "" : "vprof: " + live.path() + ": Permission denied; nothing is recorded\n"));
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they need rights
TEST_CASE("live: a program that runs with more rights than its user ignores the environment") {
  constexpr unsigned kNobody = 65534;
  if (!is_root()) {
    WARN("not checked: only root can make a program set its user");
    return;
  }
  const Live live{1};
  const std::string program = live.directory.path() + "/subject";
  std::filesystem::copy_file(VPROF_TEST_SUBJECT, program);
  REQUIRE(chown(program.c_str(), kNobody, kNobody) == 0);
  REQUIRE(chmod(program.c_str(), 04755) == 0);
  REQUIRE(chmod(live.directory.path().c_str(), 0755) == 0);
  Setup setup = live.setup();
  setup.environment["VPROF_TEST_PROGRAM"] = program;
  const Outcome outcome = run("live_executes_test_program", setup);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.empty());
  CHECK(outcome.traces.empty());
}
#endif

TEST_CASE("live: what is not a control file is refused, and the program runs") {
  const Live live{1};
  struct stat status{};
  REQUIRE(stat(live.path().c_str(), &status) == 0);
  std::string why;
  SECTION("too short") {
    std::filesystem::resize_file(live.path(), VPROF_FRONTIER_BYTES - 1);
    why = "it does not have the size of a control file";
  }
  SECTION("too long") {
    std::filesystem::resize_file(live.path(), VPROF_FRONTIER_BYTES + 1);
    why = "it does not have the size of a control file";
  }
  SECTION("empty") {
    std::filesystem::resize_file(live.path(), 0);
    why = "it does not have the size of a control file";
  }
  SECTION("magic") {
    ++live.control.header().magic;
    why = "it is not a control file of vprof";
  }
  SECTION("version") {
    ++live.control.header().version;
    why = "it was made by another version of vprof";
  }
  SECTION("number of sites") {
    live.control.header().sites /= 2;
    why = "it was made by another version of vprof";
  }
  SECTION("others may write") {
    chmod(live.path().c_str(), 0602);
    why = "others may write to it";
  }
  SECTION("the group may write") {
    chmod(live.path().c_str(), 0620);
    why = "others may write to it";
  }
  SECTION("symbolic link") {
    std::filesystem::rename(live.path(), live.path() + ".real");
    std::filesystem::create_symlink(live.path() + ".real", live.path());
    why = "it is a symbolic link";
  }
  SECTION("FIFO") {
    std::filesystem::remove(live.path());
    REQUIRE(mkfifo(live.path().c_str(), 0600) == 0);
    why = "it is not a regular file";
  }
  SECTION("directory") {
    std::filesystem::remove(live.path());
    std::filesystem::create_directory(live.path());
    why = "Is a directory";
  }
  if (is_root()) {
    SECTION("another user's") {
      REQUIRE(chown(live.path().c_str(), 65534, 65534) == 0);
      why = "it belongs to another user";
    }
  }
  const Outcome outcome = run("live_sites", live.setup());
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.traces.empty());
  CHECK(outcome.output == "vprof: " + live.path() + ": " + why + "; nothing is recorded\n");
}

TEST_CASE("live: the driver dies, and nothing is recorded any more") {
  const Live live{7};
  Setup setup = live.setup();
  // That is counted last.
  setup.until = [&](const std::vector<Trace>&) {
    return live.control.load(live.control.header().switched_off) != 0;
  };
  const Outcome outcome = run("live_driver_dies", setup);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames() == 10);
  CHECK_FALSE(live.control.is_on(7));
  CHECK(live.control.load(live.control.header().switched_off) == 1);
  CHECK(live.control.load(live.control.header().undriven) == 1);
}

TEST_CASE("live: a program that starts after its driver has died leaves nothing") {
  const Live live{1, 2, 3};
  live.control.die();
  const Outcome outcome = run("nested", live.setup());
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.traces.empty());
  CHECK_FALSE(live.control.driven());
  CHECK_FALSE(live.control.is_on(1));
}

TEST_CASE("live: a disk that is full does not stop anybody") {
  const bool full_at_start = GENERATE(false, true);
  const TemporaryDirectory directory;
  if (mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
    WARN("not checked: no permission to mount a small disk");
    return;
  }
  struct Unmount {
    ~Unmount() { umount(path.c_str()); }
    std::string path;
  } const unmount{directory.path()};
  {
    const ControlFile control = ControlFile::make(directory.path());
    control.set(1, true);
    Setup setup = countable({{}, {}, directory.path()});
    setup.before_exec = [&] {
      if (chdir(directory.path().c_str()) != 0) {
        _exit(99);
      }
    };
    if (full_at_start) {
      std::ofstream(directory.path() + "/rest") << std::string(8 << 20, 'x');
      const Outcome outcome = run("live_sites", setup);
      CHECK(outcome.exit_code == 0);
      CHECK(outcome.traces.empty());
      CHECK(control.is_on(1));  // others may be able to record
    } else {
      CHECK(run("live_driver_dies_on_full_disk", setup).exit_code == 0);
      CHECK_FALSE(control.is_on(1));
    }
  }
}

TEST_CASE("live: a process that records more than it may switches all sites off") {
  const Live live{2};
  const Outcome outcome = run("live_records_too_much", live.setup());
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames() > 10000);
  CHECK(outcome.traces.at(0).frames() <= outcome.number("frames"));
  CHECK_FALSE(live.control.is_on(2));
  CHECK(live.control.driven());
  CHECK(live.control.load(live.control.header().switched_off) == 1);
}

TEST_CASE("live: the trace says when nobody drove") {
  const Live live;
  Setup setup = live.setup();
  setup.until = [](const std::vector<Trace>& traces) {
    for (const Trace& trace : traces) {
      for (const Record& record : trace.helper.records) {
        if (record.id == VPROF_EV_GAP && record.more.size() == 1) {
          return true;
        }
      }
    }
    return false;
  };
  const Outcome outcome = run("live_gap", setup);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(ids(trace, VPROF_EV_BEGIN) == std::vector<uint64_t>{1, 2, 4});
  CHECK(ids(trace, VPROF_EV_END) == std::vector<uint64_t>{1, 2, 4});
  std::vector<Record> gaps;
  for (const Record& record : trace.helper.records) {
    if (record.id == VPROF_EV_GAP) {
      gaps.push_back(record);
    }
  }
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].word < outcome.number("began"));
  CHECK(gaps[0].more.at(0).word > outcome.number("over"));
}

TEST_CASE("live: nothing is recorded in a pause") {
  const Live live;
  const Outcome outcome = run("live_pause", live.setup());
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(ids(trace, VPROF_EV_BEGIN) == std::vector<uint64_t>{1, 2, 4});
  CHECK(ids(trace, VPROF_EV_END) == std::vector<uint64_t>{1, 2, 4});
  CHECK(trace.frames(1) == 10);
  CHECK(live.control.driven());
  CHECK(live.control.load(live.control.header().undriven) == 0);
  CHECK(live.control.load(live.control.header().gaps) == 1);
  // All but the first, which made the trace. The third was in the pause.
  uint64_t begun = 0;
  for (const vprof_begun& count : trace.header.begun) {
    begun += count.intervals;
  }
  CHECK(begun == 3);
}

TEST_CASE("live: the driver dies in a pause") {
  const Live live;
  const Outcome outcome = run("live_driver_dies_in_pause", live.setup());
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.traces.at(0).frames(1) >= 10);
  CHECK(live.control.load(live.control.header().undriven) == 1);
}

TEST_CASE("live: what a thread was doing before a gap is forgotten in it") {
  const Live live;
  const Outcome outcome =
      run(GENERATE("live_gap_in_thread_interval", "live_pause_in_thread_interval"), live.setup());
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const std::vector<uint64_t> begun = ids(trace, VPROF_EV_BEGIN);
  const std::vector<uint64_t> ended = ids(trace, VPROF_EV_END);
  REQUIRE(begun.size() == 1);
  REQUIRE(ended.size() == 1);
  CHECK(begun[0] != ended[0]);
}

TEST_CASE("live: a driver that comes later") {
  const Live live;
  __atomic_store_n(&live.control.header().heartbeat_ns, 0, __ATOMIC_RELEASE);
  const Outcome outcome = run("live_waits_for_driver", live.setup());
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(ids(trace, VPROF_EV_BEGIN) == std::vector<uint64_t>{2});
  CHECK(trace.frames() == 4);
}
