// Names of declarations: for users, for the index, and for matching the types of pointers to
// functions.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include <string>

namespace vprof::instrumenter {

/// Clang's id of a declaration, equal in all units; empty where there is none.
std::string usr_of(const clang::Decl& decl);

/// The declaration that users know: the pattern of a template instead of its instantiation.
const clang::FunctionDecl& pattern_of(const clang::FunctionDecl& f);

/// The class of a lambda if `f` is its call operator, else nullptr.
const clang::CXXRecordDecl* lambda_class(const clang::FunctionDecl& f);

/// Qualified name as users write it. A lambda is `owner::lambda`; if there are several in one
/// function, or none around it, `owner::lambda:LINE`, or `owner::lambda:LINE:COLUMN` where one line
/// has two.
std::string name_of(const clang::FunctionDecl& f);

/// Qualified name without template arguments and inline namespaces: `std::function::operator=`.
std::string plain_name(const clang::NamedDecl& decl);

/// A function type as text that is equal in all units: canonical, without exception specification,
/// `int (?)` if the parameters are not declared (K&R). Empty for other types and for types that
/// depend on a template parameter.
std::string signature_of(clang::QualType function_type);

/// The function an expression names (`f`, `&f`, a captureless lambda), or nullptr.
const clang::FunctionDecl* named_function(const clang::Expr& expr);

}  // namespace vprof::instrumenter
