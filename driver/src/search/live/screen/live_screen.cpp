#include "search/live/screen/live_screen.h"

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "pipeline/own_use/own_processor_time.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "search/live/screen/pages.h"
#include "search/live/screen/terminal.h"
#include "vprof/report/terminal.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kBetweenDrawings = 1;  // s, if nothing changes
constexpr int kScreenTurnMs = 100;      // how soon a new size, or what the search shows, is seen
constexpr size_t kMostLog = 100;        // lines
constexpr auto kAtOnce = std::chrono::milliseconds(50);  // a page that takes longer is announced

double time_since(SteadyClock::time_point then) {
  return std::chrono::duration<double>(SteadyClock::now() - then).count();
}

/// Without escape sequences.
std::string unstyled(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size());
    } else {
      plain += text[at];
    }
  }
  return plain;
}

/// Processor time of this process, as a part of the time that passes.
class OwnProcessors {
 public:
  /// Of about the last second or more; negative: not known yet.
  double latest() {
    if (const double passed = time_since(then_); passed >= kBetweenDrawings) {
      const double used = own_processor_s();
      latest_ = (used - used_then_) / passed;
      used_then_ = used;
      then_ = SteadyClock::now();
    }
    return latest_;
  }

 private:
  SteadyClock::time_point then_ = SteadyClock::now();
  double used_then_ = own_processor_s();
  double latest_ = -1;
};

class DrawnScreen : public LiveScreen, private Listener {
 public:
  DrawnScreen(const Session& session, const instrumenter::Program& program,
              std::unique_ptr<ScreenTerminal> terminal)
      : session_(session),
        program_(program),
        terminal_(std::move(terminal)),
        options_(report::text_options()) {
    options_.color = false;
    set_listener(this);
    thread_ = std::thread([this] {
      ScreenTerminal::block_signals();
      run();
    });
  }
  ~DrawnScreen() override {
    {
      const std::scoped_lock lock(mutex_);
      end_ = true;
    }
    terminal_->wake();
    thread_.join();
    terminal_.reset();
    set_listener(nullptr);
    for (const auto& [line, is_warning] : said_) {
      is_warning ? warn(line) : say(line);
    }
  }
  DrawnScreen(const DrawnScreen&) = delete;
  DrawnScreen& operator=(const DrawnScreen&) = delete;

  // ---- for the search

