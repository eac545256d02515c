// FLAGS: -std=c++98 -Wno-deprecated
// The oldest C++: nothing may need C++11.
#include <cstdio>
#include <string>

static int length(const std::string& s) {
  int n = 0;
  for (std::string::const_iterator it = s.begin(); it != s.end(); ++it) ++n;
  return n;
}

static std::string twice(const std::string& s) {
  std::string t = s;
  for (int i = 0; i < 1; ++i) t += s;
  return t;
}

static int run() {
  std::string s = twice("ab");
  length(s);
  int x = length(twice(s));
  return x + length(s);
}

int main() {
  std::printf("%d\n", run());
  return 0;
}
