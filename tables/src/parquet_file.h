// One Parquet file, row by row. The only room that includes Apache Arrow is the .cpp beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vprof/support/files.h"

namespace vprof::tables {

enum class ColumnType : uint8_t { kText, kBool, kInt32, kInt64, kTimestamp, kDecimal };

struct Column {
  const char* name;
  ColumnType type;
  bool nullable = false;
  /// Neighbours are close together: their differences are stored.
  bool close_together = false;
};

/// In ns of CLOCK_REALTIME; stored in µs.
struct Timestamp {
  int64_t ns;
};

/// Rows are kept in memory until there are enough for a part of the file. What fails is reported by
/// the next full row or by close().
class ParquetFile {
 public:
  static Result<std::unique_ptr<ParquetFile>> create(const fs::path& path,
                                                     std::span<const Column> columns);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  /// A row: one value per column, in their order.
  template <class... Values>
  Result<void> append(const Values&... values) {
    size_t column = 0;
    (put(column++, values), ...);
    return end_row(column);
  }
  Result<void> close();

 private:
  using Decimal = unsigned __int128;
  class Writer;

  explicit ParquetFile(std::unique_ptr<Writer> writer);

  void put(size_t column, std::string_view text);
  void put(size_t column, const std::string& text) { put(column, std::string_view(text)); }
  void put(size_t column, const char* text) { put(column, std::string_view(text)); }
  void put(size_t column, bool value);
  void put(size_t column, int32_t value);
  void put(size_t column, int64_t value);
  /// From 2^63 on it is negative.
  void put(size_t column, uint64_t value) { put(column, static_cast<int64_t>(value)); }
  void put(size_t column, Timestamp time);
  void put(size_t column, Decimal sum);
  void put_null(size_t column);
  template <class T>
  void put(size_t column, const std::optional<T>& value) {
    value ? put(column, *value) : put_null(column);
  }
  Result<void> end_row(size_t columns);

  std::unique_ptr<Writer> writer_;
};

}  // namespace vprof::tables
