// SEATS, an airline's tickets: the mix of OLTP-Bench. A reservation reads the flight and later
// takes one of its seats, so it asks for the exclusive lock on a row that it holds shared. The
// number of flights on sale is ours: few, for "a highly contended workload" (section 3.5.1).
#include <array>

#include "workloads/random_choices.h"

namespace lab {

namespace {

enum Table : uint64_t { kFlight = 16, kCustomer, kReservation };

constexpr uint64_t kCustomers = 50000;
constexpr uint64_t kReservations = 1000000;
constexpr std::array<const char*, 6> kTypes{"DeleteReservation", "FindFlights",
                                            "FindOpenSeats",     "NewReservation",
                                            "UpdateCustomer",    "UpdateReservation"};

class Seats : public Workload {
 public:
  Script next(Random& random) const override {
    const int type = weighted(random, {10, 10, 35, 20, 10, 15});
    ScriptBuilder script(random, type);
    const ObjectId flight = row(kFlight, flights_(random));
    const ObjectId customer = row(kCustomer, uniform(random, kCustomers));
    const ObjectId reservation = row(kReservation, uniform(random, kReservations));
    switch (type) {
      case 0:
        script.read(customer).write(reservation).write(flight).write(customer);
        break;
      case 1:
        for (int i = 0; i < 5; ++i) {
          script.read(row(kFlight, flights_(random)));
        }
        break;
      case 2:
        script.read(flight, 4);
        break;
      case 3:
        script.read(flight).read(customer).write(reservation).write(flight).write(customer);
        break;
      case 4:
        script.read(customer).write(customer);
        break;
      default:
        script.read(flight).read(reservation).write(reservation);
        break;
    }
    return script.done();
  }

  std::span<const char* const> types() const override { return kTypes; }

 private:
  Zipf flights_{1000, 0.8};
};

}  // namespace

std::unique_ptr<Workload> make_seats() { return std::make_unique<Seats>(); }

}  // namespace lab
