// Ranking of factors in trees whose figures were computed by hand.
#include "factors/factor_selection.h"

#include "path_case.h"
#include "statistics/significance.h"

using namespace vprof::analyzer;

namespace {

/// A tree whose latency has the variance 100, so that variances are percentages.
struct Tree {
  VarianceTree tree;

  explicit Tree(int height = 5) {
    TreeNode root;
    root.name = root.factor = "request";
    root.height = height;
    root.variance_ns2 = 100;
    root.contribution = root.share = 1;
    tree.nodes.push_back(root);
  }

  uint32_t add(uint32_t parent, const std::string& name, double variance, int height = 0,
               NodeKind kind = NodeKind::kFunction) {
    TreeNode node;
    node.kind = kind;
    node.parent = parent;
    node.name = node.factor = name;
    node.height = height;
    node.variance_ns2 = variance;
    node.contribution = node.share = variance / 100;
    tree.nodes.push_back(node);
    const auto index = static_cast<uint32_t>(tree.nodes.size() - 1);
    tree.nodes[parent].children.push_back(index);
    return index;
  }

  void pair(uint32_t a, uint32_t b, double covariance) {
    tree.pairs.push_back({tree.nodes[a].parent, a, b, covariance, 2 * covariance / 100});
  }

  std::vector<Factor> rank(Options options = {}) const {
    return rank_factors(tree, {}, {}, options);
  }
};

std::vector<std::string> names(const std::vector<Factor>& factors) {
  std::vector<std::string> result;
  for (const Factor& factor : factors) {
    result.push_back(factor.functions[0] +
                     (factor.functions.size() > 1 ? "," + factor.functions[1] : ""));
  }
  return result;
}

/// Adds an interval in which f, at place 1, takes x.
void add(Batch& batch, uint64_t x, uint64_t latency) {
  ++batch.sums.n;
  batch.sums.add_node(0, latency, latency);
  if (x != 0) {
    batch.sums.add_node(1, x, latency);
  }
}

}  // namespace

TEST_CASE("specificity is a power of the distance to the root") {
  CHECK(specificity(5, 2, Specificity::kLinear) == 3);
  CHECK(specificity(5, 2, Specificity::kQuadratic) == 9);
  CHECK(specificity(5, 2, Specificity::kCubic) == 27);
  CHECK(specificity(5, 7, Specificity::kQuadratic) == 0);
}

TEST_CASE("score: a specific factor beats a larger but general one") {
  // WriteLog 30, CopyData below it 26: the example of the dissertation, 2.3.2.2.
  Tree t(5);
  const auto write_log = t.add(0, "WriteLog", 30, 3);
  t.add(write_log, "CopyData", 26, 1);
  Options options;
  auto factors = t.rank(options);
  REQUIRE(names(factors) == std::vector<std::string>{"CopyData", "WriteLog"});
  CHECK(factors[0].score == Approx(16 * 0.26));
  CHECK(factors[1].score == Approx(4 * 0.30));
  CHECK(factors[0].rank == 1);
  CHECK(factors[0].instances[0].path ==
        std::vector<std::string>{"request", "WriteLog", "CopyData"});
  options.specificity = Specificity::kLinear;
  factors = t.rank(options);
  CHECK(factors[0].score == Approx(4 * 0.26));
  CHECK(factors[1].score == Approx(2 * 0.30));
  options.specificity = Specificity::kCubic;
  factors = t.rank(options);
  CHECK(factors[0].score == Approx(64 * 0.26));
  CHECK(factors[1].score == Approx(8 * 0.30));
}

TEST_CASE("the graph is higher than anything in the tree") {
  Tree t(0);
  t.add(0, "f", 50, 6);
  t.add(0, "g", 20, 0);
  const auto factors = t.rank();
  REQUIRE(names(factors) == std::vector<std::string>{"g", "f"});
  CHECK(factors[0].specificity == 49);
  CHECK(factors[1].specificity == 1);
}

