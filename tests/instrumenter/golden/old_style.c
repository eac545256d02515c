/* FLAGS: -std=gnu89 -Wno-old-style-definition -Wno-deprecated-non-prototype -Wno-strict-prototypes -Wdeclaration-after-statement -pedantic */
/* K&R definitions and declarations that must come before statements. */
#include <stdio.h>

/*
CHECK: { VPROF_FUNCTION({{[0-9]+}});
*/
static int add(a, b)
  int a;
  int b;
{
  int s = 0;
  while (a-- > 0) s++;
  return s + b;
}

int main(void)
{
  int x = add(2, 3);
  int y;
  y = add(x, 1);
  add(1, 1);
  printf("%d %d\n", x, y);
  return 0;
}
