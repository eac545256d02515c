#include "program/program_json.h"

#include "vprof/support/files.h"

namespace vprof::instrumenter {

Result<Program> load_program(const std::string& path) {
  const auto text = VPROF_TRY(read_file(path));
  const json::Json document = json::Json::parse(text, nullptr, false);
  const auto schema = document.find("schema");
  if (schema == document.end()) {
    return fail("{}: not an index; run vprof index", path);
  }
  if (*schema != json::Object<Program>::kSchema) {
    return fail("{}: made by another version of vprof; run vprof index", path);
  }
  auto program = json::read<Program>(document);
  if (!program) {
    return fail("{}: not an index ({}); run vprof index", path, program.error().message);
  }
  program->finish();
  return program;
}

Result<void> save_program(const Program& program, const std::string& path) {
  // Source text may contain bytes that are not UTF-8 (old comments, spelled callees): they are
  // replaced, which never fails.
  constexpr auto kReplace = json::Json::error_handler_t::replace;
  return write_file_atomic(path, json::write(program).dump(-1, ' ', false, kReplace));
}

}  // namespace vprof::instrumenter
