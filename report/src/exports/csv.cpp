#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "exports/formats.h"
#include "exports/rows.h"
#include "json/names.h"
#include "vprof/report/exports.h"

namespace vprof::report {
namespace {

/// RFC 4180.
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

class Csv {
 public:
  explicit Csv(const std::string& file)
      : file_(file), draft_(file + ".part"), out_(std::fopen(draft_.c_str(), "w"), std::fclose) {}
  ~Csv() {
    out_.reset();
    std::remove(draft_.c_str());  // not there once it is finished
  }
  Csv(const Csv&) = delete;
  Csv& operator=(const Csv&) = delete;

  Result<void> begin() {
    if (out_ == nullptr) {
      return failed();
    }
    return put("interval,id,label,begin_ns,latency_ns,ns,kind,function,site,path\r\n");
  }

  Result<void> add(const analyzer::PlaceRow& place) {
    const std::string path =
        place.number == 0 ? place.function : paths_[place.parent] + " > " + place.function;
    paths_.push_back(path);
    tails_.push_back("," + std::string(name_of(place.kind)) + "," + quoted(place.function) + "," +
                     quoted(place.site) + "," + quoted(path) + "\r\n");
    return {};
  }

  Result<void> add(const analyzer::IntervalRow& row) {
    const std::string head = quoted(row.interval) + "," + std::to_string(row.id) + "," +
                             quoted(row.label) + "," + std::to_string(row.begin_ns) + "," +
                             std::to_string(row.latency_ns) + ",";
    std::string lines;
    for (const analyzer::PlaceTime& time : row.times) {
      lines += head + std::to_string(time.ns) + tails_[time.place];
    }
    return put(lines);
  }

  Result<void> finish() {
    if (std::fflush(out_.get()) != 0) {
      return failed();
    }
    out_.reset();
    if (std::rename(draft_.c_str(), file_.c_str()) != 0) {
      return failed();
    }
    return {};
  }

 private:
  Result<void> put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), out_.get()) != text.size()) {
      return failed();
    }
    return {};
  }

  Result<void> failed() const {
    return fail("{}", "cannot write " + file_ + ": " + std::strerror(errno));
  }

  std::string file_, draft_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out_;
  std::vector<std::string> paths_, tails_;  // by place
};

}  // namespace

Result<analyzer::IntervalTimesSummary> export_csv(const std::string& trace_dir,
                                                  const std::string& sites_json,
                                                  const analyzer::Options& options,
                                                  const std::string& file) {
  return export_rows(trace_dir, sites_json, options, Csv(file));
}

Result<std::string> write_csv(ExportSource& source, const std::string& file) {
  return written_intervals(
      VPROF_TRY(export_csv(source.trace_dir, source.sites_json, source.options, file)));
}

}  // namespace vprof::report
