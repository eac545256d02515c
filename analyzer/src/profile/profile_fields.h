// The structs of a profile file, each described once; writing and reading both follow from the
// description. (vprof/support/json_fields.h describes objects with words for enums. Profiles also
// have structs as lists, 128-bit numbers, and enums as numbers.)
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "profile/packed_numbers.h"
#include "statistics/interval_sums.h"

namespace vprof::analyzer {

using Json = nlohmann::json;

/// A struct that is written as a list: specialise with a tuple `kMembers` of pointers to members.
/// Members from index `kOptional` on keep their default in files of earlier versions.
template <class T>
struct ListStruct;
/// A struct that is written as an object: specialise with a tuple `kMembers` of NamedMember.
template <class T>
struct ObjectStruct;

template <class T, class Member>
struct NamedMember {
  const char* name;
  Member T::* member;
};

template <>
struct ListStruct<Losses> {
  static constexpr std::tuple kMembers{
      &Losses::dropped,       &Losses::torn,          &Losses::unreadable_bytes,
      &Losses::unknown_waits, &Losses::outside_waits, &Losses::inferred_edges,
      &Losses::exact_edges,   &Losses::notes,         &Losses::set_up_intervals,
      &Losses::set_up_ns,     &Losses::given_up,      &Losses::violations};
  static constexpr size_t kOptional = 8;
};
template <>
struct ListStruct<Overhead> {
  static constexpr std::tuple kMembers{
      &Overhead::records,        &Overhead::dropped,    &Overhead::chunks,
      &Overhead::stalls,         &Overhead::record_ns,  &Overhead::threads,
      &Overhead::processor_ns,   &Overhead::helper_ns,  &Overhead::thread,
      &Overhead::thread_records, &Overhead::thread_ns,  &Overhead::thread_passed_ns,
      &Overhead::waits,          &Overhead::run_ns,     &Overhead::working_threads,
      &Overhead::working_ns,     &Overhead::present_ns, &Overhead::calls_ns,
      &Overhead::timed_calls,    &Overhead::process_ns};
  static constexpr size_t kOptional = 5;
};
/// Without the waits, which are buckets.
template <>
struct ListStruct<LoopQueueSums> {
  static constexpr std::tuple kMembers{&LoopQueueSums::waited, &LoopQueueSums::ns,
                                       &LoopQueueSums::latency};
};
template <>
struct ListStruct<LatencySums> {
  static constexpr std::tuple kMembers{&LatencySums::n, &LatencySums::x, &LatencySums::xx};
};
/// Without the calls by site.
template <>
struct ListStruct<RecordSums> {
  static constexpr std::tuple kMembers{&RecordSums::latencies, &RecordSums::records};
};
template <>
struct ListStruct<Histogram::Bucket> {
  static constexpr std::tuple kMembers{&Histogram::Bucket::count, &Histogram::Bucket::least,
                                       &Histogram::Bucket::greatest};
};
/// Without the leaves, which are packed, and the ids, which are a list of their own.
template <>
struct ListStruct<SampledInterval> {
  static constexpr std::tuple kMembers{&SampledInterval::latency, &SampledInterval::key,
                                       &SampledInterval::label, &SampledInterval::run,
                                       &SampledInterval::begin};
};
/// Without the rank, which follows from the order of the places.
template <>
struct ObjectStruct<Place> {
  static constexpr std::tuple kMembers{
      NamedMember{"kind", &Place::kind},        NamedMember{"blamed", &Place::blamed},
      NamedMember{"parent", &Place::parent},    NamedMember{"name", &Place::name},
      NamedMember{"key", &Place::key},          NamedMember{"where", &Place::position},
      NamedMember{"site", &Place::location},    NamedMember{"definition", &Place::definition},
      NamedMember{"height", &Place::height},    NamedMember{"expandable", &Place::expandable},
      NamedMember{"expanded", &Place::expanded}};
};
/// Without the sums by place, which are packed.
template <>
struct ObjectStruct<CovariateSums> {
  static constexpr std::tuple kMembers{NamedMember{"declared", &CovariateSums::declared},
                                       NamedMember{"w", &CovariateSums::w},
                                       NamedMember{"ww", &CovariateSums::ww}};
};
template <>
struct ObjectStruct<BatchSums> {
  static constexpr std::tuple kMembers{NamedMember{"n", &BatchSums::n},
                                       NamedMember{"from", &BatchSums::first_begin},
                                       NamedMember{"to", &BatchSums::last_begin}};
};
template <>
struct ObjectStruct<Batch> {
  static constexpr std::tuple kMembers{NamedMember{"run", &Batch::run},
                                       NamedMember{"order", &Batch::order}};
};
template <>
struct ObjectStruct<IntervalSums> {
  static constexpr std::tuple kMembers{NamedMember{"interval", &IntervalSums::interval},
                                       NamedMember{"incomplete", &IntervalSums::incomplete},
                                       NamedMember{"root_height", &IntervalSums::root_height},
                                       NamedMember{"losses", &IntervalSums::losses},
                                       NamedMember{"overhead", &IntervalSums::overhead},
                                       NamedMember{"labels", &IntervalSums::labels}};
};
template <>
struct PackedStruct<NodeSums> {
  static constexpr std::tuple kMembers{&NodeSums::count, &NodeSums::x, &NodeSums::xx,
                                       &NodeSums::xt};
};
template <>
struct PackedStruct<PlaceExemplar> {
  static constexpr std::tuple kMembers{&PlaceExemplar::ns, &PlaceExemplar::latency,
                                       &PlaceExemplar::key, &PlaceExemplar::id};
};

template <>
struct PackedStruct<TraceContext> {
  static constexpr std::tuple kMembers{&TraceContext::high, &TraceContext::low,
                                       &TraceContext::span};
};

template <class T>
concept WrittenAsList = requires { ListStruct<T>::kMembers; };
template <class T>
concept HasOptionalMembers = requires { ListStruct<T>::kOptional; };
template <class T>
concept WrittenAsObject = requires { ObjectStruct<T>::kMembers; };

template <class T>
Json encode(const T& value);

template <WrittenAsList T>
void append_members(Json::array_t& list, const T& value) {
  std::apply([&](auto... member) { (list.push_back(encode(value.*member)), ...); },
             ListStruct<T>::kMembers);
}

template <class T>
Json encode(const T& value) {
  if constexpr (WrittenAsList<T>) {
    Json::array_t list;
    append_members(list, value);
    return list;
  } else if constexpr (WrittenAsObject<T>) {
    Json object = Json::object();
    std::apply([&](auto... field) { ((object[field.name] = encode(value.*field.member)), ...); },
               ObjectStruct<T>::kMembers);
    return object;
  } else if constexpr (std::is_same_v<T, UInt128>) {
    return Json::array({static_cast<uint64_t>(value >> 64), static_cast<uint64_t>(value)});
  } else if constexpr (std::is_same_v<T, NodeKind>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_same_v<T, std::map<std::string, LatencySums>>) {
    Json object = Json::object();
    for (const auto& [name, entry] : value) {
      object[name] = encode(entry);
    }
    return object;
  } else {
    return value;
  }
}

/// Throws std::exception if a value is missing or of another type. `first`: index of the first
/// member in a list.
template <class T>
void decode(const Json& from, T& to, [[maybe_unused]] size_t first = 0) {
  if constexpr (WrittenAsList<T>) {
    size_t i = first;
    const auto decode_member = [&](auto member) {
      if constexpr (HasOptionalMembers<T>) {
        if (i >= ListStruct<T>::kOptional && i >= from.size()) {
          return;
        }
      }
      decode(from.at(i++), to.*member);
    };
    std::apply([&](auto... member) { (decode_member(member), ...); }, ListStruct<T>::kMembers);
  } else if constexpr (WrittenAsObject<T>) {
    std::apply([&](auto... field) { (decode(from.at(field.name), to.*field.member), ...); },
               ObjectStruct<T>::kMembers);
  } else if constexpr (std::is_same_v<T, UInt128>) {
    to = UInt128{from.at(0).get<uint64_t>()} << 64 | from.at(1).get<uint64_t>();
  } else if constexpr (std::is_same_v<T, NodeKind>) {
    const int kind = from.get<int>();
    if (kind < 0 || kind > static_cast<int>(NodeKind::kParked)) {
      throw std::runtime_error("a place has an unknown kind");
    }
    to = static_cast<NodeKind>(kind);
  } else if constexpr (std::is_same_v<T, std::map<std::string, LatencySums>>) {
    for (const auto& [name, entry] : from.items()) {
      decode(entry, to[name]);
    }
  } else {
    to = from.get<T>();
  }
}

}  // namespace vprof::analyzer
