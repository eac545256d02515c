// Epinions, reviews by customers who trust each other: the mix of OLTP-Bench. Mostly reads, and
// very little contention (section 3.5.1).
#include <array>

#include "workloads/random_choices.h"

namespace lab {

namespace {

enum Table : uint64_t { kUser = 32, kProduct, kReview, kTrust };

constexpr uint64_t kUsers = 500 * 2000;
constexpr uint64_t kProducts = 500 * 1000;

constexpr std::array<const char*, 9> kTypes{
    "GetReviewItemById",    "GetReviewsByUser",      "GetAverageRatingByTrust",
    "GetItemAverageRating", "GetItemReviewsByTrust", "UpdateUserName",
    "UpdateItemTitle",      "UpdateReviewRating",    "UpdateTrustRating"};

class Epinions : public Workload {
 public:
  Script next(Random& random) const override {
    const int type = weighted(random, {10, 10, 10, 10, 10, 10, 10, 15, 15});
    ScriptBuilder script(random, type);
    const uint64_t user = uniform(random, kUsers);
    const uint64_t product = uniform(random, kProducts);
    switch (type) {
      case 0:
        script.read(row(kProduct, product)).read(row(kReview, product));
        break;
      case 1:
        script.read(row(kUser, user)).read(row(kReview, uniform(random, kProducts)));
        break;
      case 2:
      case 4:
        script.read(row(kReview, product)).read(row(kTrust, user));
        break;
      case 3:
        script.read(row(kReview, product));
        break;
      case 5:
        script.write(row(kUser, user));
        break;
      case 6:
        script.write(row(kProduct, product));
        break;
      case 7:
        script.write(row(kReview, product));
        break;
      default:
        script.write(row(kTrust, user));
        break;
    }
    return script.done();
  }

  std::span<const char* const> types() const override { return kTypes; }
};

}  // namespace

std::unique_ptr<Workload> make_epinions() { return std::make_unique<Epinions>(); }

}  // namespace lab
