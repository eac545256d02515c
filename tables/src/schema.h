// The tables and their columns, as docs/tables.md has them.
#pragma once

#include <array>
#include <span>

#include "parquet_file.h"

namespace vprof::tables {

struct Table {
  const char* name;
  std::span<const Column> columns;
};

inline constexpr int32_t kSchema = 1;

namespace columns {

using enum ColumnType;

inline constexpr std::array kRecordings = {Column{"recording", kText},
                                           Column{"schema", kInt32},
                                           Column{"name", kText},
                                           Column{"program", kText},
                                           Column{"version", kText},
                                           Column{"vprof", kText},
                                           Column{"run_ns", kInt64},
                                           Column{"begin", kTimestamp},
                                           Column{"end", kTimestamp},
                                           Column{"exported", kTimestamp},
                                           Column{"intervals", kInt64},
                                           Column{"incomplete", kInt64},
                                           Column{"left_out", kInt64},
                                           Column{"batch_shift", kInt32},
                                           Column{"root_height", kInt32},
                                           Column{"dropped", kInt64},
                                           Column{"torn", kInt64},
                                           Column{"unreadable_bytes", kInt64},
                                           Column{"unknown_waits", kInt64},
                                           Column{"outside_waits", kInt64},
                                           Column{"inferred_edges", kInt64},
                                           Column{"exact_edges", kInt64},
                                           Column{"records", kInt64}};

inline constexpr std::array kPlaces = {
    Column{"recording", kText}, Column{"place", kInt32},     Column{"parent", kInt32, true},
    Column{"kind", kText},      Column{"blamed", kBool},     Column{"function", kText},
    Column{"key", kText},       Column{"file", kText},       Column{"line", kInt32, true},
    Column{"site", kText},      Column{"position", kText},   Column{"path", kText},
    Column{"height", kInt32},   Column{"expandable", kBool}, Column{"expanded", kBool}};

inline constexpr std::array kIntervals = {Column{"recording", kText},
                                          Column{"interval", kInt64, false, true},
                                          Column{"name", kText},
                                          Column{"program", kText},
                                          Column{"version", kText},
                                          Column{"process", kInt32},
                                          Column{"label", kText},
                                          Column{"key", kInt64},
                                          Column{"id", kInt64, false, true},
                                          Column{"begin", kTimestamp, false, true},
                                          Column{"latency_ns", kInt64},
                                          Column{"work", kInt64, true},
                                          Column{"trace_id", kText, true},
                                          Column{"span_id", kText, true},
                                          Column{"weight", kInt64}};

inline constexpr std::array kTimes = {
    Column{"recording", kText}, Column{"name", kText},      Column{"interval", kInt64, false, true},
    Column{"place", kInt32},    Column{"total_ns", kInt64}, Column{"self_ns", kInt64},
    Column{"wait_ns", kInt64},  Column{"blame_ns", kInt64}};

inline constexpr std::array kSums = {
    Column{"recording", kText}, Column{"name", kText},        Column{"batch", kInt64},
    Column{"place", kInt32},    Column{"label", kText, true}, Column{"begin", kTimestamp},
    Column{"end", kTimestamp},  Column{"n", kInt64},          Column{"count", kInt64},
    Column{"x", kDecimal},      Column{"xx", kDecimal},       Column{"xt", kDecimal},
    Column{"w", kDecimal},      Column{"ww", kDecimal},       Column{"xw", kDecimal}};

inline constexpr std::array kProducts = {Column{"recording", kText}, Column{"name", kText},
                                         Column{"batch", kInt64},    Column{"a", kInt32},
                                         Column{"b", kInt32},        Column{"xy", kDecimal}};

inline constexpr std::array kBins = {Column{"recording", kText}, Column{"name", kText},
                                     Column{"place", kInt32}, Column{"bin", kInt32},
                                     Column{"x", kDecimal}};

inline constexpr std::array kLatencies = {Column{"recording", kText},   Column{"name", kText},
                                          Column{"label", kText, true}, Column{"bucket", kInt32},
                                          Column{"n", kInt64},          Column{"least_ns", kInt64},
                                          Column{"greatest_ns", kInt64}};

}  // namespace columns

inline constexpr Table kIntervals{"intervals", columns::kIntervals};
inline constexpr Table kTimes{"times", columns::kTimes};
inline constexpr Table kPlaces{"places", columns::kPlaces};
inline constexpr Table kSums{"sums", columns::kSums};
inline constexpr Table kProducts{"products", columns::kProducts};
inline constexpr Table kBins{"bins", columns::kBins};
inline constexpr Table kLatencies{"latencies", columns::kLatencies};
inline constexpr Table kRecordings{"recordings", columns::kRecordings};

/// In the order of publication: with its row in the last one, a recording counts.
inline constexpr std::array kTables = {&kIntervals, &kTimes, &kPlaces,    &kSums,
                                       &kProducts,  &kBins,  &kLatencies, &kRecordings};

}  // namespace vprof::tables
