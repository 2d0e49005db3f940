// lemma/cluster/agglomerative_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/agglomerative/facts.hpp>
#include <lemma/cluster/agglomerative/linkage.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <lemma/model/fit.hpp>
#include <limits>
#include <numeric>
#include <set>

#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr Linkage kAll[] = {Linkage::single,   Linkage::complete, Linkage::average, Linkage::weighted,
                            Linkage::centroid, Linkage::median,   Linkage::ward};

Matrix columns_of(std::string_view name, const std::vector<std::string>& columns) {
  const Table table = dataset(name);
  Matrix x(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j)
    x.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(table.column(columns[j]).numbers().values.data(), x.rows());
  return x;
}
Matrix iris() { return columns_of("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}); }
Matrix arrests() { return columns_of("usarrests", {"Murder", "Assault", "UrbanPop", "Rape"}); }
Matrix cities() {
  return columns_of("uscities", {"ATLA", "CHIG", "DENV", "HOUS", "LA", "MIAM", "NY", "SF", "SEAT", "DC"});
}

std::vector<int> sizes_of(const Labels& labels) {
  std::vector<int> out(static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1, 0);
  for (const int label : labels) ++out[static_cast<std::size_t>(label)];
  std::sort(out.begin(), out.end());
  return out;
}
std::vector<int> whole(const Value& numbers) {
  const Vector all = numbers.as_vector("sizes");
  return {all.begin(), all.end()};
}

Labels cut_at(const AgglomerativeModel& model, int k) { return model.cut(Cut{.k = k}).codes("cluster"); }

/// The textbook: all clusters as lists of rows, all pairs compared by the definition, the closest joined. O(n⁴).
AgglomerativeModel by_definition(const AgglomerativeModel& like, const Matrix& x, Linkage linkage) {
  struct Cluster {
    std::vector<Index> rows;
    Vector middle;           // median linkage's
    std::vector<double> to;  // weighted: to each slot
  };
  const Index n = x.rows();
  std::vector<std::optional<Cluster>> all;
  for (Index i = 0; i < n; ++i) {
    Cluster one{{i}, x.row(i).transpose(), {}};
    for (Index j = 0; j < n; ++j) one.to.push_back((x.row(i) - x.row(j)).norm());
    all.emplace_back(std::move(one));
  }
  const auto mean = [&](const Cluster& c) {
    Vector out = Vector::Zero(x.cols());
    for (const Index i : c.rows) out += x.row(i).transpose();
    return Vector(out / static_cast<double>(c.rows.size()));
  };
  const auto apart = [&](std::size_t a, std::size_t b) {
    const Cluster &p = *all[a], &q = *all[b];
    double least = HUGE_VAL, most = 0, sum = 0;
    for (const Index i : p.rows)
      for (const Index j : q.rows) {
        const double d = (x.row(i) - x.row(j)).norm();
        least = std::min(least, d), most = std::max(most, d), sum += d;
      }
    const auto np = static_cast<double>(p.rows.size()), nq = static_cast<double>(q.rows.size());
    switch (linkage) {
      case Linkage::single: return least;
      case Linkage::complete: return most;
      case Linkage::average: return sum / (np * nq);
      case Linkage::weighted: return p.to[b];
      case Linkage::centroid: return (mean(p) - mean(q)).squaredNorm();
      case Linkage::median: return (p.middle - q.middle).squaredNorm();
      case Linkage::ward: return std::sqrt(2 * np * nq / (np + nq)) * (mean(p) - mean(q)).norm();
    }
    return 0.0;
  };
  std::vector<Joined> joined;
  for (Index step = 0; step + 1 < n; ++step) {
    std::size_t best_a = 0, best_b = 0;
    double best = HUGE_VAL;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = a + 1; b < all.size(); ++b)
        if (all[a] && all[b] && apart(a, b) < best) best = apart(a, b), best_a = a, best_b = b;
    Cluster &p = *all[best_a], &q = *all[best_b];
    joined.push_back({p.rows[0], q.rows[0], best});
    p.rows.insert(p.rows.end(), q.rows.begin(), q.rows.end());
    p.middle = 0.5 * (p.middle + q.middle);
    for (std::size_t c = 0; c < all.size(); ++c)
      if (all[c] && c != best_a && c != best_b) all[c]->to[best_a] = p.to[c] = 0.5 * (p.to[c] + q.to[c]);
    all[best_b].reset();
  }
  AgglomerativeModel out = like;
  out.spec.linkage = linkage;
  out.merges = merges_of(joined);
  for (Index t = 0; t + 1 < n; ++t) out.heights(t) = joined[at(t)].height;
  return out;
}

TEST(Agglomerative, IsTheTextbooksJoiningOfTheClosestPairForEveryLinkage) {
  const Matrix x = normal_matrix(40, 3, 17);
  for (const Linkage linkage : kAll) {
    const AgglomerativeModel model = fit(Agglomerative{.linkage = linkage}, x);
    const AgglomerativeModel slow = by_definition(model, x, linkage);
    EXPECT_EQ(model.merges, slow.merges) << name_of(linkage);
    EXPECT_LT((model.heights - slow.heights).cwiseAbs().maxCoeff(), 1e-12 * model.heights.maxCoeff())
        << name_of(linkage);
    EXPECT_TRUE(model.certificate.holds()) << name_of(linkage) << ": " << model.certificate.message;
  }
}

/// Hubert and Arabie's, by the pairs themselves.
double adjusted_rand(const Labels& a, const Labels& b) {
  double both = 0, in_a = 0, in_b = 0;
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      in_a += a[i] == a[j];
      in_b += b[i] == b[j];
      both += a[i] == a[j] && b[i] == b[j];
    }
  const double expected = in_a * in_b / (static_cast<double>(n) * static_cast<double>(n - 1) / 2);
  return (both - expected) / ((in_a + in_b) / 2 - expected);
}

