/* A trace context is read as a label is, and recorded as what it is. */
/* PLAN: {"intervals": [{"index": 0, "name": "job", "function": "handle", "label": [{"function": "parsed", "at": "entry", "value": "arg:0->name"}], "trace_context": [{"function": "parsed", "at": "entry", "value": "arg:0->headers->traceparent"}, {"function": "keyed", "at": "entry", "value": "arg:1", "key": "arg:0"}]}]} */
/* EXPAND: handle */
/* FLAGS: -std=gnu89 -pedantic -Wshadow -Wdeclaration-after-statement */
/* LABELS: GET 00-4bf92f3577b3 */
#include <stdio.h>

struct headers { const char *traceparent; };
struct job { const char *name; struct headers *headers; };

/* CHECK: VPROF_ENTRY_LABEL_CURRENT_VIA(0, VPROF_STEP(vprof_l1, (j)), vprof_l1->name, }); VPROF_ENTRY_TRACE_CURRENT_VIA(0, VPROF_STEP(vprof_l1, (j)) VPROF_STEP(vprof_l2, vprof_l1->headers), vprof_l2->traceparent, }}); */
static void parsed(struct job *j) { printf("%d\n", j != NULL); }
/* CHECK: VPROF_ENTRY_TRACE(0, (j), (context)); */
static void keyed(struct job *j, const char *context) { printf("%d\n", j != NULL && context != NULL); }

static void handle(struct job *j) {
  parsed(j);
  keyed(j, NULL);
}

int main(void) {
  struct headers all, none;
  struct job jobs[3];
  all.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  none.traceparent = NULL;
  jobs[0].name = "GET", jobs[0].headers = &all;
  jobs[1].name = NULL, jobs[1].headers = &none;
  jobs[2].name = "", jobs[2].headers = NULL;
  handle(&jobs[0]);
  handle(&jobs[1]);
  handle(&jobs[2]);
  handle(NULL);
  return 0;
}
