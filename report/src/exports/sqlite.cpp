#include <sqlite3.h>

#include <cstdio>
#include <memory>

#include "exports/formats.h"
#include "exports/rows.h"
#include "vprof/report/exports.h"
#include "vprof/report/json.h"
#include "vprof/support/output.h"

namespace vprof::report {
namespace {

// Documented in docs/formats.md. The key of `times` keeps the rows of one place together.
constexpr const char* kTables = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE intervals (
  interval   INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  id         INTEGER NOT NULL,
  key        INTEGER NOT NULL,
  label      TEXT    NOT NULL,
  begin_ns   INTEGER NOT NULL,
  latency_ns INTEGER NOT NULL,
  trace_id   TEXT,
  span_id    TEXT);
CREATE TABLE places (
  place    INTEGER PRIMARY KEY,
  parent   INTEGER REFERENCES places,
  kind     TEXT    NOT NULL,
  function TEXT    NOT NULL,
  key      TEXT    NOT NULL,
  site     TEXT    NOT NULL,
  path     TEXT    NOT NULL);
CREATE TABLE times (
  place    INTEGER NOT NULL REFERENCES places,
  interval INTEGER NOT NULL REFERENCES intervals,
  ns       INTEGER NOT NULL,
  PRIMARY KEY (place, interval)) WITHOUT ROWID;
)";

using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

class SqliteWriter {
 public:
  explicit SqliteWriter(const std::string& file) : file_(file), replaces_(is_replaced(file)) {}
  ~SqliteWriter() { close(); }
  SqliteWriter(const SqliteWriter&) = delete;
  SqliteWriter& operator=(const SqliteWriter&) = delete;

  Result<void> begin() {
    if (!replaces_) {
      return file_.failed("a database needs a regular file");
    }
    std::remove(file_.path().c_str());  // from an export that was killed
    if (sqlite3_open(file_.path().c_str(), &db_) != SQLITE_OK) {
      return failed();
    }
    if (sqlite3_exec(db_, kTables, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return failed();
    }
    place_ = prepare("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?)");
    interval_ = prepare("INSERT INTO intervals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    time_ = prepare("INSERT INTO times VALUES (?, ?, ?)");
    if (!place_ || !interval_ || !time_) {
      return failed();
    }
    return {};
  }

  Result<void> add(const analyzer::PlaceRow& place) {
    bind(place_, 1, place.number);
    if (place.number == 0) {
      sqlite3_bind_null(place_.get(), 2);
    } else {
      bind(place_, 2, place.parent);
    }
    bind(place_, 3, word_for(place.kind));
    bind(place_, 4, place.function);
    bind(place_, 5, place.key);
    bind(place_, 6, place.location);
    bind(place_, 7, paths_.add(place));
    return run(place_);
  }

  Result<void> add(const analyzer::IntervalRow& row) {
    const int64_t number = ++intervals_;
    bind(interval_, 1, number);
    bind(interval_, 2, row.interval);
    bind(interval_, 3, static_cast<int64_t>(row.id));
    bind(interval_, 4, static_cast<int64_t>(row.key));
    bind(interval_, 5, row.label);
    bind(interval_, 6, row.begin_ns);
    bind(interval_, 7, static_cast<int64_t>(row.latency_ns));
    const std::string trace = row.trace.trace_id();
    const std::string span = row.trace.span_id();
    bind_or_null(interval_, 8, trace);
    bind_or_null(interval_, 9, span);
    VPROF_TRY(run(interval_));
    for (const analyzer::PlaceTime& time : row.times) {
      bind(time_, 1, time.place);
      bind(time_, 2, number);
      bind(time_, 3, static_cast<int64_t>(time.ns));
      VPROF_TRY(run(time_));
    }
    return {};
  }

  Result<void> finish() {
    constexpr const char* kEnd = "CREATE INDEX by_latency ON intervals (latency_ns); COMMIT;";
    if (sqlite3_exec(db_, kEnd, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return failed();
    }
    close();
    return file_.publish();
  }

 private:
  Statement prepare(const char* text) {
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v2(db_, text, -1, &made, nullptr);
    return {made, sqlite3_finalize};
  }

  static void bind(const Statement& statement, int column, int64_t value) {
    sqlite3_bind_int64(statement.get(), column, value);
  }
  /// SQLite keeps the pointer: the text must outlive the next run().
  static void bind(const Statement& statement, int column, std::string_view text) {
    sqlite3_bind_text(statement.get(), column, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
  }

  static void bind_or_null(const Statement& statement, int column, std::string_view text) {
    if (text.empty()) {
      sqlite3_bind_null(statement.get(), column);
    } else {
      bind(statement, column, text);
    }
  }

  Result<void> run(const Statement& statement) {
    if (sqlite3_step(statement.get()) != SQLITE_DONE) {
      return failed();
    }
    sqlite3_reset(statement.get());
    return {};
  }

  Result<void> failed() const { return file_.failed(sqlite3_errmsg(db_)); }

  void close() {
    for (Statement* statement : {&place_, &interval_, &time_}) {
      statement->reset();
    }
    sqlite3_close(db_);
    db_ = nullptr;
  }

  OutputDraft file_;
  const bool replaces_;
  sqlite3* db_ = nullptr;
  Statement place_{nullptr, sqlite3_finalize}, interval_{nullptr, sqlite3_finalize},
      time_{nullptr, sqlite3_finalize};
  PlacePaths paths_;
  int64_t intervals_ = 0;
};

}  // namespace

Result<std::string> write_sqlite(ExportSource& source, const std::string& file) {
  return export_rows(source, SqliteWriter(file));
}

}  // namespace vprof::report
