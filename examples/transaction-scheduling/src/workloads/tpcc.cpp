// TPC-C with the mix of its clause 5.2.3 and the statements in OLTP-Bench's order. Rows that only
// one transaction can know, such as a new order's lines, are left out.
#include <array>

#include "workloads/random_choices.h"
#include "workloads/workloads.h"

namespace smf {

namespace {

constexpr uint64_t kDistricts = 10;
constexpr uint64_t kCustomers = 3000;
constexpr uint64_t kItems = 100000;
constexpr std::array<const char*, 5> kTypes{"NewOrder", "Payment", "OrderStatus", "Delivery",
                                            "StockLevel"};

class Tpcc : public Workload {
 public:
  explicit Tpcc(uint64_t warehouses) : warehouses_(warehouses) {}

  Script next(Random& random) const override {
    const uint64_t warehouse = uniform(random, warehouses_);
    const uint64_t district = warehouse * kDistricts + uniform(random, kDistricts);
    switch (weighted(random, {45, 43, 4, 4, 4})) {
      case 0:
        return new_order(random, warehouse, district);
      case 1:
        return payment(random, warehouse, district);
      case 2:
        return ScriptBuilder(2)
            .hint(row("warehouse", warehouse))
            .hint(row("district", district))
            .read(customer(random, district))
            .read(orders(district))
            .done();
      case 3:
        return delivery(random, warehouse);
      default:
        return stock_level(random, warehouse, district);
    }
  }

  std::span<const char* const> types() const override { return kTypes; }
  double hot_share() const override { return 0.004; }  // a district is in 1 % of the transactions

 private:
  static std::string customer(Random& random, uint64_t district) {
    return row("customer", district * kCustomers + non_uniform(random, 1023, kCustomers));
  }
  static std::string orders(uint64_t district) { return row("new_order", district); }
  static std::string stock(Random& random, uint64_t warehouse) {
    return row("stock", warehouse * kItems + non_uniform(random, 8191, kItems));
  }

  Script new_order(Random& random, uint64_t warehouse, uint64_t district) const {
    ScriptBuilder script(0);
    script.hint(row("warehouse", warehouse)).hint(row("district", district));
    script.read(customer(random, district));
    script.read(row("warehouse", warehouse));
    script.update(row("district", district));
    script.write(orders(district));
    const uint64_t lines = 5 + uniform(random, 11);
    for (uint64_t line = 0; line < lines; ++line) {
      const uint64_t supplier = chance(random, 0.01) ? uniform(random, warehouses_) : warehouse;
      script.update(stock(random, supplier));
    }
    return script.done();
  }

  Script payment(Random& random, uint64_t warehouse, uint64_t district) const {
    const uint64_t other = uniform(random, warehouses_ * kDistricts);
    const uint64_t of_customer = chance(random, 0.15) ? other : district;
    return ScriptBuilder(1)
        .hint(row("warehouse", warehouse))
        .hint(row("district", district))
        .update(row("warehouse", warehouse), 10)
        .update(row("district", district), 10)
        .update(customer(random, of_customer), -10)
        .done();
  }

  static Script delivery(Random& random, uint64_t warehouse) {
    ScriptBuilder script(3);
    script.hint(row("warehouse", warehouse));
    for (uint64_t i = 0; i < kDistricts; ++i) {
      const uint64_t district = warehouse * kDistricts + i;
      script.update(orders(district), -1);
      script.update(customer(random, district), 10);
    }
    return script.done();
  }

  static Script stock_level(Random& random, uint64_t warehouse, uint64_t district) {
    ScriptBuilder script(4);
    script.hint(row("warehouse", warehouse)).hint(row("district", district));
    script.read(row("district", district));
    for (int i = 0; i < 20; ++i) {  // of the up to 200 lines of the last 20 orders
      script.read(stock(random, warehouse));
    }
    return script.done();
  }

  uint64_t warehouses_;
};

}  // namespace

std::unique_ptr<Workload> make_tpcc(uint64_t warehouses) {
  return std::make_unique<Tpcc>(warehouses);
}

}  // namespace smf
