// What all databases of this example have in common.
#pragma once

#include <rocksdb/db.h>

#include <functional>
#include <string>
#include <string_view>

#include "store/controls.h"

namespace smf {

rocksdb::Options database_options();

// Throws std::runtime_error: nothing can be done about an I/O error but stop.
void require(const rocksdb::Status& status, const char* what);

// Calls `put` for each write of a key that RocksDB's log holds, in the order of the commits. The
// log is whole as long as the first memtable has not been flushed.
void for_each_logged_put(rocksdb::DB& db,
                         const std::function<void(std::string_view, std::string_view)>& put);

// Of a database whose keys are the rows.
VersionOrder logged_version_order(rocksdb::DB& db);
std::optional<Value> get_committed(rocksdb::DB& db, const std::string& key);

}  // namespace smf
