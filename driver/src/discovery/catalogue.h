// The catalogue: ready configurations of well-known programs, one file each. They are data
// (catalogue/*.json, installed as share/vprof/catalogue). A file is a vprof.json that begins with
//
//   // redis, valkey: a command, from when it is read to when its reply is written.
//
// the names by which it is found, and what its intervals are.
#pragma once

#include <string>
#include <vector>

#include "discovery/scan/source_scan.h"
#include "vprof/support/files.h"
#include "vprof/support/result.h"

namespace vprof::driver {

struct CatalogueEntry {
  std::vector<std::string> names;      ///< the first one is that of the file
  std::string summary;                 ///< what its intervals are
  std::string text;                    ///< the file
  std::vector<std::string> functions;  ///< those that it names, sorted
};

/// All entries of a directory, by name. Error: a file that cannot be read or has no first line as
/// above.
Result<std::vector<CatalogueEntry>> load_catalogue(const fs::path& directory);

/// One line for each entry: its names and its summary.
std::vector<std::string> described(const std::vector<CatalogueEntry>& catalogue);

/// Error: there is no such entry; names all.
Result<CatalogueEntry> find_entry(const std::vector<CatalogueEntry>& catalogue,
                                  const std::string& name);

/// The functions of an entry that a source does not have.
std::vector<std::string> missing_functions(const CatalogueEntry& entry,
                                           const ScannedSource& source);

/// The entry that a source is evidently the program of: it has all its functions, and those are
/// several and not in a library that the source contains. Null: none, or more than one.
const CatalogueEntry* entry_of(const std::vector<CatalogueEntry>& catalogue,
                               const ScannedSource& source);

/// The text of an entry with one more member at its beginning, such as `  "$schema": "...",\n`.
std::string with_member(const CatalogueEntry& entry, const std::string& member);

}  // namespace vprof::driver
