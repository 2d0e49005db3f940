// lemma/linear/ols/certify_test.cpp: a model whose coefficients are right and whose other numbers are not.
#include <functional>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/math/distributions.hpp>

namespace lemma {
namespace {

using namespace ols_test;
using Wrong = std::function<void(OlsModel&)>;

/// Every field but the two that the excess speaks of, moved by `share` of itself.
std::vector<std::pair<std::string, Wrong>> all_moved(double share) {
  std::vector<std::pair<std::string, Wrong>> out;
  for_each_field<OlsModel>([&]<class T>(const Field<OlsModel, T>& field) {
    const std::string name(field.name);
    if (name == "coefficients" || name == "intercept" || name == "mean_rest") return;
    const auto member = field.member;
    if constexpr (std::is_same_v<T, double>) out.emplace_back(name, [=](OlsModel& m) { m.*member *= 1 + share; });
    if (name == "scatter") return;  // of robust errors: looked at where they are
    if constexpr (std::is_same_v<T, Vector> || std::is_same_v<T, Matrix>)
      out.emplace_back(name, [=](OlsModel& m) { *((m.*member).data() + (m.*member).size() - 1) *= 1 + share; });
  });
  return out;
}

TEST(OlsCertificate, NamesTheNumberThatIsNotRight) {
  const Data data(200, 3);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto right = fit(Ols{}, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  const auto wrongs = all_moved(1e-6);
  EXPECT_GE(wrongs.size(), 25U);
  for (const auto& [field, damage] : wrongs) {
    OlsModel wrong = right;
    damage(wrong);
    const auto certificate = certify(wrong, rows, {});
    EXPECT_FALSE(certificate.holds()) << field;
    EXPECT_EQ(certificate.kind, "difference of " + field);
    EXPECT_NE(certificate.message.find("'" + field + "'"), std::string::npos) << certificate.message;
    EXPECT_LT(certificate.value, 4e-6) << field;  // in the unit of the field
  }
}

TEST(OlsCertificate, AMissingNumberIsNotTheNumberAndTheOtherWayRound) {
  const Data data(50, 2);
  const MemoryRows rows = rows_of(data.x, data.y);
  OlsModel lost = fit(Ols{}, rows, {});
  lost.sigma = OlsModel::kNone;
  EXPECT_EQ(certify(lost, rows, {}).value, 1);
  const Data few(3, 2);  // three coefficients of three rows: there is no sigma
  const MemoryRows three = rows_of(few.x, few.y);
  OlsModel made_up = fit(Ols{}, three, {});
  ASSERT_TRUE(std::isnan(made_up.sigma));
  ASSERT_TRUE(certify(made_up, three, {}).holds()) << certify(made_up, three, {}).message;
  made_up.sigma = 0.1;
  EXPECT_EQ(certify(made_up, three, {}).kind, "difference of sigma");
}

/// The mistakes that textbooks warn of, each carried through to what follows from it.
TEST(OlsCertificate, TheNaturalWrongTestsFail) {
  const Data data(30, 3);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto right = fit(Ols{}, rows, {});
  const auto fails = [&](const Wrong& mistake, const std::string& kind) {
    OlsModel wrong = right;
    mistake(wrong);
    const auto certificate = certify(wrong, rows, {});
    EXPECT_FALSE(certificate.holds()) << kind;
    EXPECT_EQ(certificate.kind, kind);
  };
  const auto retest = [](OlsModel& m) {
    for (Index j = 0; j < m.width(); ++j) {
      m.std_errors(j) = std::sqrt(m.covariance(j + 1, j + 1));
      m.t(j) = m.coefficients(j) / m.std_errors(j);
      m.p(j) = t_two_sided(m.t(j), m.df_residual);
    }
  };
  fails(  // the divisor n
      [&](OlsModel& m) {
        m.covariance *= m.df_residual / 30;
        m.sigma *= std::sqrt(m.df_residual / 30);
        retest(m);
      },
      "difference of sigma");
  fails(  // n without the intercept's degree of freedom
      [&](OlsModel& m) {
        m.df_residual += 1;
        m.sigma = std::sqrt(m.rss / m.df_residual);
        m.covariance *= right.sigma == 0 ? 0 : std::pow(m.sigma / right.sigma, 2);
        retest(m);
      },
      "difference of df_residual");
  fails(  // errors of one column at a time, as if the others were not there
      [&](OlsModel& m) {
        for (Index j = 0; j < 3; ++j) m.covariance(j + 1, j + 1) = m.sigma * m.sigma / m.triangle.col(j).squaredNorm();
        retest(m);
      },
      "difference of covariance");
  fails(
      [](OlsModel& m) {
        for (Index j = 0; j < 3; ++j) m.p(j) = 2 * normal_upper(std::abs(m.t(j)));
      },
      "difference of p");
  fails([](OlsModel& m) { m.p /= 2; }, "difference of p");
  fails([](OlsModel& m) { m.aic -= 2; }, "difference of aic");  // σ not counted
  fails([](OlsModel& m) { m.adj_r_squared = m.r_squared; }, "difference of adj_r_squared");
}

TEST(OlsCertificate, HoldsForWeightsPrecisionOffsetsAliasesAndPerfectFits) {
  Data data(700, 4);
  data.x.col(3) = data.x.col(0) - 2 * data.x.col(1);
  std::vector<double> weight, precision, offset, line;
  for (Index i = 0; i < 700; ++i) {
    weight.push_back(static_cast<double>(i % 3));
    precision.push_back(0.5 + static_cast<double>(i % 5));
    offset.push_back(static_cast<double>(i));
    line.push_back(3 + 2 * data.x(i, 0));
  }
  for (const bool intercept : {true, false}) {
    MemoryRows rows = rows_of(data.x, data.y), perfect = rows_of(data.x, line);
    rows.weights(weight).precision(precision).offset(offset);
    for (const MemoryRows* each : {&rows, &perfect}) {
      const auto model = fit(Ols{.intercept = intercept}, *each, {});
      const auto certificate = certify(model, *each, {});
      EXPECT_TRUE(certificate.holds()) << intercept << ": " << certificate.kind << " " << certificate.message;
    }
  }
}

/// Both routes of the fit, an offset, units far apart, nearly dependent columns: rounding is no damage.
TEST(OlsCertificate, RoundingIsNoDamage) {
  for (const Index n : {20, 600, 5000})
    for (const double offset : {0.0, 1e7})
      for (const double near : {1.0, 1e-4, 1e-8}) {
        Data data(n, 4, static_cast<unsigned>(n));
        data.x.col(3) = data.x.col(0) + near * data.x.col(3);
        data.x.col(1) *= 1e9;
        data.x.array() += offset;
        const MemoryRows rows = rows_of(data.x, data.y);
        const auto certificate = certify(fit(Ols{}, rows, {}), rows, {});
        EXPECT_TRUE(certificate.holds()) << n << " " << offset << " " << near << ": " << certificate.message;
      }
}

}  // namespace
}  // namespace lemma