TEST_CASE("instances of one function add up, and so do covariances of one pair") {
  Tree t(3);
  const auto a = t.add(0, "a", 40, 2);
  const auto b = t.add(0, "b", 30, 2);
  const auto x1 = t.add(a, "x", 10, 1), y1 = t.add(a, "y", 5, 0);
  const auto y2 = t.add(b, "y", 4, 0), x2 = t.add(b, "x", 6, 1);
  t.pair(x1, y1, 3);
  t.pair(y2, x2, 2);
  t.pair(a, b, -2);
  const auto factors = t.rank();
  const auto find = [&](const std::string& name) {
    for (size_t i = 0; i < factors.size(); ++i) {
      if (names(factors)[i] == name) {
        return factors[i];
      }
    }
    return Factor();
  };
  CHECK(find("x").contribution == Approx(0.16));
  CHECK(find("x").instances.size() == 2);
  CHECK(find("x").instances[0].contribution == Approx(0.10));
  CHECK(find("y").contribution == Approx(0.09));
  const Factor xy = find("x,y");
  CHECK(xy.kind == FactorKind::kCovariance);
  CHECK(xy.contribution == Approx(0.10));
  CHECK(xy.height == 1);
  // ρ = 5 / sqrt(16 * 9), and the smaller of the two shares is that of y.
  CHECK(xy.weight == Approx(2 * 5.0 / 12 * 0.09));
  CHECK(xy.score == Approx(4 * xy.weight));
  CHECK(xy.variance_score == Approx(4 * 0.10));
  CHECK(find("a,b").contribution == Approx(-0.04));
  CHECK(names(factors).back() == "a,b");  // a negative covariance is listed, but last
}

TEST_CASE("thresholds: factors below one percent are not listed, tiny covariances are ignored") {
  Tree t;
  const auto a = t.add(0, "a", 1.0);
  const auto b = t.add(0, "b", 0.99);
  t.pair(a, b, 0.49);  // 0.98 %
  CHECK(names(t.rank()) == std::vector<std::string>{"a"});
  Tree many;
  for (int i = 0; i < 40; ++i) {
    const auto p = many.add(0, "p", 0.1), q = many.add(0, "q", 0.1);
    many.pair(p, q, 0.04);  // 0.08 % each, 3.2 % in sum
  }
  CHECK(names(many.rank()) == std::vector<std::string>{"p", "q"});
}

TEST_CASE("dominance: an instance that one child explains adds nothing, other instances do") {
  Tree t(4);
  const auto f1 = t.add(0, "f", 50, 2);
  t.add(f1, "g", 46, 1);
  const auto f2 = t.add(0, "f", 20, 2);
  t.add(f2, "g", 17, 1);
  const auto factors = t.rank();
  REQUIRE(names(factors) == std::vector<std::string>{"g", "f"});
  CHECK(factors[1].weight == Approx(0.20));
  CHECK(factors[1].contribution == Approx(0.70));
  CHECK_FALSE(factors[1].instances[0].dominated);
  CHECK(factors[1].instances[1].dominated);
  CHECK(factors[1].share == Approx(0.70));
  Options options;
  options.dominance = 0.95;
  CHECK(t.rank(options)[1].weight == Approx(0.70));
}

TEST_CASE("dominance: a child whose share another one cancels does not explain its parent") {
  Tree t(4);
  const auto f = t.add(0, "f", 50, 2);
  const auto g = t.add(f, "g", 90, 1);
  const auto h = t.add(f, "h", 40, 1);
  t.pair(g, h, -40);
  t.tree.nodes[f].share = 0.5;
  t.tree.nodes[g].share = 0.9;
  t.tree.nodes[h].share = -0.4;
  Options options;
  const auto by_share = t.rank(options);
  REQUIRE(names(by_share)[1] == "f");
  CHECK(by_share[1].weight == Approx(0.5));
  options.ranking = Ranking::kVariance;
  for (const Factor& factor : t.rank(options)) {
    CHECK((factor.functions[0] != "f" || factor.weight == 0));  // Algorithm 1 as printed
  }
}

