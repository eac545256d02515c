#include "index/parse_unit.h"

#include <clang/Basic/FileManager.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Driver/ToolChain.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/JSONCompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "index/ast_facts.h"
#include "index/unrepeatable_text.h"

namespace vprof::instrumenter {
namespace {

namespace fs = std::filesystem;

/// Paths of files relative to the root of the tree, computed once per file of a unit.
class TreePaths {
 public:
  explicit TreePaths(const std::string& root) : root_(root + "/") {}

  const std::string& operator()(const clang::FileEntry& file) {
    const auto [it, is_new] = known_.try_emplace(&file);
    if (is_new) {
      it->second = relative(file.tryGetRealPathName());
    }
    return it->second;
  }

  std::string absolute(llvm::StringRef name) const {
    std::error_code error;
    fs::path path = fs::weakly_canonical(name.str(), error);
    return error ? name.str() : path.string();
  }

 private:
  std::string relative(llvm::StringRef name) const {
    const std::string path = absolute(name);
    return path.compare(0, root_.size(), root_) == 0 ? path.substr(root_.size()) : "";
  }

  std::string root_;
  std::map<const clang::FileEntry*, std::string> known_;
};

class FactsConsumer : public clang::ASTConsumer {
 public:
  FactsConsumer(ParsedUnit& out, TreePaths& paths, clang::Preprocessor& preprocessor)
      : out_(out), paths_(paths) {
    unrepeatable_text_.watch(preprocessor);
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    std::set<std::string> deps;
    std::set<std::string> outside;
    const clang::SourceManager& sources = context.getSourceManager();
    for (auto it = sources.fileinfo_begin(); it != sources.fileinfo_end(); ++it) {
      const clang::FileEntry& file = it->first.getFileEntry();
      const std::string& path = paths_(file);
      if (path.empty()) {
        outside.insert(paths_.absolute(file.tryGetRealPathName()));
      } else {
        deps.insert(path);
      }
    }
    out_.unit.deps.assign(deps.begin(), deps.end());
    out_.outside.assign(outside.begin(), outside.end());
    if (context.getDiagnostics().hasUncompilableErrorOccurred()) {
      return;
    }
    UnitFacts facts = facts_of_unit(context, unrepeatable_text_,
                                    [this](const clang::FileEntry& f) { return paths_(f); });
    out_.functions = std::move(facts.functions);
    out_.unit.address_taken = std::move(facts.address_taken);
  }

 private:
  ParsedUnit& out_;
  TreePaths& paths_;
  UnrepeatableText unrepeatable_text_;
};

class FactsAction : public clang::ASTFrontendAction {
 public:
  FactsAction(ParsedUnit& out, TreePaths& paths) : out_(out), paths_(paths) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    return std::make_unique<FactsConsumer>(out_, paths_, compiler.getPreprocessor());
  }

 private:
  ParsedUnit& out_;
  TreePaths& paths_;
};

/// Keeps the first error as one line.
class FirstError : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error) {
      return;
    }
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    std::string line = text.str().str();
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::PresumedLoc place = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (place.isValid()) {
        line = fmt::format("{}:{}: {}", place.getFilename(), place.getLine(), line);
      }
    }
    if (message.empty()) {
      message = line;
    }
    const size_t quote = line.find('\'');
    if (line.find("unknown argument") != std::string::npos && quote != std::string::npos) {
      unknown_argument = line.substr(quote + 1, line.find('\'', quote + 1) - quote - 1);
    }
  }
  std::string message;
  std::string unknown_argument;
};

std::vector<std::string> syntax_only(const CompileCommand& command) {
  namespace tooling = clang::tooling;
  std::vector<std::string> arguments = command.arguments;
  for (const tooling::ArgumentsAdjuster& adjust :
       {tooling::getClangStripOutputAdjuster(), tooling::getClangStripDependencyFileAdjuster(),
        tooling::getStripPluginsAdjuster(), tooling::getClangSyntaxOnlyAdjuster()}) {
    arguments = adjust(arguments, command.file);
  }
  const bool cxx = !arguments.empty() &&
                   fs::path(arguments[0]).filename().string().find("++") != std::string::npos;
  if (arguments.empty()) {
    arguments.emplace_back();
  }
  arguments[0] = cxx ? "clang++" : "clang";
  // -w: warnings are up to the user's own compiler.
  const std::vector<std::string> ours{"-w", "-Wno-error", "-resource-dir",
                                      VPROF_CLANG_RESOURCE_DIR};
  arguments.insert(arguments.begin() + 1, ours.begin(), ours.end());
  return arguments;
}

/// GCC's own headers, which Clang's lack a few of (omp.h, quadmath.h): those of the installation
/// whose C++ library Clang uses. Empty if there is none.
std::string gcc_headers(const std::vector<std::string>& arguments) {
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs(), new clang::DiagnosticOptions(),
                                       new clang::IgnoringDiagConsumer());
  clang::driver::Driver driver("/usr/bin/clang", llvm::sys::getDefaultTargetTriple(), diagnostics);
  driver.setCheckInputsExist(false);
  std::vector<const char*> texts;
  texts.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    texts.push_back(argument.c_str());
  }
  const std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(texts));
  if (compilation == nullptr) {
    return "";
  }
  for (const std::string& path : compilation->getDefaultToolChain().getFilePaths()) {
    std::error_code error;
    const fs::path headers = fs::path(path) / "include";
    if (fs::exists(headers / "stddef.h", error)) {
      return fs::weakly_canonical(headers, error).string();
    }
  }
  return "";
}

