#include "config/located_json.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace vprof::driver {

namespace {

using nlohmann::json;

/// No configuration has more levels. Paths of values are as long as they are deep.
constexpr int kDeepest = 100;

/// Input of the parser. Tells how far the parser has read, which its callbacks do not.
class TrackedInput {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedInput(const char* at, const char** reached) : at_(at), reached_(reached) {}

  reference operator*() const { return *at_; }
  TrackedInput& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  bool operator==(const TrackedInput& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedInput& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// Follows the parser from value to value and notes the line of each.
class LineRecorder {
 public:
  LineRecorder(const std::string& text, LocatedJson& result)
      : counted_(text.data()), reached_(text.data()), result_(result) {}

  const char** reached() { return &reached_; }

  void on(json::parse_event_t event, const json& parsed) {
    using Event = json::parse_event_t;
    switch (event) {
      case Event::key:
        return enter_key(parsed.get<std::string>());
      case Event::object_start:
      case Event::array_start:
        return begin(event == Event::array_start);
      case Event::object_end:
      case Event::array_end:
        open_.pop_back();
        return;
      case Event::value:
        enter_value();
        return;
    }
  }

 private:
  /// An object or a list that has begun and not ended.
  struct Container {
    bool is_list = false;
    std::string path;
    size_t next = 0;  // index of the next value of a list
    std::string key;  // path of the current value of an object
  };

  /// The line of the token that was read last. A number ends where another character begins, so the
  /// last character that was read may belong to the next line already.
  int line() {
    const char* last = std::max(counted_, reached_ - 1);
    line_ += static_cast<int>(std::count(counted_, last, '\n'));
    counted_ = last;
    return line_;
  }

  void enter_key(const std::string& key) {
    Container& object = open_.back();
    object.key = object.path + "/" + key;
    const bool is_new = result_.lines.insert_or_assign(object.key, line()).second;
    if (!is_new && result_.duplicate.empty()) {
      result_.duplicate = object.key;
    }
  }

  /// Returns the path of the value that begins or has just been read.
  std::string enter_value() {
    if (!open_.empty() && !open_.back().is_list) {
      return open_.back().key;
    }
    const std::string path =
        open_.empty() ? "" : open_.back().path + "/" + std::to_string(open_.back().next++);
    result_.lines.emplace(path, line());
    return path;
  }

  void begin(bool is_list) {
    std::string path = enter_value();
    open_.push_back({.is_list = is_list, .path = std::move(path), .next = 0, .key = ""});
  }

  const char* counted_;
  const char* reached_;
  int line_ = 1;
  std::vector<Container> open_;
  LocatedJson& result_;
};

/// The parser's own message without its preamble, after the position of the error.
std::string syntax_message(std::string_view text, size_t at, std::string what) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - before.rfind('\n');  // npos is -1: column 1 of line 1
  for (const std::string_view preamble_end : {"] ", " - "}) {
    const size_t end = what.find(preamble_end);
    what.erase(0, end == std::string::npos ? 0 : end + preamble_end.size());
  }
  std::replace(what.begin(), what.end(), '\n', ' ');
  return fmt::format("{}:{}: malformed JSON: {}", line, column, what);
}

}  // namespace

Result<LocatedJson> parse_located_json(const std::string& text) {
  LocatedJson result;
  LineRecorder recorder(text, result);
  bool too_deep = false;
  const auto on_event = [&](int depth, json::parse_event_t event, json& parsed) {
    too_deep = too_deep || depth > kDeepest;
    if (!too_deep) {
      recorder.on(event, parsed);
    }
    return !too_deep;
  };
  const char* end = text.data() + text.size();
  try {
    result.value = json::parse(TrackedInput(text.data(), recorder.reached()),
                               TrackedInput(end, recorder.reached()), on_event,
                               /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const json::parse_error& error) {
    return fail("{}", syntax_message(text, std::max<size_t>(error.byte, 1) - 1, error.what()));
  } catch (const json::out_of_range& error) {  // a number that no double can hold
    const auto read = static_cast<size_t>(*recorder.reached() - text.data());
    return fail("{}", syntax_message(text, read, error.what()));
  }
  if (too_deep) {
    return fail("{}", syntax_message(text, 0, fmt::format("more than {} levels deep", kDeepest)));
  }
  return result;
}

}  // namespace vprof::driver