TEST_CASE("ranked by variance, the score is that of equation 2.4") {
  Tree t(4);
  const auto a = t.add(0, "a", 200, 1);
  const auto b = t.add(0, "b", 60, 1);
  t.tree.nodes[a].share = 0.1;
  t.tree.nodes[b].share = 0.9;
  CHECK(names(t.rank()) == std::vector<std::string>{"b", "a"});
  CHECK(t.rank()[1].variance_rank == 1);
  Options options;
  options.ranking = Ranking::kVariance;
  const auto factors = t.rank(options);
  REQUIRE(names(factors) == std::vector<std::string>{"a", "b"});
  CHECK(factors[0].score == Approx(9 * 2.0));
  CHECK(factors[0].score == factors[0].variance_score);
  CHECK(factors[1].variance_rank == 2);
}

TEST_CASE("a body can be the explanation") {
  Tree t(4);
  const auto f = t.add(0, "f", 50, 2);
  t.add(f, "body(f)", 49, 0, NodeKind::kBody);
  t.add(f, "g", 1, 0);
  CHECK(names(t.rank()) == std::vector<std::string>{"body(f)", "g"});
}

TEST_CASE("a wait yields to the functions it is blamed on, even if they are several") {
  Tree t(4);
  const auto wait = t.add(0, "wait(m)", 60, 0, NodeKind::kWait);
  const auto f = t.add(wait, "f", 25, 1, NodeKind::kBlame);
  const auto g = t.add(wait, "g", 20, 1, NodeKind::kBlame);
  t.add(wait, "wake-up(m)", 1, 0, NodeKind::kBody);
  t.pair(f, g, 7);
  t.tree.nodes[f].share = 0.32;
  t.tree.nodes[g].share = 0.27;
  Options options;
  const auto factors = t.rank(options);
  CHECK(names(factors) == std::vector<std::string>{"f", "g", "f,g", "wake-up(m)"});
  options.ranking = Ranking::kVariance;
  CHECK(names(t.rank(options)) == std::vector<std::string>{"f", "g", "f,g", "wake-up(m)"});
}

TEST_CASE("a wait in a library function has the line of that function's call") {
  const auto kind = GENERATE(NodeKind::kFunction, NodeKind::kBlame);
  Tree t(4);
  const auto f = t.add(0, "f", 70, 1, kind);
  t.tree.nodes[f].definition = "a.c:1";
  t.tree.nodes[f].location = "a.c:90";
  const auto lock = t.add(f, "pthread_mutex_lock", 60, 0, kind);
  t.tree.nodes[lock].location = "a.c:7";
  t.add(lock, "wait(m)", 60, 0, NodeKind::kWait);
  t.add(f, "wait(own)", 30, 0, NodeKind::kWait);
  for (const Factor& factor : t.rank()) {
    CAPTURE(factor.functions[0]);
    CHECK(factor.instances[0].call == (factor.functions[0] == "wait(m)" ? "a.c:7" : ""));
  }
}

TEST_CASE("a wait that no function explains stays, and is not counted twice") {
  Tree t(4);
  const auto wait = t.add(0, "wait(m)", 60, 0, NodeKind::kWait);
  t.add(wait, "untracked(worker)", 58, 0, NodeKind::kUntracked);
  t.add(wait, "f", 1, 1, NodeKind::kBlame);
  CHECK(names(t.rank()) == std::vector<std::string>{"wait(m)", "f"});
  Tree own(4);
  const auto queue = own.add(0, "queue(pop)", 60, 0, NodeKind::kQueue);
  own.add(queue, "body(queue(pop))", 59, 0, NodeKind::kBody);
  CHECK(names(own.rank()) == std::vector<std::string>{"queue(pop)"});
}

