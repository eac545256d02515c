#include "parquet_file.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/util/utf8.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <cstring>
#include <vector>

namespace vprof::tables {
namespace {

constexpr int64_t kRowsAtOnce = 1 << 16;
constexpr int64_t kRowsOfGroup = 1 << 20;
constexpr int kDigits = 38;

std::shared_ptr<arrow::DataType> type_of(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return arrow::utf8();
    case ColumnType::kBool:
      return arrow::boolean();
    case ColumnType::kInt32:
      return arrow::int32();
    case ColumnType::kInt64:
      return arrow::int64();
    case ColumnType::kTimestamp:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case ColumnType::kDecimal:
      return arrow::decimal128(kDigits, 0);
  }
  return nullptr;
}

std::shared_ptr<parquet::WriterProperties> properties_of(std::span<const Column> columns) {
  parquet::WriterProperties::Builder properties;
  properties.compression(parquet::Compression::ZSTD);
  properties.max_row_group_length(kRowsOfGroup);
  for (const Column& column : columns) {
    if (column.close_together) {
      properties.disable_dictionary(column.name);
      properties.encoding(column.name, parquet::Encoding::DELTA_BINARY_PACKED);
    }
  }
  return properties.build();
}

/// Labels may have any bytes, texts of tables only those of UTF-8.
std::string valid_utf8(std::string_view text) {
  std::string valid;
  for (size_t i = 0; i < text.size();) {
    size_t length = 1;
    while (length <= 4 && i + length <= text.size() &&
           !arrow::util::ValidateUTF8(text.substr(i, length))) {
      ++length;
    }
    const bool is_valid = length <= 4 && i + length <= text.size();
    valid += is_valid ? text.substr(i, length) : "\xef\xbf\xbd";
    i += is_valid ? length : 1;
  }
  return valid;
}

}  // namespace

class ParquetFile::Writer {
 public:
  explicit Writer(fs::path path) : path_(std::move(path)) {}

  arrow::Status open(std::span<const Column> columns) {
    arrow::FieldVector fields;
    for (const Column& column : columns) {
      fields.push_back(arrow::field(column.name, type_of(column.type), column.nullable));
    }
    schema_ = arrow::schema(fields);
    for (const auto& field : fields) {
      ARROW_ASSIGN_OR_RAISE(auto builder, arrow::MakeBuilder(field->type()));
      builders_.push_back(std::move(builder));
    }
    ARROW_ASSIGN_OR_RAISE(out_, arrow::io::FileOutputStream::Open(path_.string()));
    ARROW_ASSIGN_OR_RAISE(
        writer_, parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(), out_,
                                                  properties_of(columns)));
    return {};
  }

  template <class Builder>
  Builder& builder(size_t column) {
    return static_cast<Builder&>(*builders_[column]);
  }
  arrow::ArrayBuilder& any_builder(size_t column) { return *builders_[column]; }

  void note(const arrow::Status& status) { status_ &= status; }

  arrow::Status end_row(size_t columns) {
    if (columns != builders_.size()) {
      note(arrow::Status::Invalid("a row has ", columns, " values"));
    }
    if (++rows_ == kRowsAtOnce && status_.ok()) {
      note(write_rows());
    }
    return status_;
  }

  arrow::Status close() {
    if (status_.ok()) {
      note(write_rows());
    }
    if (status_.ok()) {
      note(close_file());
    }
    return status_;
  }

  Result<void> result(const arrow::Status& status) const {
    if (status.ok()) {
      return {};
    }
    return fail("cannot write {}: {}", path_.string(), status.message());
  }

 private:
  arrow::Status write_rows() {
    arrow::ArrayVector arrays;
    for (const auto& builder : builders_) {
      ARROW_ASSIGN_OR_RAISE(auto array, builder->Finish());
      arrays.push_back(std::move(array));
    }
    const auto batch = arrow::RecordBatch::Make(schema_, rows_, std::move(arrays));
    rows_ = 0;
    try {  // most of what fails is a status, but not all
      return writer_->WriteRecordBatch(*batch);
    } catch (const std::exception& e) {
      return arrow::Status::IOError(e.what());
    }
  }

  arrow::Status close_file() {
    try {
      ARROW_RETURN_NOT_OK(writer_->Close());
      return out_->Close();
    } catch (const std::exception& e) {
      return arrow::Status::IOError(e.what());
    }
  }

  const fs::path path_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders_;
  std::shared_ptr<arrow::io::FileOutputStream> out_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  int64_t rows_ = 0;
  arrow::Status status_;  // the first that failed
};

ParquetFile::ParquetFile(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
ParquetFile::~ParquetFile() = default;

Result<std::unique_ptr<ParquetFile>> ParquetFile::create(const fs::path& path,
                                                         std::span<const Column> columns) {
  auto writer = std::make_unique<Writer>(path);
  VPROF_TRY(writer->result(writer->open(columns)));
  return std::unique_ptr<ParquetFile>(new ParquetFile(std::move(writer)));
}

void ParquetFile::put(size_t column, std::string_view text) {
  auto& builder = writer_->builder<arrow::StringBuilder>(column);
  writer_->note(arrow::util::ValidateUTF8(text) ? builder.Append(text)
                                                : builder.Append(valid_utf8(text)));
}

void ParquetFile::put(size_t column, bool value) {
  writer_->note(writer_->builder<arrow::BooleanBuilder>(column).Append(value));
}

void ParquetFile::put(size_t column, int32_t value) {
  writer_->note(writer_->builder<arrow::Int32Builder>(column).Append(value));
}

void ParquetFile::put(size_t column, int64_t value) {
  writer_->note(writer_->builder<arrow::Int64Builder>(column).Append(value));
}

void ParquetFile::put(size_t column, Timestamp time) {
  writer_->note(writer_->builder<arrow::TimestampBuilder>(column).Append(time.ns / 1000));
}

void ParquetFile::put(size_t column, Decimal sum) {
  const arrow::Decimal128 value(static_cast<int64_t>(sum >> 64), static_cast<uint64_t>(sum));
  writer_->note(sum >> 127 == 0 && value.FitsInPrecision(kDigits)
                    ? writer_->builder<arrow::Decimal128Builder>(column).Append(value)
                    : arrow::Status::Invalid("a sum has more than 38 digits; export a shorter "
                                             "recording"));
}

void ParquetFile::put_null(size_t column) {
  writer_->note(writer_->any_builder(column).AppendNull());
}

Result<void> ParquetFile::end_row(size_t columns) {
  return writer_->result(writer_->end_row(columns));
}

Result<void> ParquetFile::close() { return writer_->result(writer_->close()); }

}  // namespace vprof::tables
