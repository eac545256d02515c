// The functions that a body calls, passes on and stores, from its tokens.
#pragma once

#include "discovery/scan/source_scan.h"
#include "discovery/scan/source_tokens.h"

namespace vprof::driver {

using Tokens = std::vector<Token>;

constexpr size_t kNoToken = SIZE_MAX;

inline bool is(const Token& token, std::string_view text) { return token.text == text; }

bool is_keyword(std::string_view text);

/// For each opening bracket, the index of its closing bracket; kNoToken for all other tokens.
std::vector<size_t> partners(const Tokens& tokens);

/// Adds what the tokens from `begin` to `end` call to `function`, and what they pass on to `into`.
void scan_body(const Tokens& tokens, const std::vector<size_t>& partner, size_t begin, size_t end,
               ScannedSource& into, ScannedFunction& function);

}  // namespace vprof::driver