TEST_CASE("a wait counts what the work of others leaves unexplained") {
  Tree t(4);
  const auto wait = t.add(0, "wait(m)", 65, 0, NodeKind::kWait);
  const auto holder = t.add(wait, "holder", 45, 1, NodeKind::kBlame);
  t.add(wait, "wake-up(m)", 12, 0, NodeKind::kBody);
  t.add(wait, "untracked(worker)", 8, 0, NodeKind::kUntracked);
  t.add(holder, "cause", 44);
  Options options;
  options.specificity = Specificity::kLinear;
  const auto factors = t.rank(options);
  CHECK(names(factors) == std::vector<std::string>{"cause", "wait(m)", "wake-up(m)"});
  CHECK(factors[0].weight == Approx(0.44));
  CHECK(factors[1].weight == Approx(0.20));
  CHECK(factors[1].share == Approx(0.65));
  CHECK(factors[2].weight == 0);  // a part of the wait's 20 %
  // What others did against the latency explains nothing of it.
  Tree against(4);
  const auto queue = against.add(0, "queue(pop)", 60, 0, NodeKind::kQueue);
  against.add(queue, "steady", -5, 1, NodeKind::kBlame);
  const auto first = against.rank().front();
  CHECK(first.functions[0] == "queue(pop)");
  CHECK(first.weight == Approx(0.60));
}

TEST_CASE("a wait within the work that explains one of the same name counts") {
  Tree t(4);
  const auto outer = t.add(0, "wait(m)", 65, 0, NodeKind::kWait);
  const auto holder = t.add(outer, "holder", 50, 1, NodeKind::kBlame);
  const auto inner = t.add(holder, "wait(m)", 48, 0, NodeKind::kWait);
  t.tree.nodes[inner].outermost = false;
  const auto first = t.rank().front();
  CHECK(first.functions[0] == "wait(m)");
  CHECK(first.share == Approx(0.65));
  CHECK(first.weight == Approx(0.15 + 0.48));
}

TEST_CASE("a function that is preempted now and then is listed itself, not its body") {
  Tree t(4);
  const auto f = t.add(0, "f", 90, 1);
  t.add(f, "body(f)", 88, 0, NodeKind::kBody);
  t.add(f, "preempted", 1, 0, NodeKind::kPreempted);
  CHECK(names(t.rank()) == std::vector<std::string>{"f", "preempted"});
  Tree mostly(4);
  const auto g = mostly.add(0, "g", 90, 1);
  mostly.add(g, "body(g)", 2, 0, NodeKind::kBody);
  mostly.add(g, "preempted", 85, 0, NodeKind::kPreempted);
  CHECK(names(mostly.rank()) == std::vector<std::string>{"preempted", "body(g)"});
}

TEST_CASE("a function that only computes yields to what took its processor") {
  for (const double taken : {30.0, 75.0}) {
    Tree t(4);
    const auto f = t.add(0, "f", 90, 1);
    t.add(f, "body(f)", 90 - taken, 0, NodeKind::kBody);
    t.add(f, "preempted", taken, 0, NodeKind::kPreempted);
    const auto factors = t.rank();
    std::map<std::string, double> weights;
    for (const auto& factor : factors) {
      weights[factor.functions[0]] = factor.weight;
    }
    CHECK(weights["f"] == Approx(0.9 - taken / 100));
    CHECK(weights["preempted"] == Approx(taken / 100));
    CHECK(weights["body(f)"] == 0);
    t.tree.nodes[f].height = 0;  // as a function of a library
    CHECK(t.rank().front().functions[0] == (taken < 45 ? "f" : "preempted"));
  }
}

TEST_CASE("untracked time of the interval is a factor like any other") {
  Tree t(4);
  t.add(0, "untracked", 60, 0, NodeKind::kUntracked);
  t.add(0, "f", 30, 2);
  CHECK(names(t.rank()) == std::vector<std::string>{"untracked", "f"});
}

