#include <vprof/annotations.h>

int main() {
  vprof::interval request(1, "GET");
  return 0;
}