// ---- R ----

void expect_golden(const std::string& id, const Matrix& x, Input input, const Labels& truth = {}) {
  const Golden golden(id);
  const std::pair<const char*, Linkage> named[] = {{"single", Linkage::single},
                                                   {"complete", Linkage::complete},
                                                   {"average", Linkage::average},
                                                   {"centroid", Linkage::centroid},
                                                   {"ward.D2", Linkage::ward}};
  for (const auto& [name, linkage] : named) {
    const Value& wanted = golden.value(name);
    const AgglomerativeModel model = fit(Agglomerative{.linkage = linkage, .input = input}, x);
    EXPECT_TRUE(model.certificate.holds()) << id << " " << name << ": " << model.certificate.message;
    const Vector heights = wanted.at("heights").as_vector("heights");
    ASSERT_EQ(heights.size(), model.heights.size());
    if (!wanted.at("order_stable").as_bool()) {  // ties: the file asks for the largest five alone
      for (Index t = heights.size() - 5; t < heights.size(); ++t)
        EXPECT_NEAR(model.heights(t), heights(t), 1e-2 * heights(t)) << id << " " << name << " " << t;
      continue;
    }
    for (Index t = 0; t < heights.size(); ++t)
      EXPECT_NEAR(model.heights(t), heights(t), 1e-8 * std::max(1e-6, heights(t))) << id << " " << name << " " << t;
    if (linkage == Linkage::centroid) continue;
    EXPECT_NEAR(model.cophenetic_correlation, wanted.at("cophenetic_correlation").as_double(), 1e-7) << id << name;
    const Vector ks = wanted.at("cluster_sizes_k").as_vector("k");
    for (Index i = 0; i < ks.size(); ++i)
      EXPECT_EQ(sizes_of(cut_at(model, static_cast<int>(ks(i)))), whole(wanted.at("cluster_sizes").as_list()[at(i)]))
          << id << " " << name << " k = " << ks(i);
    for (Index i = 0; !truth.empty() && i < ks.size(); ++i)
      EXPECT_NEAR(adjusted_rand(truth, cut_at(model, static_cast<int>(ks(i)))),
                  wanted.at("adjusted_rand_vs_labels").as_vector("rand")(i), 1e-9)
          << id << " " << name << " k = " << ks(i);
  }
  const Value& coefficients = golden.value("agnes_coefficient");
  for (const auto& [name, linkage] : {std::pair{"average", Linkage::average},
                                      {"single", Linkage::single},
                                      {"complete", Linkage::complete},
                                      {"ward", Linkage::ward}})
    EXPECT_NEAR(fit(Agglomerative{.linkage = linkage, .input = input}, x).coefficient,
                coefficients.at(name).as_double(), id == "hclust_uscities" ? 1e-8 : 1e-3)
        << id << " " << name;
}

