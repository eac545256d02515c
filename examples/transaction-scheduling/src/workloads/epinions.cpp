// Epinions of OLTP-Bench, a site of reviews: its nine types and their weights. Users and items are
// Zipfian, as reviews of them are; a review and a trust of one user in another belong to the row of
// the item or of the user.
#include <array>

#include "workloads/random_choices.h"
#include "workloads/workloads.h"

namespace smf {

namespace {

constexpr size_t kUsers = 200000;
constexpr size_t kItems = 100000;
constexpr double kSkew = 0.9;
constexpr std::array<const char*, 9> kTypes{"GetReviewItemById",
                                            "GetReviewsByUser",
                                            "GetAverageRatingByTrustedUser",
                                            "GetItemAverageRating",
                                            "GetItemReviewsByTrustedUser",
                                            "UpdateUserName",
                                            "UpdateItemTitle",
                                            "UpdateReviewRating",
                                            "UpdateTrustRating"};

class Epinions : public Workload {
 public:
  Script next(Random& random) const override {
    const uint64_t user_number = users_(random);
    const std::string user = row("user", user_number);
    const std::string item = row("item", items_(random));
    const std::string reviews = row("reviews", items_(random));
    const std::string trust = row("trust", user_number);
    const uint32_t type = weighted(random, {10, 10, 10, 10, 10, 10, 10, 20, 10});
    ScriptBuilder script(type);
    switch (type) {
      case 0:
        return script.hint(item).hint(reviews).read(reviews).read(item).done();
      case 1:
        return script.hint(user).read(user).read(reviews).done();
      case 2:
        return script.hint(reviews).hint(trust).read(reviews).read(trust).done();
      case 3:
        return script.hint(reviews).read(reviews).done();
      case 4:
        return script.hint(reviews).hint(trust).read(reviews).read(trust).done();
      case 5:
        return script.hint(user).update(user).done();
      case 6:
        return script.hint(item).update(item).done();
      case 7:
        return script.hint(reviews).update(reviews).done();
      default:
        return script.hint(trust).update(trust).done();
    }
  }

  std::span<const char* const> types() const override { return kTypes; }
  double hot_share() const override { return 0.002; }

 private:
  Zipf users_{kUsers, kSkew};
  Zipf items_{kItems, kSkew};
};

}  // namespace

std::unique_ptr<Workload> make_epinions() { return std::make_unique<Epinions>(); }

}  // namespace smf
