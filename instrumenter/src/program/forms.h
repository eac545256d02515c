// The rewriting rules: what each form of a call is called and what it inserts. program.h lists the
// forms, index/placement.cpp decides which one a call gets, and runtime/scope.h defines the macros.
#pragma once

#include <array>
#include <cstddef>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Text to insert contains the fields `{site}`, `{scope}` and `{slot}`, and `{twin}` where the form
/// has a variant for twins (rewrite/twins.h).
struct FormRule {
  Form form;
  const char* word;    ///< in index.json
  const char* rule;    ///< in sites.json and in the summary
  bool needs_slot;     ///< keeps its state in the frame object of the function around it
  bool must_be_alone;  ///< no other call of its full expression may be wrapped
  const char* before;
  const char* before_scope;  ///< where the callee begins with the function scope `{scope}`
  const char* after;
};

/// In the order of the enum.
inline constexpr auto kForms = std::to_array<FormRule>({
    {Form::kStatement, "statement", "statement", false, false,  //
     "{{ VPROF_{twin}SITE({site}); ", "{{ VPROF_{twin}CALL({site}, {scope}); ", " }}"},
    {Form::kExpression, "expression", "expression", false, false,  //
     "VPROF_{twin}EXPR({site}) ", "VPROF_{twin}CALL_EXPR({site}, {scope}) ", " VPROF_EXPR_END"},
    {Form::kLvalue, "lvalue", "expression", false, false,  //
     "VPROF_{twin}LVALUE({site}) ", "VPROF_{twin}LVALUE({site}) ", " VPROF_LVALUE_END"},
    {Form::kValue, "value", "comma", true, false,  //
     "VPROF_VALUE({slot},{site}) ", "VPROF_CALL_VALUE({slot},{site}, {scope}) ",
     " VPROF_VALUE_END({slot})"},
    {Form::kVoid, "void", "comma", true, false,  //
     "VPROF_VOID({slot},{site}) ", "VPROF_CALL_VOID({slot},{site}, {scope}) ",
     " VPROF_VOID_END({slot},{site})"},
    {Form::kGuard, "guard", "guard", false, true,  //
     "VPROF_GUARD({site}) ", "VPROF_CALL_GUARD({site}, {scope}) ", " VPROF_GUARD_END"},
    {Form::kRefused, "refused", "", false, false, "", "", ""},
});

constexpr bool forms_are_in_order() {
  for (size_t i = 0; i < kForms.size(); ++i) {
    if (kForms[i].form != static_cast<Form>(i)) {
      return false;
    }
  }
  return true;
}
static_assert(forms_are_in_order());

constexpr const FormRule& rule_of(Form form) { return kForms[static_cast<size_t>(form)]; }

}  // namespace vprof::instrumenter
