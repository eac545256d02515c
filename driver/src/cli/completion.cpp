// Shell completion for bash and zsh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

bool takes_function(const VerbText& verb) {
  return std::ranges::any_of(verb.options, &OptionText::is_function);
}

std::string zsh_option(const OptionText& option, const std::string& name) {
  const char* values = option.is_function() ? "_vprof_functions" : "_files";
  const std::string value = option.value.empty() ? "" : fmt::format(":{}:{}", option.value, values);
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
    cases += fmt::format("    {}) words=\"{}\"{} ;;\n", verb.name,
                         fmt::join(names_of(verb.options), " "),
                         takes_function(verb) ? " functions=1" : "");
  }
  return fmt::format(R"bash(# Completion of vprof for bash; written by `vprof completion bash`.
_vprof() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} verb= words= functions= before= where=() i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      -C | --config) where+=("${{COMP_WORDS[i]}}" "${{COMP_WORDS[i + 1]}}"); ((i++)) ;;
      --) [[ -n $verb ]] && {{ COMPREPLY=($(compgen -f -- "$cur")); return; }} ;;
      -*) ;;
      *) [[ -n $verb ]] || verb=${{COMP_WORDS[i]}} ;;
    esac
  done
  case $verb in
    "") words="{}" ;;
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ -n $verb && $cur != -* ]] || return
  COMPREPLY=($(compgen -f -- "$cur"))
  [[ -n $functions ]] || return
  # Bash takes a colon for the end of a word, so the name may be in several.
  [[ $cur == : || $cur == :: ]] && before=$cur cur=
  for ((i = COMP_CWORD - 1; i > 1; i--)); do
    [[ ${{COMP_WORDS[i]}} == : || ${{COMP_WORDS[i]}} == :: || $before == :* ]] || break
    before=${{COMP_WORDS[i]}}$before
  done
  local IFS=$'\n' name
  for name in $("${{COMP_WORDS[0]}}" "${{where[@]}}" graph --names -- "$before$cur" 2>/dev/null); do
    COMPREPLY+=("${{name#"$before"}}")
  done
}}
complete -o filenames -F _vprof vprof
)bash",
                     fmt::join(first, " "), cases);
}

std::string zsh_completion(const CommandText& command) {
  std::string verbs;
  std::string cases;
  for (const VerbText& verb : command.verbs) {
    verbs += fmt::format("    '{}:{}'\n", verb.name, quoted(verb.help));
    const bool function = takes_function(verb);
    cases += fmt::format("        {}) _arguments{} \\\n          {}'*:file:_files' ;;\n", verb.name,
                         zsh_options(verb.options, "          "),
                         function ? "'1:function:_vprof_functions' " : "");
  }
  return fmt::format(R"zsh(#compdef vprof
# Completion of vprof for zsh; written by `vprof completion zsh`.
_vprof_functions() {{
  local -a where names
  where=(${{(kv)opt_args[(I)-C|--config]}})
  names=(${{(f)"$(_call_program functions vprof $where graph --names -- ${{(q)PREFIX}})"}})
  _wanted functions expl function compadd -a names
}}
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
)zsh",
                     verbs, zsh_options(command.options, "    "), cases);
}

}  // namespace vprof::driver