TEST(AgglomerativeGolden, iris) {
  Labels species;
  for (int i = 0; i < 150; ++i) species.push_back(i / 50);
  expect_golden("hclust_iris", iris(), Input::rows, species);
}
TEST(AgglomerativeGolden, usarrests) { expect_golden("hclust_usarrests", arrests(), Input::rows); }
TEST(AgglomerativeGolden, uscities) { expect_golden("hclust_uscities", cities(), Input::square); }

TEST(AgglomerativeGolden, xclara) {
  const Golden golden("agnes_xclara");
  const Matrix x = columns_of("xclara", {"V1", "V2"});
  for (const auto& [name, agnes, linkage] : {std::tuple{"average", "average", Linkage::average},
                                             {"single", "single", Linkage::single},
                                             {"complete", "complete", Linkage::complete},
                                             {"ward.D2", "ward", Linkage::ward}}) {
    const AgglomerativeModel model = fit(Agglomerative{.linkage = linkage}, x);
    EXPECT_TRUE(model.certificate.holds()) << name;
    EXPECT_NEAR(model.coefficient, golden.value("agnes_coefficient").at(agnes).as_double(), 1e-5) << name;
    const Vector top = golden.value(name).at("top10_heights").as_vector("heights");
    for (Index i = 0; i < 10; ++i)
      EXPECT_NEAR(model.heights(model.heights.size() - 10 + i), top(i), 1e-5 * top(i)) << name << " " << i;
    EXPECT_EQ(sizes_of(cut_at(model, 3)), whole(golden.value(name).at("sizes_k3"))) << name;
  }
}

