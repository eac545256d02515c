// Why a call or a function is not measured in place. The text of a reason is also its name in
// index.json, sites.json and the summary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vprof::instrumenter {

enum class Reason : uint8_t {
  kNone,
  // Left alone by rule: measuring these would reveal nothing.
  kTrivial,
  kDemoted,
  kExcluded,
  kCheapLibraryCall,
  kCallersFrame,
  kConstexprCallee,
  kAwaited,
  kInSmallHelper,
  kIncludedText,
  // Left alone by rule: calls without a text of their own. Where the callee is in the tree, they
  // are measured at its entry.
  kConstruction,
  kDestruction,
  kRangeFor,
  kConversion,
  kArrow,
  kLiteral,
  // Calls that should be measured and cannot be.
  kCompoundLiteral,
  kLabel,
  kComputedGoto,
  kSuspensionPoint,
  kHoldsCallersFrame,
  kMacroFragment,
  kMacroNotExpression,
  kMacroArray,
  kMacroNoAddress,
  kScattered,
  kOutsideTree,
  kAsmOperand,
  kConstructorInitialiser,
  kFunctionTryHandler,
  kParallelRegion,
  kDependentType,
  kClassByValue,
  kScalarXvalue,
  kFunctionOrBitField,
  kGuardNotAlone,
  kOverlap,
  kUnitsDisagree,
  kInRefusedFunction,
  // Functions in which no scope can be inserted.
  kSuspensionInMacro,
  kConstexpr,
  kNaked,
  kGuaranteedTailCall,
  kNoInstrument,
  kNoBlock,
  kBodyFromMacro,
  kSeveralFiles,
};

struct ReasonText {
  Reason reason;
  bool by_rule;  ///< a rule leaves the call alone; else it should be measured and cannot be
  const char* text;
};

/// In the order of the enum.
inline constexpr auto kReasons = std::to_array<ReasonText>({
    {Reason::kNone, false, ""},
    {Reason::kTrivial, true, "trivial callee: measuring it would distort more than it reveals"},
    {Reason::kDemoted, true, "demoted: called often, so left out of the plan"},
    {Reason::kExcluded, true, "excluded by the configuration"},
    {Reason::kCheapLibraryCall, true, "library function cheaper than reading the clock"},
    {Reason::kCallersFrame, true, "needs its caller's frame"},
    {Reason::kConstexprCallee, true, "constexpr callee"},
    {Reason::kAwaited, true, "operand of a co_await, which is measured as such"},
    {Reason::kInSmallHelper, true, "in a small helper, which the armed program leaves alone"},
    {Reason::kIncludedText, true, "in a text that is included within a function"},
    {Reason::kConstruction, true, "construction by a constructor outside the source tree"},
    {Reason::kDestruction, true, "destruction by a destructor outside the source tree"},
    {Reason::kRangeFor, true, "call that a range-for makes"},
    {Reason::kConversion, true, "implicit conversion"},
    {Reason::kArrow, true, "operator->"},
    {Reason::kLiteral, true, "user-defined literal"},
    {Reason::kCompoundLiteral, false,
     "an argument contains a compound literal, which would die too early"},
    {Reason::kLabel, false, "contains a label"},
    {Reason::kComputedGoto, false, "contains a computed goto"},
    {Reason::kSuspensionPoint, false, "contains a suspension point"},
    {Reason::kHoldsCallersFrame, false, "contains a call that needs its caller's frame"},
    {Reason::kMacroFragment, false, "inside a macro that is neither an expression nor a statement"},
    {Reason::kMacroNotExpression, false, "inside a macro that is not an expression"},
    {Reason::kMacroArray, false, "the macro is an array"},
    {Reason::kMacroNoAddress, false, "the macro has no address"},
    {Reason::kScattered, false, "its text is not in one piece"},
    {Reason::kOutsideTree, false, "its text is outside the source tree"},
    {Reason::kAsmOperand, false, "operand of an asm statement"},
    {Reason::kConstructorInitialiser, false, "in a constructor's initialiser list"},
    {Reason::kFunctionTryHandler, false, "in the handler of a function try block"},
    {Reason::kParallelRegion, false, "in an OpenMP region, which several threads may run"},
    {Reason::kDependentType, false, "its type depends on a template parameter"},
    {Reason::kClassByValue, false, "returns a class by value before C++17"},
    {Reason::kScalarXvalue, false, "returns an rvalue reference to a scalar"},
    {Reason::kFunctionOrBitField, false, "yields a function or a bit-field"},
    {Reason::kGuardNotAlone, false,
     "returns a class by value in an expression with other measured calls"},
    {Reason::kOverlap, false, "overlaps another measured text"},
    {Reason::kUnitsDisagree, false, "units that include it read this text differently"},
    {Reason::kInRefusedFunction, false, "in a function that cannot be instrumented"},
    {Reason::kSuspensionInMacro, false, "coroutine with a suspension point inside a macro"},
    {Reason::kConstexpr, false, "constexpr"},
    {Reason::kNaked, false, "naked function"},
    {Reason::kGuaranteedTailCall, false, "its tail call is guaranteed (musttail)"},
    {Reason::kNoInstrument, false, "no_instrument_function"},
    {Reason::kNoBlock, false, "its body is not a block"},
    {Reason::kBodyFromMacro, false, "its body comes from a macro"},
    {Reason::kSeveralFiles, false, "spread over several files"},
});

constexpr bool reasons_are_in_order() {
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if (kReasons[i].reason != static_cast<Reason>(i)) {
      return false;
    }
  }
  return true;
}
static_assert(reasons_are_in_order());

constexpr const char* text_of(Reason reason) { return kReasons[static_cast<size_t>(reason)].text; }

constexpr bool is_by_rule(Reason reason) { return kReasons[static_cast<size_t>(reason)].by_rule; }

}  // namespace vprof::instrumenter
