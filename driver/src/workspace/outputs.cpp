#include "workspace/outputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

/// The file behind a descriptor of a process (`/proc/PID/fd/N`); empty if it is not a regular one.
fs::path regular_file(const fs::path& descriptor) {
  struct stat status{};
  if (::stat(descriptor.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  std::error_code error;
  return fs::read_symlink(descriptor, error);
}

/// Whether `/proc/PID/fd/N` was opened for writing.
bool writes(const fs::path& descriptor) {
  const fs::path info = descriptor.parent_path().parent_path() / "fdinfo" / descriptor.filename();
  std::istringstream in(read_file(info).value_or(""));
  for (std::string key, value; in >> key >> value;) {
    if (key == "flags:") {
      return (std::stoul(value, nullptr, 8) & O_ACCMODE) != O_RDONLY;
    }
  }
  return false;
}

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> all;
  std::error_code error;
  fs::directory_iterator item(directory, error);
  for (; !error && item != fs::directory_iterator(); item.increment(error)) {
    all.push_back(item->path());
  }
  return all;
}

bool is_pipe(const fs::path& target) { return target.string().starts_with("pipe:"); }

using Paths = std::set<fs::path>;

/// What the descriptors of a process lead to: files and pipes that it writes, pipes that it reads.
struct Ends {
  Paths files, written_pipes, read_pipes;
};

Ends ends_of(const fs::path& process) {
  Ends ends;
  for (const fs::path& descriptor : entries_of(process / "fd")) {
    std::error_code error;
    const fs::path target = fs::read_symlink(descriptor, error);
    if (is_pipe(target)) {
      (writes(descriptor) ? ends.written_pipes : ends.read_pipes).insert(target);
    } else if (!regular_file(descriptor).empty() && writes(descriptor)) {
      ends.files.insert(target);
    }
  }
  return ends;
}

/// The files that the readers of these pipes (`pipe:[123]`) write, such as `tee`, perhaps behind
/// other programs.
Paths files_behind(const Paths& pipes) {
  std::vector<Ends> processes;
  for (const fs::path& process : entries_of("/proc")) {
    if (Ends ends = ends_of(process); !ends.read_pipes.empty()) {
      processes.push_back(std::move(ends));
    }
  }
  Paths files;
  Paths reached = pipes;
  for (bool more = true; more;) {  // ends: `reached` grows each time, and there are finitely many
    more = false;
    for (const Ends& ends : processes) {
      if (std::ranges::none_of(ends.read_pipes,
                               [&](const auto& p) { return reached.contains(p); })) {
        continue;
      }
      files.insert(ends.files.begin(), ends.files.end());
      for (const fs::path& pipe : ends.written_pipes) {
        more = reached.insert(pipe).second || more;
      }
    }
  }
  return files;
}

Paths own_outputs() {
  Paths files;
  Paths pipes;
  for (const char* descriptor : {"/proc/self/fd/1", "/proc/self/fd/2"}) {
    std::error_code error;
    const fs::path target = fs::read_symlink(descriptor, error);
    if (is_pipe(target)) {
      pipes.insert(target);
    } else if (const fs::path file = regular_file(descriptor); !file.empty()) {
      files.insert(file);
    }
  }
  if (!pipes.empty()) {
    files.merge(files_behind(pipes));
  }
  return files;
}

void remember(const Workspace& workspace, const fs::path& source, const Paths& files) {
  std::error_code error;
  if (!fs::is_directory(workspace.dot, error)) {
    return;
  }
  const fs::path tree = fs::weakly_canonical(source, error);
  std::set<std::string> all = outputs(workspace);
  const size_t before = all.size();
  for (const fs::path& file : files) {
    const fs::path relative = fs::weakly_canonical(file, error).lexically_relative(tree);
    if (!relative.empty() && *relative.begin() != "..") {
      all.insert(relative.string());
    }
  }
  if (all.size() != before) {
    // If it cannot be written, the worst is that the source seems to have changed.
    [[maybe_unused]] const auto done =
        write_file_atomic(workspace.outputs(), json_text(nlohmann::json(all)) + "\n");
  }
}

}  // namespace

void remember_outputs(const Workspace& workspace, const fs::path& source) {
  remember(workspace, source, own_outputs());
}

void remember_output(const Workspace& workspace, const fs::path& source, const fs::path& file) {
  remember(workspace, source, {fs::absolute(file)});
}

std::set<std::string> outputs(const Workspace& workspace) {
  std::set<std::string> all;
  const auto document = read_json(workspace.outputs());
  if (document && document->is_array()) {
    for (const auto& one : *document) {
      if (one.is_string()) {
        all.insert(one.get<std::string>());
      }
    }
  }
  return all;
}

}  // namespace vprof::driver