TEST_CASE("equal scores are ordered by name") {
  Tree t;
  for (const char* name : {"d", "b", "c", "a"}) {
    t.add(0, name, 10);
  }
  CHECK(names(t.rank()) == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("the status says what can be done about a factor") {
  Tree t;
  const auto a = t.add(0, "a", 30);
  const auto b = t.add(0, "b", 20);
  const auto c = t.add(0, "c", 10);
  t.tree.nodes[a].expandable = true;
  t.tree.nodes[b].expandable = t.tree.nodes[b].expanded = true;
  t.pair(b, c, 4);
  const auto factors = t.rank();
  REQUIRE(names(factors) == std::vector<std::string>{"a", "b", "c", "b,c"});
  CHECK(factors[0].status == FactorStatus::kExpandable);
  CHECK(factors[1].status == FactorStatus::kExpanded);
  CHECK(factors[2].status == FactorStatus::kLeaf);
  CHECK(factors[3].status == FactorStatus::kExpanded);
}

TEST_CASE("confidence: the jackknife of a known example") {
  // The root is one node plus a constant, so the contribution is exactly 1, whichever batch is left
  // out.
  Tree t;
  const auto f = t.add(0, "f", 100);
  t.tree.nodes[f].place = 1;
  std::vector<Batch> batches(4);
  uint64_t value = 1;
  for (Batch& batch : batches) {
    for (int i = 0; i < 10; ++i) {
      value = value * 7 % 101;
      add(batch, value, value + 50);
    }
  }
  const auto exact = rank_factors(t.tree, batches, {}, {});
  CHECK(exact[0].ci95[0] == Approx(1).epsilon(1e-12));
  CHECK(exact[0].ci95[1] == Approx(1).epsilon(1e-12));
  // Two batches of two intervals. Without the first, f has {2, 0} of {2, 0}: a contribution of 1.
  // Without the second, {2, 0} of {4, 0}: 1/4. Their mean is 5/8, so the error is
  // sqrt(1/2 * 2 * (3/8)^2) = 3/8, and t with one degree of freedom is 12.706.
  std::vector<Batch> two(2);
  add(two[0], 2, 4);
  add(two[0], 0, 0);
  add(two[1], 2, 2);
  add(two[1], 0, 0);
  const auto wide = rank_factors(t.tree, two, {}, {});
  CHECK(wide[0].ci95[1] - 1 == Approx(t_quantile(0.05, 1) * 0.375));
}

TEST_CASE("a function is higher than what was seen below it, but not than the work of others") {
  vprof::test::Case c;  // f has height 3, g 2, h 1
  const uint32_t library = c.sites.function("std::function::operator()", 0);
  const uint32_t library_entry = c.sites.function_site(library);
  for (int i = 0; i < 4; ++i) {
    auto& t = c.thread(1);
    const int64_t at = 1000 * i;
    t.begin(1, at);
    t.frame(c.f_entry, at + 2, at + 30 + 7 * i);
    t.frame(library_entry, at + 1, at + 40 + 9 * i);
    t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, at + 110, at + 150 + 5 * i, static_cast<uint64_t>(i) + 1);
    t.frame(c.h_entry, at + 100, at + 200 + 8 * i);
    t.end(1, at + 300 + 20 * i);
    auto& holder = c.thread(2);
    holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, at + 145 + 5 * i, static_cast<uint64_t>(i) + 1);
    holder.frame(c.g_entry, at + 50, at + 170 + 5 * i);
  }
  const Profile profile = c.profile();
  const auto height_of = [&](const std::string& name) {
    const Factor* factor = vprof::test::find_factor(profile, name);
    return factor == nullptr ? -1 : factor->height;
  };
  CHECK(height_of("f") == 3);
  CHECK(height_of("std::function::operator()") == 4);
  CHECK(height_of("h") == 1);
  CHECK(height_of("g") == 2);
}
