// The oldest C++ reads no value through null either.
// PLAN: {"intervals": [{"index": 0, "name": "job", "function": "run", "label": [{"function": "by_name", "at": "entry", "value": "arg:0->cmd->fullname"}, {"function": "by_own", "at": "entry", "value": "*arg:0->cmd->number"}, {"function": "by_vector", "at": "entry", "value": "arg:0[1]"}, {"function": "by_map", "at": "entry", "value": "arg:0->numbers[7]"}, {"function": "by_auto", "at": "entry", "value": "arg:0->fullname", "key": "*arg:0->number"}]}]}
// EXPAND: run
// FLAGS: -std=c++98 -Wno-deprecated -Wno-deprecated-declarations -Wshadow
// LABELS: named 4711 second 70007
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Command { std::string fullname; long *number; };
struct Client { Command *cmd; std::map<int, int> numbers; };
template <class T> struct Own { T *p; T *operator->() { return p; } };

static int calls;
static void by_name(Client *x) { ++calls; }
static void by_own(Own<Client> x) { ++calls; }
static void by_vector(const std::vector<std::string> &x) { ++calls; }
static void by_map(Client *x) { ++calls; }
static void by_auto(std::auto_ptr<Command> x) { ++calls; }

static void run() {
  long number = 4711;
  Command command;
  command.fullname = "named";
  command.number = &number;
  Client empty, full;
  empty.cmd = 0;
  full.cmd = &command;
  full.numbers[7] = 70007;
  Client *clients[3] = {0, &empty, &full};
  for (int i = 0; i < 3; ++i) {
    Own<Client> own = {clients[i]};
    by_name(clients[i]);
    by_own(own);
    by_map(clients[i]);
  }
  std::vector<std::string> words;
  by_vector(words);
  words.resize(2, "second");
  by_vector(words);
  by_auto(std::auto_ptr<Command>());
  std::printf("%d calls, %d entries\n", calls, static_cast<int>(empty.numbers.size()));
}

int main() {
  run();
}