  void show(const report::LiveStatus& status, const Measured& measured) override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> log = std::move(shared_.status.log);
    shared_.status = status;
    shared_.status.log = std::move(log);
    shared_.measured = measured;
    shared_.shown = SteadyClock::now();
    ++shared_.version;
  }

  void answer(const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    shared_.answer = text;
    ++shared_.version;
  }

  std::vector<Wish> take_wishes() override {
    const std::scoped_lock lock(mutex_);
    return std::exchange(wishes_, {});
  }

 private:
  /// What the search says. Copied before anything is drawn.
  struct Shared {
    report::LiveStatus status;
    Measured measured;
    SteadyClock::time_point shown = SteadyClock::now();
    std::optional<std::string> answer;
    uint64_t version = 0;
  };

  // ---- for say() and warn()

  void said(const std::string& line) override { note(line, false); }
  void warned(const std::string& line) override { note(line, true); }
  void note(const std::string& text, bool is_warning) {
    const std::scoped_lock lock(mutex_);
    said_.emplace_back(text, is_warning);
    std::vector<std::string>& log = shared_.status.log;
    for (const std::string& line : lines_of((is_warning ? "warning: " : "") + unstyled(text))) {
      if (!line.empty()) {
        log.push_back(line);
      }
    }
    if (log.size() > kMostLog) {
      log.erase(log.begin(), log.end() - kMostLog);
    }
    ++shared_.version;
  }

  // ---- the thread

  void run() {
    SteadyClock::time_point drawn;
    report::ScreenSize size;
    bool changed = true;
    while (take()) {
      changed = take_page() || changed || seen_.version != drawn_version_;
      const report::ScreenSize now = terminal_->size();
      const bool resized = now.rows != size.rows || now.columns != size.columns;
      if (changed || resized || time_since(drawn) >= kBetweenDrawings) {
        size = now;
        draw(size);
        drawn = SteadyClock::now();
      }
      terminal_->wait(kScreenTurnMs);
      changed = take_keys(size);
    }
  }

  /// Copies what there is to see. Returns whether the screen goes on.
  bool take() {
    const std::scoped_lock lock(mutex_);
    if (seen_.version != shared_.version) {
      if (auto answer = std::exchange(shared_.answer, std::nullopt)) {
        view_.notice = *std::move(answer);
      }
      seen_ = shared_;
    }
    return !end_;
  }

  void draw(report::ScreenSize size) {
    if (seen_.status.iteration == 0) {
      return;  // the search has not begun yet
    }
    if (interrupt::requested()) {
      view_.notice = "interrupted: stopping";
    }
    report::LiveStatus now = seen_.status;
    now.elapsed_s += time_since(seen_.shown);
    now.phase_s += time_since(seen_.shown);
    now.own_processors = own_.latest();
    if (!view_.page.title.empty() && page_.text && page_columns_ != size.columns) {
      lay_out_page(size);
    }
    terminal_->draw(report::live_screen(now, view_, size, options_));
    drawn_version_ = seen_.version;
  }

  bool take_keys(report::ScreenSize size) {
    bool any = false;
    for (KeyPress press = terminal_->read(); press.key != Key::kNone; press = terminal_->read()) {
      any = true;
      const Reaction reaction = react(press, seen_.status, size, view_);
      if (reaction.page) {
        ask_for(*reaction.page);
      }
      if (reaction.wish) {
        const std::scoped_lock lock(mutex_);
        wishes_.push_back(*reaction.wish);
        view_.notice = reaction.wish->what == Wish::What::kQuit ? "stopping" : "";
      }
    }
    return any;
  }

  // ---- pages, which may have to read the recording: beside this thread

  void ask_for(Page page) {
    if (making_.valid()) {
      return;  // one at a time
    }
    const bool again = page == Page::kSlowOne && !view_.page.title.empty();
    asked_.nth = again ? asked_.nth + 1 : 0;
    asked_.page = page;
    if (!again) {
      const size_t at = report::selected_factor(seen_.status, view_);
      asked_.factor = seen_.status.factors.empty() ? "" : seen_.status.factors[at].id;
    }
    making_ = std::async(std::launch::async, [this, request = asked_, measured = seen_.measured] {
      return make_page(request, measured, session_, program_);
    });
    if (making_.wait_for(kAtOnce) != std::future_status::ready) {
      view_.notice = "reading the recording";
    }
  }

  /// Returns whether there is one.
  bool take_page() {
    if (!making_.valid() ||
        making_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      return false;
    }
    page_ = making_.get();
    view_.notice.clear();
    view_.page_top = 0;
    lay_out_page(terminal_->size());
    return true;
  }

  void lay_out_page(report::ScreenSize size) {
    report::TextOptions options = options_;
    options.width = static_cast<int>(std::clamp<size_t>(size.columns, 40, 200));
    view_.page.title = page_.title;
    view_.page.lines = report::wrapped_lines(page_.text(options), size.columns);
    page_columns_ = size.columns;
  }

  const Session& session_;
  const instrumenter::Program& program_;
  std::unique_ptr<ScreenTerminal> terminal_;
  report::TextOptions options_;

  std::mutex mutex_;  // of the next ones
  Shared shared_;
  std::vector<Wish> wishes_;
  std::vector<std::pair<std::string, bool>> said_;  // and whether it is a warning
  bool end_ = false;

  // Of the thread alone.
  Shared seen_;
  uint64_t drawn_version_ = 0;
  report::LiveView view_;
  PageText page_;
  size_t page_columns_ = 0;
  PageRequest asked_;
  std::future<PageText> making_;
  OwnProcessors own_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<LiveScreen> LiveScreen::open(const Session& session,
                                             const instrumenter::Program& program) {
  auto terminal = ScreenTerminal::open();
  if (terminal == nullptr) {
    return nullptr;
  }
  return std::make_unique<DrawnScreen>(session, program, std::move(terminal));
}

}  // namespace vprof::driver
