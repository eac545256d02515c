#include "search/live/screen/terminal.h"

// Its macros have the names of functions of the standard library.
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "process/interrupt.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

namespace {

constexpr int kEscapeMs = 25;     // how long to wait for what may follow an Escape
constexpr int kPatienceMs = 500;  // for a screen that is being drawn
constexpr int kWarningPair = 1;   // of colours
constexpr std::array kFatal = {SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// What signal handlers need. They may interrupt whatever thread at any moment, so nothing is drawn
// between `g_frozen` and their end:
//
//   drawing thread: g_drawing = true, if (!g_frozen) draw, g_drawing = false
//   handler:        g_frozen = true, wait for !g_drawing, restore the terminal, stop or die
std::atomic<bool> g_frozen{false};
std::atomic<bool> g_drawing{false};
/// The terminal is as it was before; the drawing thread has to take it again.
std::atomic<bool> g_left{false};
static_assert(std::atomic<bool>::is_always_lock_free);
struct termios g_modes_before;
std::string g_leave_text;  // written before the handlers are set, read only afterwards
int g_wake = -1;

void poke() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t unused = ::write(g_wake, &one, sizeof one);
}

void leave_by_signal() {
  g_frozen = true;
  for (int i = 0; i < kPatienceMs && g_drawing; ++i) {
    const struct timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&moment, nullptr);
  }
  if (!g_left.exchange(true)) {
    [[maybe_unused]] const ssize_t unused =
        ::write(STDOUT_FILENO, g_leave_text.data(), g_leave_text.size());
    ::tcsetattr(STDIN_FILENO, TCSANOW, &g_modes_before);
  }
}

void come_back_by_signal() {
  g_frozen = false;
  poke();
}

constexpr interrupt::TerminalUser kUser{.leave = leave_by_signal, .come_back = come_back_by_signal};

/// Restores the terminal, and dies as without a handler (SA_RESETHAND).
void die(int signal) {
  leave_by_signal();
  ::raise(signal);
}

bool is_in_foreground() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

/// What the terminal knows by this name, without the delays (`$<5>`) of terminals of old; "" if it
/// knows nothing.
std::string capability(const char* name) {
  const char* known = ::tigetstr(name);
  if (known == nullptr || known == reinterpret_cast<const char*>(-1)) {
    return "";
  }
  std::string text = known;
  for (size_t at = text.find("$<"); at != std::string::npos; at = text.find("$<", at)) {
    text.erase(at, text.find('>', at) - at + 1);
  }
  return text;
}

/// Makes ncurses write UTF-8 where the locale says so, also if that locale is not installed.
void take_locale() {
  std::setlocale(LC_CTYPE, "");
  if (!report::text_options().ascii && std::string_view(::nl_langinfo(CODESET)) != "UTF-8") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
}