/// A file that is currently rewritten, with its original text.
class OriginalFile : public llvm::vfs::File {
 public:
  OriginalFile(llvm::vfs::Status status, const std::string& text)
      : status_(std::move(status)), text_(text) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, int64_t,
                                                               bool, bool) override {
    return llvm::MemoryBuffer::getMemBuffer(text_, name.str());
  }
  std::error_code close() override { return {}; }

 private:
  llvm::vfs::Status status_;
  const std::string& text_;
};

/// The disk as it would be if nothing were rewritten. Files are identified by inode, because a
/// build may reach one through symbolic links (PostgreSQL does so for 100 files).
class OriginalsFileSystem : public llvm::vfs::ProxyFileSystem {
 public:
  explicit OriginalsFileSystem(const SourceTree& tree)
      : ProxyFileSystem(llvm::vfs::createPhysicalFileSystem()), tree_(tree) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    llvm::ErrorOr<llvm::vfs::Status> status = ProxyFileSystem::status(path);
    const std::string* text = status ? original(*status) : nullptr;
    if (text == nullptr) {
      return status;
    }
    return llvm::vfs::Status::copyWithNewSize(*status, text->size());
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    llvm::ErrorOr<llvm::vfs::Status> status = this->status(path);
    if (!status) {
      return status.getError();
    }
    if (const std::string* text = original(*status)) {
      return std::make_unique<OriginalFile>(*status, *text);
    }
    return ProxyFileSystem::openFileForRead(path);
  }

 private:
  const std::string* original(const llvm::vfs::Status& status) const {
    const llvm::sys::fs::UniqueID id = status.getUniqueID();
    const auto it = tree_.originals_by_inode.find({id.getDevice(), id.getFile()});
    return it == tree_.originals_by_inode.end() ? nullptr : it->second;
  }

  const SourceTree& tree_;
};

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system(const CompileCommand& command,
                                                            const SourceTree& tree) {
  // One per unit, because each has a working directory of its own.
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files;
  if (tree.originals.empty()) {
    files = llvm::vfs::createPhysicalFileSystem();
  } else {
    files = new OriginalsFileSystem(tree);
  }
  // If the directory is gone, the main file is not found either, and that is the error users see.
  std::ignore = files->setCurrentWorkingDirectory(command.directory);
  return files;
}

}  // namespace

ParsedUnit parse_unit(const CompileCommand& command, const SourceTree& tree) {
  std::vector<std::string> arguments = syntax_only(command);
  std::error_code error;
  const fs::path file = fs::weakly_canonical(fs::path(command.directory) / command.file, error);
  const std::string name = fs::path(file).lexically_proximate(tree.root).string();
  std::string gcc;  // headers, once they are needed
  for (;;) {
    ParsedUnit out;
    out.unit.file = name;
    TreePaths paths(tree.root);
    FirstError errors;
    llvm::IntrusiveRefCntPtr<clang::FileManager> files(
        new clang::FileManager(clang::FileSystemOptions(), file_system(command, tree)));
    clang::tooling::ToolInvocation invocation(arguments, std::make_unique<FactsAction>(out, paths),
                                              files.get());
    invocation.setDiagnosticConsumer(&errors);
    if (invocation.run()) {
      return out;
    }
    // GCC has options that Clang does not know. None of them changes the facts we need.
    const auto unknown = std::find(arguments.begin(), arguments.end(), errors.unknown_argument);
    if (!errors.unknown_argument.empty() && unknown != arguments.end()) {
      arguments.erase(unknown);
      continue;
    }
    constexpr const char* kBehindAll = "-idirafter";
    const bool header_missing = errors.message.find("file not found") != std::string::npos;
    if (header_missing && std::ranges::find(arguments, kBehindAll + gcc) == arguments.end()) {
      gcc = gcc_headers(arguments);
      if (!gcc.empty()) {
        // omp.h names the function that frees what another one allocates, as only GCC allows.
        const std::vector<std::string> added{kBehindAll + gcc, "-D__malloc__(...)=__malloc__"};
        arguments.insert(arguments.begin() + 1, added.begin(), added.end());
        continue;
      }
    }
    out.functions.clear();
    out.unit.error = errors.message.empty() ? "Clang could not parse it" : errors.message;
    return out;
  }
}

Result<std::vector<CompileCommand>> read_compile_commands(const std::string& path) {
  std::string message;
  const auto database = clang::tooling::JSONCompilationDatabase::loadFromFile(
      path, message, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (database == nullptr) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    return fail("{}: not a compilation database: {}", path, message);
  }
  std::vector<CompileCommand> commands;
  for (const clang::tooling::CompileCommand& c : database->getAllCompileCommands()) {
    commands.push_back({c.Directory, c.Filename, c.CommandLine});
  }
  return commands;
}

}  // namespace vprof::instrumenter
