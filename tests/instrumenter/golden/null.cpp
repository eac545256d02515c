// Nothing that the configuration names is read through null: pointers, smart pointers, optionals, containers.
// PLAN: {"intervals": [{"index": 0, "name": "job", "begin": [{"function": "opened", "at": "entry", "key": "arg:0->cmd->number"}], "end": [{"function": "closed", "at": "exit", "key": "arg:0->cmd->number"}], "label": [{"function": "by_unique", "at": "entry", "value": "arg:0->cmd->fullname"}, {"function": "by_optional", "at": "entry", "value": "arg:0->name"}, {"function": "by_vector", "at": "entry", "value": "arg:0->words[1]"}, {"function": "by_map", "at": "entry", "value": "arg:0[7]"}, {"function": "by_own", "at": "entry", "value": "arg:0->cmd->number"}, {"function": "by_once", "at": "entry", "value": "arg:0->cmd->number"}, {"function": "by_iterator", "at": "entry", "value": "arg:0->fullname"}, {"function": "by_reference", "at": "entry", "value": "arg:0.cmd->fullname"}, {"function": "by_shared", "at": "entry", "value": "*arg:0"}, {"function": "Server::by_method", "at": "entry", "value": "arg:0->cmd->fullname"}, {"function": "by_template", "at": "entry", "value": "arg:0->cmd->fullname"}, {"function": "by_array", "at": "entry", "value": "arg:0->pairs[1].first"}, {"function": "by_string", "at": "entry", "value": "arg:0->cmd->fullname[0]"}]}]}
// EXPAND: run
// FLAGS: -std=c++17 -Wshadow -Wold-style-cast -Wnull-dereference
// LABELS: unique optional second 70007 4711 4712 iterator thing 815 method template 333 105
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Command { std::string fullname; long number = 0; };
struct Client { std::unique_ptr<Command> cmd; };
struct Named { std::string name; };
struct Words { std::vector<std::string> words; };
struct Pair { int first, second; };
struct Pairs { Pair pairs[2]; };

// A pointer that cannot be tested, and one that may be followed only once.
template <class T> struct Own { T *p; T *operator->() const { return p; } };
template <class T> struct Once {
  T *p;
  mutable int uses = 0;
  T *operator->() const { if (++uses > 1) std::abort(); return p; }
  explicit operator bool() const { return p != nullptr; }
};

static int calls;
static void opened(Client *x) { ++calls; }
static void closed(Client *x) { ++calls; }
static void by_unique(const std::unique_ptr<Client> &x) { ++calls; }
static void by_optional(std::optional<Named> x) { ++calls; }
static void by_vector(const Words *x) { ++calls; }
static void by_map(std::map<int, int> &x) { ++calls; }
static void by_own(Own<Client> x) { ++calls; }
static void by_once(const Once<Client> &x) { ++calls; }
static void by_iterator(std::list<Command>::iterator x) { ++calls; }
static void by_reference(Client &x) { ++calls; }
static void by_shared(std::shared_ptr<long> x) { ++calls; }
template <class T> static void by_template(const T &x) { ++calls; }
static void by_array(Pairs *x) { ++calls; }
static void by_string(Client *x) { ++calls; }
struct Server { void by_method(Client *x) { ++calls; } };

static Client client(const char *name, long number) {
  return {std::unique_ptr<Command>(new Command{name, number})};
}

static void run() {
  Client empty, full = client("thing", 4711);
  opened(&full);
  for (Client *c : {static_cast<Client *>(nullptr), &empty, &full}) { opened(c); by_string(c); Server().by_method(c); }
  by_unique(nullptr), by_unique(std::make_unique<Client>()), by_unique(std::make_unique<Client>(client("unique", 1)));
  by_optional({}), by_optional(Named{"optional"});
  Words none, some{{"first", "second"}};
  by_vector(nullptr), by_vector(&none), by_vector(&some);
  std::map<int, int> map;
  by_map(map), map[7] = 70007, by_map(map);
  by_own({nullptr}), by_own({&empty}), by_own({&full});
  Client other = client("method", 4712);
  by_once({nullptr}), by_once({&empty}), by_once({&other});
  std::list<Command> list{Command{"iterator", 0}};
  by_iterator(list.begin());
  by_reference(empty), by_reference(full);
  Server().by_method(&other);
  by_shared({}), by_shared(std::make_shared<long>(815));
  by_template(std::unique_ptr<Client>()), by_template(std::make_unique<Client>(client("template", 2)));
  Pairs pairs{{{1, 2}, {333, 4}}};
  by_array(nullptr), by_array(&pairs);
  Client letter = client("i", 1);
  by_string(&letter);
  for (Client *c : {static_cast<Client *>(nullptr), &empty, &full}) closed(c);
  std::map<int, int> untouched;
  by_map(untouched);
  std::printf("%d calls, %zu entries\n", calls, untouched.size());
}

int main() {
  run();
}
