// lemma/geometry/dissimilarities_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/dissimilarities.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Matrix square(std::initializer_list<double> numbers) {
  const auto n = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(numbers.size()))));
  return Eigen::Map<const Matrix>(numbers.begin(), n, n);
}

TEST(Dissimilarities, AreThoseOfEachPairInTheOrderOfR) {
  for (const Index n : {2, 16, 17, 33, 100, 600}) {
    const Matrix x = normal_matrix(n, 3, 1);
    for (const char* text : {"euclidean", "manhattan", "cosine", "jaccard"}) {
      const auto metric = BoundMetric::of(Metric::parse(text), x);
      const auto all = Dissimilarities::of_rows(x, metric);
      ASSERT_EQ(all.kept().size(), static_cast<std::size_t>(n * (n - 1) / 2));
      std::size_t next = 0;
      for (Index i = 0; i < n; ++i)
        for (Index j = i + 1; j < n; ++j) {
          if (n > 100 && (i * 7 + j) % 11 != 0) {
            ++next;
            continue;
          }
          const double d = metric.distance({x.row(i).data(), 3}, {x.row(j).data(), 3});
          ASSERT_EQ(all.kept()[next++], d);
          ASSERT_EQ(all(i, j), d);
          ASSERT_EQ(all(j, i), d);
        }
    }
  }
}

TEST(Dissimilarities, AreTheSameOnDemandAndOnAnyNumberOfThreads) {
  const Matrix x = normal_matrix(300, 5, 2);
  const auto one = Dissimilarities::of_rows(x, Metric(), {}, {.threads = 1});
  const auto many = Dissimilarities::of_rows(x, Metric(), {}, {.threads = 4});
  const auto later = Dissimilarities::on_demand(x, Metric());
  EXPECT_TRUE(std::ranges::equal(one.kept(), many.kept()));
  EXPECT_FALSE(later.is_kept());
  EXPECT_TRUE(later.kept().empty());
  EXPECT_EQ(later.square(), one.square());
  for (const Index i : {0, 5, 299}) EXPECT_EQ(later(i, 7), one(i, 7));
}

TEST(Dissimilarities, OfARowDoNotDependOnItsCompany) {
  const Matrix x = normal_matrix(50, 6, 3);
  const auto all = Dissimilarities::of_rows(x, Metric()), few = Dissimilarities::of_rows(x.middleRows(11, 7), Metric());
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 7; ++j) EXPECT_EQ(few(i, j), all(11 + i, 11 + j));
}

TEST(Dissimilarities, GivenAsAMatrixOrATriangleAreTheSame) {
  const Matrix x = normal_matrix(20, 3, 4);
  const auto all = Dissimilarities::of_rows(x, Metric());
  const auto from_square = Dissimilarities::of_square(all.square());
  const auto from_triangle = Dissimilarities::of_triangle({all.kept().begin(), all.kept().end()});
  EXPECT_EQ(from_square.square(), all.square());
  EXPECT_EQ(from_triangle.square(), all.square());
  EXPECT_EQ(from_triangle.count(), 20);
}

TEST(Dissimilarities, NameTheFirstPairThatIsWrong) {
  const std::vector<std::string> cities = {"Rome", "Oslo", "Bern"};
  const auto said = [&](const Matrix& d, bool named = true) {
    return message_of([&] { Dissimilarities::of_square(d, named ? cities : std::vector<std::string>{}); });
  };
  EXPECT_EQ(said(square({0, 1, 2, 1, 0, 3, 2, 3, 0})), "no error");
  EXPECT_EQ(said(square({0, 1, 2, 1, 0, 3, 2, 4, 0})),
            "the dissimilarity of 'Oslo' and 'Bern' is 3, but that of 'Bern' and 'Oslo' is 4: it must be the same");
  EXPECT_EQ(said(square({0, 1, -2, 1, 0, 3, -2, 3, 0}), false),
            "the dissimilarity of 1 and 3 is -2, must not be negative");
  EXPECT_EQ(said(square({0, 1, 2, 1, 5, 3, 2, 3, 0})), "the dissimilarity of 'Oslo' and itself is 5, must be 0");
  EXPECT_EQ(said(square({0, 1, 2, 1, 0, NAN, 2, NAN, 0})), "the dissimilarity of 'Oslo' and 'Bern' is missing");
  EXPECT_EQ(said(square({0, 1, HUGE_VAL, 1, 0, 1, HUGE_VAL, 1, 0})),
            "the dissimilarity of 'Rome' and 'Bern' is infinite");
  EXPECT_TRUE(contains(said(Matrix::Zero(3, 2)), "3 rows and 2 columns"));
  EXPECT_TRUE(contains(said(Matrix::Zero(2, 2)), "3 names for 2 rows"));
}

