#include "rewrite/text/value_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace vprof::instrumenter {
namespace {

Result<std::string> parameter(const Value& value, const Function& f) {
  if (value.argument >= f.params.size()) {
    return fail("\"{}\": {} ({}:{}) has {} parameters, counted from arg:0", value.text, f.name,
                f.file, f.line, f.params.size());
  }
  const std::string& name = f.params[value.argument];
  if (name.empty()) {
    return fail("\"{}\": that parameter of {} ({}:{}) has no name; name it", value.text, f.name,
                f.file, f.line);
  }
  return name;
}

/// Adds one access of a member after the other to a text.
class Access {
 public:
  Access(const std::string& base, std::string name) : name_(std::move(name)) {
    out_.text = fmt::format("({})", base);
  }

  /// `access`: `->field`, `.field` or `[N]`.
  void add(const std::string& access) {
    if (access[0] == '-') {
      step("VPROF_STEP", "");
    } else if (access[0] == '[') {
      step("VPROF_STEP_AT", ", " + access.substr(1, access.size() - 2));
    }
    out_.text += access;
  }

  void dereference() {
    step("VPROF_STEP", "");
    out_.text = "*" + out_.text;
  }

  ValueText take() { return std::move(out_); }

 private:
  void step(const char* macro, const std::string& element) {
    const std::string found = fmt::format("{}{}", name_, ++steps_);
    out_.steps += fmt::format("{}{}({}, {}{})", out_.steps.empty() ? "" : " ", macro, found,
                              out_.text, element);
    out_.text = found;
    out_.ends += "}";
  }

  std::string name_;
  int steps_ = 0;
  ValueText out_;
};

ValueText accessed(const Value& value, const std::string& base, const std::string& name) {
  Access access(base, name);
  for (size_t begin = 0; begin < value.suffix.size();) {
    const size_t arrow = value.suffix[begin] == '-' ? 2 : 1;
    const size_t end =
        std::min(value.suffix.find_first_of("-.[", begin + arrow), value.suffix.size());
    access.add(value.suffix.substr(begin, end - begin));
    begin = end;
  }
  if (value.dereferenced) {
    access.dereference();
  }
  return access.take();
}

}  // namespace

std::string ValueText::or_else(const std::string& none) const {
  return is_plain() ? text : fmt::format("VPROF_VIA({}, {}, {}, {})", none, steps, text, ends);
}

ValueText returned_text(const Value& value, const std::string& result) {
  return accessed(value, result, "vprof_r");
}

Result<ValueText> value_text(const Value& value, const Function& f, const std::string& name) {
  switch (value.base) {
    case Value::Base::kThread:
      return ValueText{.steps = {}, .text = "VPROF_THREAD_KEY", .ends = {}};
    case Value::Base::kReturn:
      return fail("\"{}\" of {} is known only when it returns", value.text, f.name);
    case Value::Base::kThis:
      if (!f.is_method) {
        return fail("\"{}\": {} ({}:{}) is not a method", value.text, f.name, f.file, f.line);
      }
      return accessed(value, "this", name);
    case Value::Base::kArgument:
      break;
  }
  return accessed(value, VPROF_TRY(parameter(value, f)), name);
}

}  // namespace vprof::instrumenter
