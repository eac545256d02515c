/* Configured queues, locks and intervals; a dequeue function whose task is what it returns gets a wrapper. */
/* PLAN: {"sync": [{"index": 0, "role": "enqueue", "function": "push", "task": "arg:1"}, {"index": 1, "role": "dequeue", "function": "pop", "task": "return"}, {"index": 2, "role": "acquire", "function": "take", "object": "arg:0"}, {"index": 3, "role": "release", "function": "give", "object": "arg:0"}, {"index": 4, "role": "dequeue", "function": "try_pop", "task": "*arg:1"}, {"index": 5, "role": "dequeue", "function": "handle", "task": "arg:0"}]} */
/* PLAN: {"intervals": [{"index": 0, "name": "job", "begin": [{"function": "push", "at": "entry", "key": "arg:1"}], "switch": [{"function": "handle", "at": "entry", "key": "arg:0"}], "end": [{"function": "handle", "at": "exit", "key": "arg:0"}], "label": [{"function": "handle", "at": "entry", "value": "arg:0->kind"}]}, {"index": 1, "name": "whole", "function": "handle"}, {"index": 2, "name": "by thread", "begin": [{"function": "opened", "at": "entry", "key": "thread"}], "end": [{"function": "closed", "at": "exit", "key": "thread"}]}]} */
/* EXPAND: handle */
#include <stdio.h>

struct job { struct job *next; const char *kind; int n; };
struct queue { struct job *head; };

// CHECK: static void push(struct queue *q, struct job *j) { VPROF_ENTRY_EVENT(BEGIN, 0, (j)); VPROF_ENQUEUE(0, (j));
static void push(struct queue *q, struct job *j) {
  j->next = q->head;
  q->head = j;
}

// CHECK: static struct job *pop(struct queue *q); static struct job *pop_vprof_original(struct queue *q) {
static struct job *pop(struct queue *q) {
  struct job *j = q->head;
  if (j == NULL) return NULL;
  q->head = j->next;
  return j;
  // CHECK: } static struct job *pop(struct queue *q) { __typeof__(pop_vprof_original(q)) vprof_result = pop_vprof_original(q); VPROF_DEQUEUE(1, (vprof_result)); return vprof_result; }
}

// CHECK: static int try_pop(struct queue *q, struct job **out); static int try_pop_vprof_original(struct queue *q, /* where it goes */
static int try_pop(struct queue *q, /* where it goes */
                   struct job **out) {
  *out = pop(q);
  return *out != NULL;
}

// CHECK: VPROF_ACQUIRE(2, (lock));
static void take(int *lock) { while (*lock > 1) --*lock; *lock = 1; }
// CHECK: VPROF_RELEASE(3, (lock));
static void give(int *lock) { while (*lock > 0) --*lock; }

__attribute__((noinline)) static int work(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }

static int lock;
// CHECK: static int handle(struct job *j) { VPROF_INTERVAL(1); VPROF_EXIT_EVENT(END, 0, (j)); VPROF_ENTRY_DEQUEUE(5, (j)); VPROF_ENTRY_EVENT(SWITCH, 0, (j)); VPROF_ENTRY_LABEL_CURRENT_VIA(0, VPROF_STEP(vprof_l1, (j)), vprof_l1->kind, }); VPROF_FUNCTION({{[0-9]+}});
static int handle(struct job *j) {
  take(&lock);
  int s = work(j->n);
  give(&lock);
  return s;
}

// CHECK: static void opened(void) { VPROF_ENTRY_EVENT(BEGIN, 2, VPROF_THREAD_KEY);
static void opened(void) { ++lock; }
// CHECK: static void closed(void) { VPROF_EXIT_EVENT(END, 2, VPROF_THREAD_KEY);
static void closed(void) { --lock; }

int main(void) {
  opened();
  struct queue q = {NULL};
  struct job jobs[3] = {{NULL, "a", 3}, {NULL, "b", 4}, {NULL, "c", 5}};
  for (int i = 0; i < 3; ++i) push(&q, &jobs[i]);
  int s = handle(pop(&q));
  struct job *j;
  while (try_pop(&q, &j)) s += handle(j);
  closed();
  printf("%d\n", s);
  return 0;
}
