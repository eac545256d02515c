// A trace context may be a string class. A number is none, and is recorded for the report to say so.
// PLAN: {"intervals": [{"index": 0, "name": "job", "function": "handle", "trace_context": [{"function": "by_string", "at": "entry", "value": "arg:0.context"}, {"function": "by_number", "at": "entry", "value": "arg:0"}]}]}
// EXPAND: handle
// LABELS: 00-abcde 12345
#include <cstdio>
#include <string>

struct Request {
  std::string context;
};

// CHECK: VPROF_ENTRY_TRACE_CURRENT(0, (r).context);
static void by_string(const Request& r) { std::printf("%zu\n", r.context.size()); }
// CHECK: VPROF_ENTRY_TRACE_CURRENT(0, (n));
static void by_number(long n) { std::printf("%ld\n", n); }

static void handle(const Request& r) {
  by_string(r);
  by_number(12345);
}

int main() {
  handle({"00-abcdefabcdefabcdefabcdefabcdefab-1234567890123456-01"});
  handle({""});
}
