// tests/contract_cancel_test.cpp: every method hears a cancel, whenever it comes, and soon: counted in questions and work,
// never in seconds.
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/model/store.hpp>
#include <set>
#include <tests/contract/patience.hpp>
#include <tests/contract/subject.hpp>

namespace lemma::contract {
namespace {

/// After the question that is answered "cancelled" this many more may be asked: by the loops around the one that heard it.
constexpr long long kMoreQuestions = 12;

class Cancel : public SubjectTest {};
INSTANTIATE_TEST_SUITE_P(Methods, Cancel, testing::ValuesIn(subject_names()), name_of_subject);

TrainOptions asking(Progress& progress) {
  TrainOptions options = with_threads(1);
  options.fit.progress = &progress;
  return options;
}

/// 0, 1, 2, 4, 8, … and the last ones.
std::set<long long> moments_until(long long questions) {
  std::set<long long> out{0, questions / 3, questions / 2, questions - 2, questions - 1};
  for (long long k = 1; k < questions; k *= 3) out.insert(k);
  out.erase(out.begin(), out.lower_bound(0));
  return out;
}

/// A cancelled fit ends with Cancelled, or gives back what it has: all of it, or with a certificate that does not hold, or
/// with one that does because the rows prove it, though a step of the polish was not taken.
TEST_P(Cancel, IsHeardWheneverItComesAndWhatIsKeptClaimsNothingThatWasNotDone) {
  const Example example = about().scans ? large(subject()) : good(subject());
  Patience endless(kEndless);
  const auto complete = encode(train_on(method(), example, asking(endless)));
  EXPECT_GE(endless.asked(), 3) << "it asks too rarely to be stopped";
  Complaints all;
  for (const long long k : moments_until(endless.asked())) {
    Patience patience(k);
    const std::string about = "question " + std::to_string(k) + " of " + std::to_string(endless.asked());
    try {
      const auto trained = train_on(method(), example, asking(patience));
      const auto& certificate = trained.model->certificate();
      if (encode(trained) != complete && certificate.holds() &&
          !trained.verify(MemoryTableStream(example.table)).certificate.holds())
        all.push_back({about, "a cancelled fit says what the rows do not confirm: " + certificate.message});
      if (certificate.strength != Strength::none && !certificate.holds() && certificate.stopped != "cancelled")
        all.push_back({about, "a cancelled fit does not say so: it stopped by '" + certificate.stopped + "'"});
    } catch (const Cancelled&) {}
    if (patience.asked() > k + 1 + kMoreQuestions)
      all.push_back({about, std::to_string(patience.asked() - k - 1) + " more questions were asked after it"});
  }
  judge_all(all);
}

TEST(CancelledPath, IsShorterThanAskedAndItsCertificateDoesNotHold) {
  for (const char* name : {"lasso", "elastic_net"}) {
    const Method& path = find_method(name, catalog());
    const Example example = good(path);
    Patience patience(40);
    const auto trained = train_on(path, example, asking(patience));
    EXPECT_FALSE(trained.model->certificate().holds()) << name;
    EXPECT_EQ(trained.model->certificate().stopped, "cancelled") << name;
    EXPECT_NE(trained.model->certificate().message.find("of 100 λ"), std::string::npos)
        << trained.model->certificate().message;
  }
}

/// Methods made of parts, one after the other, keep those that they have: a model of fewer parts, which is what it says.
TEST(CancelledParts, AreKeptAndNothingIsClaimedOfTheRest) {
  for (const auto& [name, params] : std::vector<std::pair<std::string, std::string>>{
           {"forest", R"({"trees": 100})"},
           {"extra_trees", R"({"trees": 100})"},
           {"boost", R"({"rounds": 100})"},
           {"boost", R"({"rounds": 100, "base": "linear"})"},
           {"boost", R"({"rounds": 100, "validation": 0.3, "patience": 100})"},
           {"adaboost", "{}"},
           {"bagging", R"({"rounds": 40})"}}) {
    const Method& method = find_method(name, catalog());
    const Example example = good(method);
    Patience endless(kEndless);
    train_on(method, example, asking(endless), from_json(params));
    int kept = 0;
    for (long long share = 1; share < 10; ++share) {
      Patience patience(endless.asked() * share / 10);
      try {
        const auto trained = train_on(method, example, asking(patience), from_json(params));
        const Certificate& certificate = trained.model->certificate();
        EXPECT_EQ(certificate.stopped, "cancelled") << name << params;
        EXPECT_FALSE(certificate.holds()) << name << params;
        EXPECT_NE(certificate.message.find("Cancelled after "), std::string::npos) << certificate.message;
        const TrainedModel loaded = decode(encode(trained), catalog());
        const auto second = loaded.verify(MemoryTableStream(example.table)).certificate;
        EXPECT_TRUE(second.holds()) << name << params << ": " << second.message;
        ++kept;
      } catch (const Cancelled&) {}  // before the first part, or while all of them were looked at
    }
    EXPECT_GE(kept, 3) << name << params;
  }
}

/// Cancels when a step of one of these names is told for the `count`-th time.
class CancelAtStep final : public Progress {
 public:
  explicit CancelAtStep(int count) : left_(count) {}
  void report(double, std::string_view message) override {
    for (const std::string_view step : {"majorisation", "least stress", "places", "least divergence"})
      if (message == step) --left_;
  }
  bool cancelled() const override { return left_ <= 0; }

