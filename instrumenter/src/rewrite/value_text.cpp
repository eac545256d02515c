#include "rewrite/value_text.h"

#include <fmt/format.h>

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

}  // namespace

Result<std::string> value_text(const Value& value, const Function& f) {
  const auto with_access = [&](const std::string& base) {
    return fmt::format("{}({}){}", value.dereferenced ? "*" : "", base, value.suffix);
  };
  switch (value.base) {
    case Value::Base::kThread:
      return "VPROF_THREAD_KEY";
    case Value::Base::kReturn:
      return fail("\"{}\" of {} is known only when it returns", value.text, f.name);
    case Value::Base::kThis:
      if (!f.is_method) {
        return fail("\"{}\": {} ({}:{}) is not a method", value.text, f.name, f.file, f.line);
      }
      return with_access("this");
    case Value::Base::kArgument:
      break;
  }
  return with_access(VPROF_TRY(parameter(value, f)));
}

}  // namespace vprof::instrumenter