/// R: h <- hclust(dist(c(1, 2, 4, 7, 11)), "average"); h$merge, h$height, h$order, cutree(h, 2)
TEST(Agglomerative, NumbersMergesOrderAndClustersAsRDoes) {
  const Matrix x{{1}, {2}, {4}, {7}, {11}};
  const AgglomerativeModel model = fit(Agglomerative{.k = 2}, x);
  EXPECT_EQ(model.merges, (Matrix{{-1, -2}, {-3, 1}, {-4, -5}, {2, 3}}));
  EXPECT_LT((model.heights - Vector{{1, 2.5, 4, 20.0 / 3}}).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(model.order, (Vector{{3, 1, 2, 4, 5}}));
  EXPECT_EQ(model.labels, (Vector{{1, 1, 1, 2, 2}}));
  EXPECT_EQ(model.inversions, 0);
}

// ---- Properties ----

TEST(Agglomerative, ASquareOfDistancesGivesWhatTheRowsGive) {
  const Matrix x = normal_matrix(60, 2, 5);
  const Matrix square = Dissimilarities::of_rows(x, EuclideanMetric{}).square();
  for (const Linkage linkage : kAll) {
    const auto rows = fit(Agglomerative{.linkage = linkage}, x),
               given = fit(Agglomerative{.linkage = linkage, .input = Input::square}, square);
    EXPECT_EQ(rows.merges, given.merges) << name_of(linkage);
    EXPECT_LT((rows.heights - given.heights).cwiseAbs().maxCoeff(), 1e-12) << name_of(linkage);
    EXPECT_TRUE(given.certificate.holds()) << given.certificate.message;
  }
}

TEST(Agglomerative, CentroidsCanComeNearerByBeingJoinedAndTheCutByHeightSaysSo) {
  const Matrix x{{0, 0}, {1, 0}, {0.5, 0.9}};  // nearly equilateral: the third is nearer to the middle than to a corner
  const AgglomerativeModel model = fit(Agglomerative{.linkage = Linkage::centroid}, x);
  EXPECT_EQ(model.inversions, 1);
  EXPECT_LT(model.heights(1), model.heights(0));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_NE(message_of([&] { model.cut(Cut{.height = 0.9}); }).find("cut by --k"), std::string::npos);
  EXPECT_EQ(cut_at(model, 2), (Labels{0, 0, 1}));
}

TEST(Agglomerative, CutsByHeightAndByNumberAgree) {
  const AgglomerativeModel model = fit(Agglomerative{}, arrests());
  for (const int k : {1, 2, 7, 50}) {
    const double below = k == 50 ? 0 : model.heights(49 - k);
    EXPECT_EQ(model.cut(Cut{.height = below}).codes("cluster"), cut_at(model, k)) << k;
  }
  EXPECT_NE(message_of([&] { model.cut(Cut{.k = 51}); }).find("only 50 rows"), std::string::npos);
  EXPECT_NE(message_of([&] { model.cut(Cut{.k = 2, .height = 3}); }).find("two ways"), std::string::npos);
  EXPECT_EQ(model.cut(Cut{}).codes("cluster"), cut_at(model, *model.spec.k));
}

TEST(Agglomerative, TakesTheNumberOfClustersWhereTheGapIsWidest) {
  Matrix x = 0.1 * normal_matrix(90, 2, 8);
  for (Index i = 0; i < 90; ++i) x(i, 0) += 10.0 * static_cast<double>(i % 3), x(i, 1) += i % 3 == 1 ? 9 : 0;
  EXPECT_EQ(*fit(Agglomerative{}, x).spec.k, 3);
}

TEST(Agglomerative, RowsThatAreEqualAreJoinedAtOnceAndLeaveNoCoefficient) {
  const AgglomerativeModel model = fit(Agglomerative{}, Matrix(Matrix::Ones(12, 2)));
  EXPECT_EQ(model.heights.cwiseAbs().maxCoeff(), 0);
  EXPECT_TRUE(std::isnan(model.coefficient) && std::isnan(model.cophenetic_correlation));
  EXPECT_EQ(model.warnings.size(), 2U);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Agglomerative, ManyRowsGoThroughAllTheSizesOfTheTriangle) {
  const Matrix x = normal_matrix(700, 2, 3);
  for (const Linkage linkage : {Linkage::complete, Linkage::average, Linkage::weighted, Linkage::ward, Linkage::median})
    EXPECT_TRUE(fit(Agglomerative{.linkage = linkage}, x).certificate.holds()) << name_of(linkage);
}

/// A square with its joins on a waiting list, and a triangle in which each join is written at once.
TEST(Agglomerative, SingleLinkageOfManyRowsIsWhatASquareOfThemGives) {
  const Matrix x = normal_matrix(2100, 3, 11);  // more than Prim is asked for
  const AgglomerativeModel model = fit(Agglomerative{.linkage = Linkage::single, .k = 4}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const AgglomerativeModel square = fit(Agglomerative{.linkage = Linkage::single, .input = Input::square, .k = 4},
                                        Dissimilarities::of_rows(x, Metric()).square());
  EXPECT_EQ(model.merges, square.merges);
  EXPECT_EQ(model.heights, square.heights);
  EXPECT_NEAR(model.cophenetic_correlation, square.cophenetic_correlation, 1e-12);
  const Matrix backwards = x.colwise().reverse();
  EXPECT_TRUE(certify(model, MemoryRows(backwards), {}).holds());
  AgglomerativeModel wrong = model;
  wrong.cophenetic_correlation += 1e-6;
  EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
}

TEST(Agglomerative, ASquareAndATriangleGiveTheSameMergesToTheBitAlsoWhereDistancesAreTied) {
  const auto same = [](const Joined& a, const Joined& b) { return a.a == b.a && a.b == b.b && a.height == b.height; };
  Matrix whole_numbers = 3 * normal_matrix(400, 2, 21);  // many rows are equal, and most distances occur often
  for (double& x : whole_numbers.reshaped()) x = std::round(x);
  for (const Matrix& x :
       {normal_matrix(700, 3, 20), whole_numbers, Matrix(Matrix::Ones(90, 1)), normal_matrix(2, 2, 1)}) {
    const Dissimilarities all = Dissimilarities::of_rows(x, EuclideanMetric{});
    for (const Linkage linkage : kAll) {
      const auto square = joined_rows(linkage, all, {.threads = 2}, Kept::square),
                 triangle = joined_rows(linkage, all, {.threads = 1}, Kept::triangle);
      EXPECT_TRUE(std::ranges::equal(square, triangle, same)) << name_of(linkage) << " " << x.rows();
      const MergeTree tree(merges_of(square), "");
      Matrix turned(x.rows(), x.cols());
      for (Index p = 0; p < x.rows(); ++p) turned.row(p) = x.row(tree.order()[at(p)]);
      const Dissimilarities in_order = Dissimilarities::of_rows(turned, EuclideanMetric{});
      const MergeFacts facts = facts_of(tree, in_order, linkage, {});
      Vector heights(tree.steps());
      for (Index t = 0; t < tree.steps(); ++t) heights(t) = square[at(t)].height;
      for (const double share : {1.0, 1.5}) {  // as they are, and with one height that misses many pairs
        heights(tree.steps() / 2) *= share;
        const Missed one = missed_pairs(tree, heights, in_order, linkage, facts, {}, Kept::square),
                     other = missed_pairs(tree, heights, in_order, linkage, facts, {}, Kept::triangle);
        EXPECT_EQ(one.by, other.by) << name_of(linkage) << " " << x.rows();
        EXPECT_EQ(one.step, other.step) << name_of(linkage) << " " << x.rows();
      }
    }
  }
}

TEST(Agglomerative, WithoutRoomForASquareTheModelIsTheSameAndFromRowsToo) {
  const Matrix x = normal_matrix(200, 2, 9), given = Dissimilarities::of_rows(x, EuclideanMetric{}).square();
  const double bytes = Dissimilarities::bytes(200);
  for (const Linkage linkage : kAll) {
    const auto roomy = fit(Agglomerative{.linkage = linkage, .input = Input::square}, given),
               tight =
                   fit(Agglomerative{.linkage = linkage, .input = Input::square, .gigabytes = 2.1e-9 * bytes}, given),
               rows = fit(Agglomerative{.linkage = linkage}, x);
    EXPECT_EQ(roomy.merges, tight.merges) << name_of(linkage);
    EXPECT_EQ(roomy.heights, tight.heights) << name_of(linkage);
    EXPECT_EQ(roomy.certificate.value, tight.certificate.value) << name_of(linkage);
    EXPECT_TRUE(tight.certificate.holds()) << name_of(linkage);
    EXPECT_EQ(roomy.merges, rows.merges) << name_of(linkage);
    EXPECT_EQ(roomy.heights, rows.heights) << name_of(linkage);
    EXPECT_TRUE(rows.certificate.holds()) << name_of(linkage);
  }
}

// ---- The certificate ----

/// Merges of a wrong algorithm in a model of these rows: what follows from them alone is right.
AgglomerativeModel with_merges(AgglomerativeModel model, const std::vector<Joined>& joined) {
  model.merges = merges_of(joined);
  for (std::size_t t = 0; t < joined.size(); ++t) model.heights(static_cast<Index>(t)) = joined[t].height;
  const MergeTree tree(model.merges, "wrong");
  for (Index p = 0; p < tree.rows(); ++p) model.order(p) = static_cast<double>(tree.order()[at(p)]) + 1;
  const Labels labels = cut_into(model.merges, *model.spec.k);
  for (std::size_t i = 0; i < labels.size(); ++i) model.labels(static_cast<Index>(i)) = labels[i] + 1;
  model.inversions = inversions_of(tree, model.heights);
  model.coefficient = agglomerative_coefficient(tree, model.heights);
  return model;
}

TEST(AgglomerativeCertificate, FailsTheNaturalWrongAlgorithms) {
  const Matrix x = arrests();
  const Dissimilarities all = Dissimilarities::of_rows(x, EuclideanMetric{});
  const AgglomerativeModel average = fit(Agglomerative{.linkage = Linkage::average}, x);
  ASSERT_TRUE(certify(average, MemoryRows(x), {}).holds());

  // The chain for a linkage that is not reducible: joins pairs that are nearest to each other, though others come nearer.
  // Its heights are those of its merges, and only the closest pair of the moment is missed.
  const AgglomerativeModel centroid = fit(Agglomerative{.linkage = Linkage::centroid}, x);
  auto swapped = std::vector<Joined>();
  for (const Joined& each : joined_rows(Linkage::centroid, all, {})) swapped.push_back(each);
  ASSERT_TRUE(certify(centroid, MemoryRows(x), {}).holds());
  std::stable_sort(swapped.begin(), swapped.end(), [](const auto& a, const auto& b) { return a.height < b.height; });
  if (inversions_of(MergeTree(centroid.merges, "centroid"), centroid.heights) > 0) {  // sorted as those of a chain are
    EXPECT_FALSE(certify(with_merges(centroid, swapped), MemoryRows(x), {}).holds());
  }

  // Another linkage under this one's name, and Ward's of distances that are not squared (R's old ward.D).
  for (const Linkage wrong : {Linkage::single, Linkage::complete, Linkage::weighted})
    EXPECT_FALSE(certify(with_merges(average, joined_rows(wrong, all, {})), MemoryRows(x), {}).holds());
  std::vector<double> roots(all.kept().begin(), all.kept().end());
  for (double& d : roots) d = std::sqrt(d);
  auto unsquared = joined_rows(Linkage::ward, Dissimilarities::of_triangle(roots), {});
  for (Joined& each : unsquared) each.height *= each.height;
  const AgglomerativeModel ward = fit(Agglomerative{.linkage = Linkage::ward}, x);
  EXPECT_FALSE(certify(with_merges(ward, unsquared), MemoryRows(x), {}).holds());
}

/// Joins the second closest pair once, and goes on as it should: every height is that of its clusters.
TEST(AgglomerativeCertificate, SeesAPairThatWasPassedOverThoughEveryHeightIsRight) {
  const Matrix x = arrests();
  const AgglomerativeModel model = fit(Agglomerative{.linkage = Linkage::complete}, x);
  auto joined = joined_rows(Linkage::complete, Dissimilarities::of_rows(x, EuclideanMetric{}), {});
  std::swap(joined[0], joined[1]);  // both join rows alone, so that either may come first but for its height
  ASSERT_NE(joined[0].height, joined[1].height);
  const auto wrong = with_merges(model, joined);
  const Certificate found = certify(wrong, MemoryRows(x), {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("before merge 1 are closer"), std::string::npos) << found.message;
}

TEST(AgglomerativeCertificate, KnowsTheRowsInAnotherOrderAndRefusesOthers) {
  const Matrix x = iris();
  const AgglomerativeModel model = fit(Agglomerative{}, x);
  RandomStream stream(4);
  const auto order = permutation(stream, 150);
  Matrix shuffled(150, 4);
  for (Index i = 0; i < 150; ++i) shuffled.row(i) = x.row(order[at(i)]);
  EXPECT_TRUE(certify(model, MemoryRows(shuffled), {}).holds());
  EXPECT_FALSE(certify(model, MemoryRows(x.topRows(149)), {}).holds());
  shuffled(3, 0) += 1;
  EXPECT_FALSE(certify(model, MemoryRows(shuffled), {}).holds());
}

// ---- What it cannot use ----

TEST(Agglomerative, SaysWhatIsWrongWithDissimilarities) {
  const auto refusal = [](const Matrix& square) {
    return message_of([&] { fit(Agglomerative{.input = Input::square}, square); });
  };
  Matrix square = cities();
  square(2, 5) += 10;
  EXPECT_NE(refusal(square).find("it must be the same"), std::string::npos) << refusal(square);
  square = cities();
  square(2, 5) = square(5, 2) = -4;
  EXPECT_NE(refusal(square).find("must not be negative"), std::string::npos) << refusal(square);
  square = cities();
  square(4, 4) = 7;
  EXPECT_NE(refusal(square).find("must be 0"), std::string::npos) << refusal(square);
  EXPECT_NE(refusal(cities().leftCols(9)).find("as many columns as rows"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Agglomerative{.k = 11}, cities()); }).find("only 10 rows"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Agglomerative{.input = Input::pairs}, cities()); }).find("rows or a square"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Agglomerative{}, Matrix(cities().topRows(1))); }).find("at least 2"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Agglomerative{.gigabytes = 1e-6}, iris()); }).find("--gigabytes"), std::string::npos);
}

TEST(Agglomerative, RefusesAModelWhosePartsDoNotFitTogether) {
  const AgglomerativeModel model = fit(Agglomerative{.k = 3}, arrests());
  EXPECT_NO_THROW(model.check());
  AgglomerativeModel wrong = model;
  wrong.merges(3, 0) = wrong.merges(2, 0);
  EXPECT_THROW(wrong.check(), Error);
  wrong = model;
  std::swap(wrong.order(0), wrong.order(1));
  EXPECT_THROW(wrong.check(), Error);
  wrong = model;
  wrong.labels(7) = 3 - wrong.labels(7) + 1;
  wrong.labels(8) = 99;
  EXPECT_THROW(wrong.check(), Error);
}

}  // namespace
}  // namespace lemma
