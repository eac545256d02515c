// TPC-C as OLTP-Bench runs it, at isolation level serializable: reads lock as well. The mix and the
// order of the statements are the benchmark's. Rows that only one transaction can know, such as a
// new order's lines, are left out; their time is in the statement before them.
#include <array>

#include "workloads/random_choices.h"

namespace lab {

namespace {

enum Table : uint64_t { kWarehouse, kDistrict, kCustomer, kItem, kStock, kNewOrder };

constexpr uint64_t kDistricts = 10;
constexpr uint64_t kCustomers = 3000;
constexpr uint64_t kItems = 100000;

constexpr std::array<const char*, 6> kTypes{"NewOrder", "Payment",    "OrderStatus",
                                            "Delivery", "StockLevel", "Analytical"};

class Tpcc : public Workload {
 public:
  Tpcc(int warehouses, bool with_analytical_query)
      : warehouses_(static_cast<uint64_t>(warehouses)),
        analytical_(with_analytical_query ? 0.5 : 0) {}

  Script next(Random& random) const override {
    const uint64_t warehouse = uniform(random, warehouses_);
    const uint64_t district = warehouse * kDistricts + uniform(random, kDistricts);
    switch (weighted(random, {45, 43, 4, 4, 4 - analytical_, analytical_})) {
      case 0:
        return new_order(random, warehouse, district);
      case 1:
        return payment(random, warehouse, district);
      case 2:
        return ScriptBuilder(random, 2).read(customer(random, district), 3).done();
      case 3:
        return delivery(random, warehouse);
      case 4:
        return stock_level(random, warehouse, district);
      default:
        return analytical_query(random);
    }
  }

  std::span<const char* const> types() const override { return kTypes; }

 private:
  static ObjectId customer(Random& random, uint64_t district) {
    return row(kCustomer, district * kCustomers + non_uniform(random, 1023, kCustomers));
  }

  static ObjectId stock(uint64_t warehouse, uint64_t item) {
    return row(kStock, warehouse * kItems + item);
  }

  Script new_order(Random& random, uint64_t warehouse, uint64_t district) const {
    ScriptBuilder script(random, 0);
    script.read(customer(random, district));
    script.read(row(kWarehouse, warehouse));
    script.write(row(kDistrict, district), 3);  // and its update, and the insert of the order
    const uint64_t lines = 5 + uniform(random, 11);
    for (uint64_t line = 0; line < lines; ++line) {
      const uint64_t item = non_uniform(random, 8191, kItems);
      const uint64_t supplier = chance(random, 0.01) ? uniform(random, warehouses_) : warehouse;
      script.read(row(kItem, item));
      script.write(stock(supplier, item), 2);  // and the insert of the line
    }
    return script.done();
  }

  Script payment(Random& random, uint64_t warehouse, uint64_t district) const {
    const uint64_t other = uniform(random, warehouses_ * kDistricts);
    const uint64_t of_customer = chance(random, 0.15) ? other : district;
    return ScriptBuilder(random, 1)
        .write(row(kWarehouse, warehouse))
        .write(row(kDistrict, district))
        .write(customer(random, of_customer), 2)  // and the insert into the history
        .done();
  }

  static Script delivery(Random& random, uint64_t warehouse) {
    ScriptBuilder script(random, 3);
    for (uint64_t i = 0; i < kDistricts; ++i) {
      const uint64_t district = warehouse * kDistricts + i;
      script.write(row(kNewOrder, district), 2);  // the district's oldest order, and its lines
      script.write(customer(random, district));
    }
    return script.done();
  }

  static Script stock_level(Random& random, uint64_t warehouse, uint64_t district) {
    ScriptBuilder script(random, 4);
    script.read(row(kDistrict, district));
    for (int i = 0; i < 20; ++i) {  // of the up to 200 lines of the last 20 orders
      script.read(stock(warehouse, non_uniform(random, 8191, kItems)), 0.1);
    }
    return script.done();
  }

  // Section 4.7.4: sums over the orders of a range of warehouses.
  Script analytical_query(Random& random) const {
    ScriptBuilder script(random, 5);
    const uint64_t a = uniform(random, warehouses_);
    const uint64_t b = uniform(random, warehouses_);
    for (uint64_t warehouse = std::min(a, b); warehouse <= std::max(a, b); ++warehouse) {
      script.read(row(kWarehouse, warehouse), 20);
    }
    return script.done();
  }

  uint64_t warehouses_;
  double analytical_;
};

}  // namespace

std::unique_ptr<Workload> make_tpcc(int warehouses, bool with_analytical_query) {
  return std::make_unique<Tpcc>(warehouses, with_analytical_query);
}

}  // namespace lab
