/* A label is a text or a number: the type of the value decides, in every dialect of C. A null text is no label. */
/* PLAN: {"intervals": [{"index": 0, "name": "job", "function": "handle", "label": [{"function": "by_number", "at": "entry", "value": "arg:0->number"}, {"function": "by_flag", "at": "entry", "value": "arg:0->flag"}, {"function": "by_choice", "at": "entry", "value": "arg:0"}, {"function": "by_text", "at": "entry", "value": "arg:0->text"}, {"function": "by_array", "at": "entry", "value": "arg:0->array"}, {"function": "keyed", "at": "entry", "value": "arg:1", "key": "arg:0"}]}]} */
/* EXPAND: handle */
/* FLAGS: -std=gnu89 */
/* LABELS: -7 1 2 text array 9000000000 */
#include <stdio.h>

enum choice { NONE, ONE, TWO };
struct job { long number; unsigned flag : 1; const unsigned char *text; char array[8]; };

/* CHECK: VPROF_ENTRY_LABEL_CURRENT_VIA(0, VPROF_STEP(vprof_l1, (j)), vprof_l1->number, }); */
static void by_number(struct job *j) { j->number += 1; }
static void by_flag(struct job *j) { j->number += j->flag; }
static void by_choice(enum choice c) { printf("%d\n", c); }
static void by_text(struct job *j) { j->number += j->text != NULL; }
static void by_array(struct job *j) { j->number += j->array[0]; }
/* CHECK: VPROF_ENTRY_LABEL(0, (j), (number)); */
static void keyed(struct job *j, long long number) { j->number += number != 0; }

static void handle(struct job *j) {
  by_number(j);
  by_flag(j);
  by_choice(TWO);
  by_text(j);
  by_array(j);
  keyed(j, 9000000000LL);
}

int main(void) {
  struct job jobs[2] = {{-7, 1, (const unsigned char *)"text", "array"}, {4, 0, NULL, ""}};
  handle(&jobs[0]);
  handle(&jobs[1]);
  printf("%ld %ld\n", jobs[0].number, jobs[1].number);
  return 0;
}
