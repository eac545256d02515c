#include "program/program_json.h"

#include "vprof/support/files.h"
#include "vprof/support/json.h"

namespace vprof::instrumenter {

Result<Program> load_program(const std::string& path) {
  const auto text = VPROF_TRY(read_file(path));
  const json::Json document = parse_json(text);
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
  return write_file_atomic(path, json_text(json::write(program), -1));
}

}  // namespace vprof::instrumenter
