// Calls whose callee depends on the parameter of a template: by a member, by the class that
// inherits (CRTP), and by a policy. Only the instantiations know what is called.
//
// interval: serve
// expect: first repair
#include "planted.h"

namespace {

class Disk {
 public:
  __attribute__((noinline)) void fetch(int block) {
    work_us(500);
    if (block % 40 == 7) {
      repair();
    }
  }

 private:
  __attribute__((noinline)) void repair() { work_us(30000); }
};

template <class Backend>
class Store {
 public:
  __attribute__((noinline)) void get(int block) { backend_.fetch(block); }

 private:
  Backend backend_;
};

template <class Derived>
class Handler {
 public:
  __attribute__((noinline)) void handle(int request) {
    static_cast<Derived*>(this)->answer(request);
  }
};

template <class Storage>
class Lookup : public Handler<Lookup<Storage>> {
 public:
  __attribute__((noinline)) void answer(int request) { storage_.get(request); }

 private:
  Storage storage_;
};

struct Quick {
  __attribute__((noinline)) static void check(int request) { work_us(100 + request % 3); }
};

template <class Policy>
__attribute__((noinline)) void admit(int request) {
  Policy::check(request);
}

}  // namespace

void serve(int request) {
  admit<Quick>(request);
  static Lookup<Store<Disk>> lookup;
  lookup.handle(request);
}

int main() {
  for (int request = 0; request < 400; ++request) {
    serve(request);
  }
}