TEST(Dissimilarities, TakeRoundingForRounding) {
  const auto d = Dissimilarities::of_square(square({1e-17, 1, -1e-16, 1 + 2e-16, 0, 3, 0, 3, 0}));
  EXPECT_EQ(d(0, 2), 0);
  EXPECT_NEAR(d(0, 1), 1, 1e-15);
  EXPECT_EQ(d(0, 1), d(1, 0));
  EXPECT_TRUE(contains(message_of([] {
                         Dissimilarities::of_square(square({0, 1, 1 + 1e-8, 0}));
                       }),
                       "must be the same"));
}

TEST(Dissimilarities, CheckATriangleToo) {
  const auto said = [](std::vector<double> d) {
    return message_of([&] { Dissimilarities::of_triangle(std::move(d)); });
  };
  EXPECT_TRUE(contains(said({1, 2}), "2 is not such a number"));
  EXPECT_EQ(said({1, 2, -3}), "the dissimilarity of 2 and 3 is -3, must not be negative");
  EXPECT_EQ(said({1, NAN, 3}), "the dissimilarity of 1 and 3 is missing");
  EXPECT_EQ(Dissimilarities::of_triangle({}).count(), 1);
  EXPECT_EQ(Dissimilarities::of_triangle({7}, {"a", "b"}).name(1), "'b'");
  EXPECT_EQ(Dissimilarities::of_triangle({}, {"a"}).count(), 1);
}

TEST(Dissimilarities, OfRowsSayWhichPairCannotBeCompared) {
  const double m = NAN;
  const Matrix rows = (Matrix(3, 2) << 1, m, 2, 3, m, 4).finished();
  EXPECT_EQ(message_of([&] {
              Dissimilarities::of_rows(rows, GowerMetric{}, {"a", "b", "c"});
            }),
            "the dissimilarity of 'a' and 'c' is not known: no column is known of both");
  const Matrix far = (Matrix(2, 1) << 0, 1e200).finished();
  EXPECT_TRUE(contains(message_of([&] { Dissimilarities::of_rows(far, SqEuclideanMetric{}); }), "too large"));
  EXPECT_TRUE(contains(message_of([&] { Dissimilarities::of_rows(rows, Metric()); }), "row 1, column 2 is missing"));
}

TEST(Dissimilarities, OfNothingOfOneAndOfEqualRows) {
  EXPECT_EQ(Dissimilarities::of_rows(Matrix(0, 2), Metric()).count(), 0);
  EXPECT_EQ(Dissimilarities::of_square(Matrix(0, 0)).count(), 0);
  const auto one = Dissimilarities::of_rows(Matrix::Ones(1, 2), Metric());
  EXPECT_EQ(one.square(), Matrix::Zero(1, 1));
  EXPECT_EQ(Dissimilarities::of_rows(Matrix::Ones(40, 2), Metric()).square(), Matrix::Zero(40, 40));
}

class CancelledAtOnce final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return true; }
};

TEST(Dissimilarities, CanBeCancelled) {
  CancelledAtOnce progress;
  EXPECT_THROW(Dissimilarities::of_rows(normal_matrix(200, 2, 1), Metric(), {}, {.progress = &progress}), Cancelled);
}

}  // namespace
}  // namespace lemma
