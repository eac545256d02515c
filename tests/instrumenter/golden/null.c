/* No value of the configuration follows a null pointer: there is no label, no interval, no task then. */
/* PLAN: {"intervals": [{"index": 0, "name": "job", "begin": [{"function": "opened", "at": "entry", "key": "arg:0->request->id"}], "switch": [{"function": "turned", "at": "entry", "key": "*arg:0"}], "end": [{"function": "closed", "at": "exit", "key": "arg:0->request->id"}, {"function": "found", "at": "exit", "key": "return->request"}], "label": [{"function": "by_name", "at": "entry", "value": "arg:0->cmd->fullname"}, {"function": "by_element", "at": "entry", "value": "arg:0->words[1]"}, {"function": "by_pointer", "at": "entry", "value": "*arg:0->cmd->number"}, {"function": "by_both", "at": "entry", "value": "arg:0->cmd->fullname", "key": "arg:0->request->id"}, {"function": "by_array", "at": "entry", "value": "arg:0->cmd->pairs[1].first"}]}], "sync": [{"index": 0, "role": "acquire", "function": "locked", "object": "arg:0->request"}, {"index": 1, "role": "release", "function": "unlocked", "object": "arg:0->request"}, {"index": 2, "role": "dequeue", "function": "taken", "task": "*arg:0"}, {"index": 3, "role": "enqueue", "function": "put", "task": "arg:0->cmd->number"}]} */
/* EXPAND: handle */
/* FLAGS: -std=gnu89 -pedantic -Wshadow -Wdeclaration-after-statement -Waddress -Wnonnull */
/* LABELS: named second 12345 6789 9876 */
#include <stdio.h>

struct pair { int first, second; };
struct command { const char *fullname; int *number; struct pair pairs[2]; };
struct request { long id; };
struct client { struct command *cmd; struct request *request; const char **words; };

static int calls;
/* CHECK: VPROF_ENTRY_EVENT(BEGIN, 0, VPROF_VIA(0, VPROF_STEP(vprof_k1, (c)) VPROF_STEP(vprof_k2, vprof_k1->request), vprof_k2->id, }})); */
static void opened(struct client *c) { calls += c != NULL; }
static void turned(long *id) { calls += id != NULL; }
static void closed(const struct client *c) { calls += c != NULL; }
static struct client *found(struct client *c) { calls += c != NULL; return c; }
/* CHECK: VPROF_ENTRY_LABEL_CURRENT_VIA(0, VPROF_STEP(vprof_l1, (c)) VPROF_STEP(vprof_l2, vprof_l1->cmd), vprof_l2->fullname, }}); */
static void by_name(volatile struct client *c) { calls += c != NULL; }
/* CHECK: VPROF_STEP_AT(vprof_l2, vprof_l1->words, 1), vprof_l2[1], }}); */
static void by_element(struct client *c) { calls += c != NULL; }
/* CHECK: VPROF_STEP(vprof_l3, vprof_l2->number), *vprof_l3, }}}); */
static void by_pointer(struct client *const c) { calls += c != NULL; }
static void by_both(struct client *c) { calls += c != NULL; }
static void by_array(struct client c[1]) { calls += c != NULL; }
static void locked(struct client *c) { calls += c != NULL; }
static void unlocked(struct client *c) { calls += c != NULL; }
static void taken(struct client **c) { calls += c != NULL; }
static void put(struct client *c) { calls += c != NULL; }

static int handle(struct client *c) {
  opened(c);
  if (c != NULL && c->request != NULL) turned(&c->request->id);
  turned(NULL);
  opened(c);
  by_name(c);
  by_element(c);
  by_pointer(c);
  by_both(c);
  by_array(c);
  locked(c);
  unlocked(c);
  put(c);
  if (c != NULL) taken(&c);
  taken(NULL);
  found(c);
  closed(c);
  return calls;
}

int main(void) {
  int number = 12345;
  const char *words[2];
  struct command full, empty;
  struct request request;
  struct client clients[4];
  int i;
  words[0] = "first", words[1] = "second";
  full.fullname = "named", full.number = &number, full.pairs[1].first = 6789;
  empty.fullname = NULL, empty.number = NULL, empty.pairs[1].first = 9876;
  request.id = 77;
  for (i = 0; i < 4; ++i) {
    clients[i].cmd = i > 1 ? i > 2 ? &full : &empty : NULL;
    clients[i].request = i > 0 ? &request : NULL;
    clients[i].words = i > 2 ? words : NULL;
    printf("%d\n", handle(&clients[i]));
  }
  printf("%d\n", handle(NULL));
  return 0;
}
