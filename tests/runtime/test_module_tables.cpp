// The tables of sites that modules bring along, on plain memory.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "storage/frontier.h"
#include "storage/module_tables.h"
#include "vprof/runtime/record.h"

unsigned char vprof_site_on[VPROF_RT_SITES];
}

namespace {

std::function<bool(unsigned char*)> g_share;
std::string g_warned;

using Table = std::vector<unsigned char>;

Table make_table() { return Table(VPROF_RT_SITES); }

// Adds a table as the constructors of a module's objects do.
class Module {
 public:
  Module() {
    vprof_rt_add_table(table_.data());
    vprof_rt_add_table(table_.data());
  }
  ~Module() { vprof_rt_remove_table(table_.data()); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  const Table& table() const { return table_; }

 private:
  Table table_ = make_table();
};

// Switches a site on, as vprof_rt_set_site() does.
void set(unsigned site) {
  vprof_site_on[site] = 1;
  vprof_module_tables_each(
      [](unsigned char* table, const void* argument) {
        table[*static_cast<const unsigned*>(argument)] = 1;
      },
      &site);
}

int count_tables() {
  int tables = 0;
  vprof_module_tables_each(
      [](unsigned char*, const void* argument) {
        ++*static_cast<int*>(const_cast<void*>(argument));
      },
      &tables);
  return tables;
}

// The constructor has run, no module is loaded, no site is on, and this is no live run.
struct Process {
  Process() {
    g_share = [](unsigned char*) { return false; };
    g_warned.clear();
    std::memset(vprof_site_on, 0, sizeof vprof_site_on);
    vprof_module_tables_start();
  }
};

}  // namespace

extern "C" bool vprof_frontier_share(unsigned char* table) { return g_share(table); }
extern "C" void vprof_settings_warn(const char* text) { g_warned = text; }

TEST_CASE("a module that is loaded later has the sites that are on, and each is added once") {
  const Process process;
  set(5);
  set(VPROF_RT_SITES - 1);
  const Module module;
  CHECK(module.table()[4] == 0);
  CHECK(module.table()[5] == 1);
  CHECK(module.table()[VPROF_RT_SITES - 1] == 1);
  set(4);
  CHECK(module.table()[4] == 1);
  CHECK(count_tables() == 1);
}

TEST_CASE("a module that is unloaded is left alone") {
  const Process process;
  const Module stays;
  {
    const Module goes;
    CHECK(count_tables() == 2);
  }
  CHECK(count_tables() == 1);
  const Module comes;
  CHECK(count_tables() == 2);
}

TEST_CASE("in a live run the control file is the table") {
  const Process process;
  unsigned char* shared = nullptr;
  g_share = [&](unsigned char* table) {
    shared = table;
    return true;
  };
  vprof_site_on[5] = 1;
  const Module module;
  CHECK(shared == module.table().data());
  CHECK(module.table()[5] == 0);  // nothing was copied: the file could be written to otherwise
}

TEST_CASE("a site that is switched on while a module is being loaded") {
  const Process process;
  int asked = 0;
  g_share = [&](unsigned char* table) {
    if (++asked == 1) {
      std::memcpy(table, vprof_site_on, VPROF_RT_SITES);
      set(5);  // comes too late for the copy, and finds the table borrowed
      return true;
    }
    return false;
  };
  const Module module;
  CHECK(module.table()[5] == 1);
}

TEST_CASE("a signal handler that finds a table borrowed does not wait for it") {
  const Process process;
  const Module module;
  int worked = 0;
  vprof_module_tables_each(
      [](unsigned char*, const void* argument) {
        *static_cast<int*>(const_cast<void*>(argument)) = 1 + count_tables();
      },
      &worked);
  CHECK(worked == 1);
  CHECK(count_tables() == 1);
}

TEST_CASE("a module is not unloaded while somebody works on its table") {
  const Process process;
  Table table = make_table();
  vprof_rt_add_table(table.data());
  struct State {
    std::atomic<bool> unloading{false};
    std::atomic<bool> worked{false};
  } state;
  bool worked_before_unloaded = false;
  std::thread unload;
  struct Argument {
    State* state;
    unsigned char* table;
    bool* worked_before_unloaded;
    std::thread* unload;
  } argument{&state, table.data(), &worked_before_unloaded, &unload};
  vprof_module_tables_each(
      [](unsigned char*, const void* given) {
        const Argument& self = *static_cast<const Argument*>(given);
        *self.unload = std::thread([self] {
          self.state->unloading = true;
          vprof_rt_remove_table(self.table);
          *self.worked_before_unloaded = self.state->worked;
        });
        while (!self.state->unloading) {
          std::this_thread::yield();
        }
        for (int i = 0; i < 1000; ++i) {
          std::this_thread::yield();  // it would be through by now
        }
        self.state->worked = true;
      },
      &argument);
  unload.join();
  CHECK(worked_before_unloaded);
  CHECK(count_tables() == 0);
}

TEST_CASE("a module whose table somebody works on while it is loaded gets its sites then") {
  const Process process;
  const Module module;
  vprof_site_on[5] = 1;
  struct State {
    std::atomic<bool> filling{false};
    std::thread fill;
  } state;
  vprof_module_tables_each(
      [](unsigned char*, const void* given) {
        State& self = *static_cast<State*>(const_cast<void*>(given));
        self.fill = std::thread([&] {
          self.filling = true;
          vprof_module_tables_start();
        });
        while (!self.filling) {
          std::this_thread::yield();
        }
        for (int i = 0; i < 1000; ++i) {
          std::this_thread::yield();  // it would be through by now
        }
      },
      &state);
  state.fill.join();
  CHECK(module.table()[5] == 1);
}

TEST_CASE("a child of fork in which a thread that had borrowed a table does not exist") {
  const Process process;
  const Module module;
  int tables = -1;
  vprof_module_tables_each(
      [](unsigned char*, const void* argument) {
        vprof_module_tables_forked();
        *static_cast<int*>(const_cast<void*>(argument)) = count_tables();
      },
      &tables);
  CHECK(tables == 1);
}

TEST_CASE("more modules than there is room for: the last ones record nothing, and that is said") {
  const Process process;
  std::vector<unsigned char> addresses(2 * 1025 + 1);
  // Nobody looks at what these point to.
  g_share = [](unsigned char*) { return true; };
  const auto table = [&](int i) {
    return &addresses[2 * i + (reinterpret_cast<uintptr_t>(addresses.data()) & 1)];
  };
  for (int i = 0; i < 1024; ++i) {
    vprof_rt_add_table(table(i));
  }
  CHECK(g_warned.empty());
  CHECK(count_tables() == 1024);
  vprof_rt_add_table(table(1024));
  CHECK(g_warned == "more than 1024 libraries are instrumented; those loaded last record nothing");
  for (int i = 0; i < 1025; ++i) {
    vprof_rt_remove_table(table(i));
  }
  CHECK(count_tables() == 0);
}
