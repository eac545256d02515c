// Shell completion for bash and zsh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_text.h"

namespace vprof::driver {

namespace {

std::vector<std::string> names_of(const std::vector<OptionText>& options) {
  std::vector<std::string> names;
  for (const OptionText& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

/// Escapes text for single quotes in a shell, inside `[...]` of zsh.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':') {
        safe += '\\';
      }
      safe += c;
    }
  }
  return safe;
}

std::string zsh_option(const OptionText& option, const std::string& name) {
  const std::string value = option.value.empty() ? "" : fmt::format(":{}:_files", option.value);
  return fmt::format("'{}[{}]{}'", name, quoted(option.help), value);
}

std::string zsh_options(const std::vector<OptionText>& options, const std::string& indent) {
  std::string text;
  for (const OptionText& option : options) {
    for (const std::string& name : option.names) {
      text += fmt::format(" \\\n{}{}", indent, zsh_option(option, name));
    }
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandText& command) {
  std::vector<std::string> first = names_of(command.options);
  std::string cases;
  for (const VerbText& verb : command.verbs) {
    first.push_back(verb.name);
    cases +=
        fmt::format("    {}) words=\"{}\" ;;\n", verb.name, fmt::join(names_of(verb.options), " "));
  }
  return fmt::format(R"(# Completion of vprof for bash; written by `vprof completion bash`.
_vprof() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} verb= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      -C | --config) ((i++)) ;;
      -*) ;;
      *) verb=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $verb in
    "") words="{}" ;;
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n $verb && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}}
complete -o filenames -F _vprof vprof
)",
                     fmt::join(first, " "), cases);
}

std::string zsh_completion(const CommandText& command) {
  std::string verbs;
  std::string cases;
  for (const VerbText& verb : command.verbs) {
    verbs += fmt::format("    '{}:{}'\n", verb.name, quoted(verb.help));
    cases += fmt::format("        {}) _arguments{} \\\n          '*:file:_files' ;;\n", verb.name,
                         zsh_options(verb.options, "          "));
  }
  return fmt::format(R"(#compdef vprof
# Completion of vprof for zsh; written by `vprof completion zsh`.
_vprof() {{
  local -a verbs
  verbs=(
{}  )
  local state
  _arguments -C{} \
    '1: :->verb' '*:: :->rest'
  case $state in
    verb) _describe verb verbs ;;
    rest)
      case $words[1] in
{}      esac ;;
  esac
}}
_vprof "$@"
)",
                     verbs, zsh_options(command.options, "    "), cases);
}

}  // namespace vprof::driver
