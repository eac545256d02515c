#include <fmt/format.h>

#include <cstdio>

#include "exports/formats.h"
#include "exports/rows.h"
#include "exports/size_forecast.h"
#include "vprof/report/exports.h"
#include "vprof/report/json.h"
#include "vprof/support/output.h"

namespace vprof::report {
namespace {

/// As RFC 4180 says.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return out + "\"";
}

class CsvWriter {
 public:
  CsvWriter(ExportSource& source, const std::string& file)
      : source_(source), name_(file), file_(file), out_(file_.open()) {}

  Result<void> begin() {
    if (out_ == nullptr) {
      return file_.failed();
    }
    return put("interval,id,key,label,begin_ns,latency_ns,ns,kind,function,site,path,trace_id\r\n");
  }

  Result<void> add(const analyzer::PlaceRow& place) {
    ends_.push_back(fmt::format(",{},{},{},{},", word_for(place.kind), quoted(place.function),
                                quoted(place.location), quoted(paths_.add(place))));
    return {};
  }

  Result<void> add(const analyzer::IntervalRow& row) {
    const std::string begin = fmt::format("{},{},{},{},{},{},", quoted(row.interval), row.id,
                                          row.key, quoted(row.label), row.begin_ns, row.latency_ns);
    const std::string trace = row.trace.trace_id() + "\r\n";
    std::string lines;
    for (const analyzer::PlaceTime& time : row.times) {
      lines += begin;
      lines += std::to_string(time.ns);
      lines += ends_[time.place];
      lines += trace;
    }
    VPROF_TRY(put(lines));
    const auto size = forecast_.add(lines.size(), row.begin_ns);
    return size ? source_.expect_bytes(name_, *size) : Result<void>();
  }

  Result<void> finish() {
    if (std::fflush(out_.get()) != 0) {
      return file_.failed();
    }
    out_.reset();
    return file_.publish();
  }

 private:
  Result<void> put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), out_.get()) != text.size()) {
      return file_.failed();
    }
    return {};
  }

  ExportSource& source_;
  const std::string name_;
  OutputDraft file_;
  OutputDraft::Stream out_;
  PlacePaths paths_;
  std::vector<std::string> ends_;  // of lines, by place
  SizeForecast forecast_;
};

}  // namespace

Result<std::string> write_csv(ExportSource& source, const std::string& file) {
  return export_rows(source, CsvWriter(source, file));
}

}  // namespace vprof::report