/// ncurses handles signals in its own way unless they are put back.
class KeptSignals {
 public:
  KeptSignals() {
    for (size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
    }
  }
  ~KeptSignals() {
    for (size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
  std::array<struct sigaction, 4> before_{};
};

KeyPress press_of(int status, wint_t code) {
  if (status == ERR) {
    return {};
  }
  if (status != KEY_CODE_YES) {
    switch (code) {
      case '\n':
      case '\r':
        return {.key = Key::kReturn};
      case 27:
        return {.key = Key::kBack};
      default:
        return {.key = Key::kCharacter, .character = static_cast<char32_t>(code)};
    }
  }
  switch (code) {
    case KEY_UP:
      return {.key = Key::kUp};
    case KEY_DOWN:
      return {.key = Key::kDown};
    case KEY_PPAGE:
      return {.key = Key::kPageUp};
    case KEY_NPAGE:
      return {.key = Key::kPageDown};
    case KEY_HOME:
      return {.key = Key::kHome};
    case KEY_END:
      return {.key = Key::kEnd};
    case KEY_ENTER:
    case KEY_RIGHT:
      return {.key = Key::kReturn};
    case KEY_LEFT:
    case KEY_BACKSPACE:
      return {.key = Key::kBack};
    default:
      return {.key = Key::kCharacter, .character = 0};
  }
}

class Ncurses : public ScreenTerminal {
 public:
  explicit Ncurses(SCREEN* screen) : screen_(screen), colours_(report::text_options().color) {
    ::cbreak();
    ::noecho();
    ::curs_set(0);
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    if (colours_ && ::has_colors()) {
      ::start_color();
      ::use_default_colors();
      ::init_pair(kWarningPair, COLOR_YELLOW, -1);
    }
    const std::string leave = capability("rmcup");
    g_leave_text = capability("op") + capability("sgr0") + capability("rmkx") +
                   capability("cnorm") + (leave.empty() ? "\r\n" : leave);
    interrupt::set_terminal_user(&kUser);
    for (size_t i = 0; i < kFatal.size(); ++i) {
      struct sigaction action{};
      action.sa_handler = die;
      action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
      sigemptyset(&action.sa_mask);
      ::sigaction(kFatal.at(i), &action, &before_.at(i));
    }
  }
  ~Ncurses() override {
    g_frozen = true;  // a handler need not wait any more
    if (!g_left && is_in_foreground()) {
      ::endwin();
      ::tcsetattr(STDIN_FILENO, TCSADRAIN, &g_modes_before);
    }
    g_left = true;
    interrupt::set_terminal_user(nullptr);
    for (size_t i = 0; i < kFatal.size(); ++i) {
      ::sigaction(kFatal.at(i), &before_.at(i), nullptr);
    }
    ::delscreen(screen_);
    ::close(g_wake);
  }
  Ncurses(const Ncurses&) = delete;
  Ncurses& operator=(const Ncurses&) = delete;

  report::ScreenSize size() override {
    struct winsize now{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_row == 0 || now.ws_col == 0) {
      return {};
    }
    return {.rows = now.ws_row, .columns = now.ws_col};
  }

  void draw(const std::vector<report::ScreenLine>& lines) override {
    g_drawing = true;
    if (!g_frozen && take_terminal()) {
      fit_to_terminal();
      put(lines);
      ::wrefresh(stdscr);
    }
    g_drawing = false;
  }

  void wait(int milliseconds) override {
    // What is typed while somebody else has the terminal is not for us.
    const bool listens = !g_left && !is_gone_;
    std::array<struct pollfd, 2> sources = {{
        {.fd = g_wake, .events = POLLIN, .revents = 0},
        {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
    }};
    if (::poll(sources.data(), listens ? 2 : 1, milliseconds) <= 0) {
      return;
    }
    uint64_t pokes = 0;
    if (sources[0].revents != 0) {
      [[maybe_unused]] const ssize_t unused = ::read(g_wake, &pokes, sizeof pokes);
    }
    int bytes = 0;
    const bool has_input = listens && sources[1].revents != 0;
    is_gone_ =
        is_gone_ || (has_input && (::ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || bytes == 0));
  }

  KeyPress read() override {
    KeyPress press;
    g_drawing = true;
    if (!g_frozen && !g_left && !is_gone_ && is_in_foreground()) {
      wint_t code = 0;
      const int status = ::wget_wch(stdscr, &code);
      press = press_of(status, code);
    }
    g_drawing = false;
    return press;
  }

  void wake() override { poke(); }

 private:
  /// Takes the terminal again after somebody else had it. Returns whether it is ours.
  bool take_terminal() {
    if (!is_in_foreground()) {
      g_left = true;
      return false;
    }
    if (g_left) {
      ::reset_prog_mode();
      for (const char* name : {"smcup", "smkx", "civis"}) {
        const std::string text = capability(name);
        [[maybe_unused]] const ssize_t unused = ::write(STDOUT_FILENO, text.data(), text.size());
      }
      ::clearok(curscr, TRUE);
      g_left = false;
    }
    return true;
  }

  void fit_to_terminal() {
    const report::ScreenSize now = size();
    const auto rows = static_cast<int>(now.rows);
    const auto columns = static_cast<int>(now.columns);
    if (::getmaxy(stdscr) != rows || ::getmaxx(stdscr) != columns) {
      ::resizeterm(rows, columns);
      ::clearok(curscr, TRUE);
    }
  }

  void put(const std::vector<report::ScreenLine>& lines) {
    ::werase(stdscr);
    for (size_t row = 0; row < lines.size(); ++row) {
      if (::wmove(stdscr, static_cast<int>(row), 0) == ERR) {
        break;  // it has become smaller meanwhile
      }
      for (const report::ScreenPart& part : lines[row]) {
        ::wattrset(stdscr, static_cast<int>(attributes(part.style)));
        ::waddstr(stdscr, part.text.c_str());
      }
    }
    ::wattrset(stdscr, static_cast<int>(A_NORMAL));
  }

  chtype attributes(report::ScreenStyle style) const {
    using report::ScreenStyle;
    if (style == ScreenStyle::kBar || style == ScreenStyle::kSelected) {
      return A_REVERSE;
    }
    if (!colours_ || style == ScreenStyle::kPlain) {
      return A_NORMAL;
    }
    if (style == ScreenStyle::kWarning) {
      return A_BOLD | static_cast<chtype>(COLOR_PAIR(kWarningPair));
    }
    return style == ScreenStyle::kStrong ? A_BOLD : A_DIM;
  }

  SCREEN* const screen_;
  const bool colours_;
  std::array<struct sigaction, kFatal.size()> before_{};
  bool is_gone_ = false;  // the terminal
};

}  // namespace

void ScreenTerminal::block_signals() {
  sigset_t most;
  sigfillset(&most);
  for (const int signal : kFatal) {
    sigdelset(&most, signal);
  }
  sigaddset(&most, SIGQUIT);
  ::pthread_sigmask(SIG_SETMASK, &most, nullptr);
}

std::unique_ptr<ScreenTerminal> ScreenTerminal::open() {
  const char* type = std::getenv("TERM");
  if (::isatty(STDIN_FILENO) == 0 || !report::takes_escapes(STDOUT_FILENO) || type == nullptr ||
      *type == '\0' || !is_in_foreground() || ::tcgetattr(STDIN_FILENO, &g_modes_before) != 0) {
    return nullptr;
  }
  std::fflush(stdout);
  take_locale();
  const KeptSignals kept;
  ::use_env(FALSE);  // the size of the terminal, whatever $LINES and $COLUMNS say
  ::use_tioctl(TRUE);
  SCREEN* screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    return nullptr;  // a type of terminal that nobody has described here
  }
  ::set_escdelay(kEscapeMs);
  g_wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  g_frozen = g_drawing = g_left = false;
  return std::make_unique<Ncurses>(screen);
}

}  // namespace vprof::driver