 private:
  int left_;
};

/// Pictures that are searched for step by step keep the places that were reached.
TEST(CancelledPictures, KeepThePlacesThatWereReachedAndClaimNothing) {
  for (const std::string name : {"smacof", "sammon", "nonmetric_mds", "tsne"}) {
    const Method& method = find_method(name, catalog());
    const Example example = good(method);
    for (const int step : {3, 8}) {
      CancelAtStep progress(step);
      const auto trained = train_on(method, example, asking(progress));
      const Certificate& certificate = trained.model->certificate();
      EXPECT_FALSE(certificate.holds()) << name;
      EXPECT_EQ(certificate.stopped, "cancelled") << name;
      EXPECT_TRUE(certificate.message.starts_with("Cancelled after ")) << certificate.message;
    }
  }
}

// ---- wide enough that a single factorisation would take its time ----

/// n rows of p independent normal columns, a response that hangs on the first ten, and two classes.
Example wide(const Method& method, Index n, Index p) {
  const Matrix x = normal_matrix(n, p, 5);
  const Vector noise = normal_matrix(n, 1, 6).col(0);
  Table table({}, "wide");
  std::vector<double> y(static_cast<std::size_t>(n));
  std::vector<std::string> side;
  for (Index i = 0; i < n; ++i) {
    y[static_cast<std::size_t>(i)] = x.row(i).head(10).sum() + noise(i);
    side.emplace_back(y[static_cast<std::size_t>(i)] + 2 * x(i, 11) > 0 ? "right" : "left");
  }
  for (Index j = 0; j < p; ++j) {
    const Vector column = x.col(j);
    table.add(numeric("x" + std::to_string(j), std::vector<double>(column.begin(), column.end())));
  }
  table.add(numeric("y", y));
  table.add(categorical("side", side));
  const auto& about = method.about();
  const std::string response = !about.uses_response ? "" : about.task == Task::classification ? "side" : "y";
  return {std::move(table), response + " ~ . - y - side"};
}

struct Large {
  const char *method, *params;
  Index n, p;
  long long least;  // questions: a panel, tile or block each
};
class LargeCancel : public testing::TestWithParam<Large> {};
INSTANTIATE_TEST_SUITE_P(
    Methods, LargeCancel,
    testing::Values(Large{"ols", "{}", 6000, 64, 20},  // the rows of a block are laid out before anything is factorised
                    Large{"ols", "{}", 700, 520, 20}, Large{"ols", "{}", 260, 2100, 10},
                    Large{"ridge", "{}", 700, 520, 40}, Large{"ridge", "{}", 260, 2100, 20},
                    Large{"pca", R"({"solver": "gram"})", 700, 520, 20},
                    Large{"pca", R"({"solver": "svd"})", 700, 520, 20}, Large{"whiten", "{}", 700, 520, 20},
                    Large{"lda", "{}", 700, 520, 8}, Large{"bayes_linear", "{}", 700, 520, 20},
                    Large{"lasso", R"({"lambdas": 5})", 700, 520, 20}, Large{"quantile", "{}", 700, 60, 20},
                    Large{"tree", R"({})", 3000, 12, 20}, Large{"forest", R"({"trees": 1})", 6000, 12, 8},
                    Large{"extra_trees", R"({"trees": 1})", 6000, 12, 8},
                    Large{"optimal_tree", R"({"depth": 2, "max_iterations": 2000})", 1000, 6, 100},
                    Large{"knn", R"({"k": [1, 3]})", 5000, 16, 400}),
    [](const auto& tested) { return std::string(tested.param.method) + std::to_string(tested.index); });

TEST_P(LargeCancel, IsHeardInsideOneLargeFactorisation) {
  const Large& large = GetParam();
  const Method& method = find_method(large.method, catalog());
  const Example example = wide(method, large.n, large.p);
  const Value params = from_json(large.params);
  Patience endless(kEndless);
  train_on(method, example, asking(endless), params);
  EXPECT_GE(endless.asked(), large.least);
  Patience patience(endless.asked() / 2);
  try {
    const auto trained = train_on(method, example, asking(patience), params);
    EXPECT_FALSE(trained.model->certificate().holds()) << trained.model->certificate().message;
  } catch (const Cancelled&) {}
  EXPECT_LE(patience.asked(), endless.asked() / 2 + 1 + kMoreQuestions);
}

}  // namespace
}  // namespace lemma::contract
