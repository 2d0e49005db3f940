// lemma/linear/shared/polynomial_test.cpp: polynomial regression is ols with poly() in the formula.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>

namespace lemma {

TEST(Polynomial, AgreesWithTheReferenceOnMcycle) {
  const Golden golden("poly_mcycle");
  const Table mcycle = dataset("mcycle");
  const auto& fits = golden.value("fits").as_list();
  ASSERT_GE(fits.size(), 7U);
  for (const auto& theirs : fits) {
    const auto degree = static_cast<int>(theirs.at("degree").as_double());
    const std::string terms = degree == 0 ? "1" : fmt::format("poly(times, {})", degree);
    const auto m = fit(Ols{}, formula("accel ~ " + terms), mcycle);
    const auto close = [&](const char* key, double ours, double relative) {
      const double expected = theirs.at(key).as_double();
      EXPECT_NEAR(ours, expected, relative * std::max(1.0, std::abs(expected))) << key << " of degree " << degree;
    };
    close("rss", m.rss, 1e-8);
    close("r_squared", m.r_squared, 1e-8);
    close("aic", m.aic, 1e-8);
    close("bic", m.bic, 1e-8);
    const DesignData data = m.design.train(mcycle);
    MemoryRows rows(data.x);
    rows.response(data.y);
    close("loocv_mse", leave_one_out_mse(m, rows), 1e-8);
    const Value fitted = golden.shown(m.predict(data.x));
    EXPECT_TRUE(Golden::compare(fmt::format("degree {}", degree), fitted, theirs.at("fitted"), {"abs", 1e-7}));

    // The same curve in powers of the standardised times: their coefficients, without poly().
    if (degree == 0) continue;
    const auto& times = mcycle.column("times").numbers().values;
    const Eigen::Map<const Vector> t(times.data(), static_cast<Index>(times.size()));
    const Vector z =
        (t.array() - t.mean()) / std::sqrt((t.array() - t.mean()).square().sum() / (static_cast<double>(t.size()) - 1));
    Matrix powers(t.size(), degree);
    for (Index j = 0; j < degree; ++j) powers.col(j) = z.array().pow(static_cast<double>(j + 1));
    const auto plain = fit(Ols{}, powers, Eigen::Map<const Vector>(data.y.data(), t.size()));
    const Vector coefficients = theirs.at("coef_standardised_x").as_vector();
    EXPECT_NEAR(plain.intercept, coefficients(0), 1e-6 * std::max(1.0, std::abs(coefficients(0))));
    for (Index j = 0; j < degree; ++j)
      EXPECT_NEAR(plain.coefficients(j), coefficients(j + 1), 1e-6 * std::max(1.0, std::abs(coefficients(j + 1))))
          << "degree " << degree;
  }
}

}  // namespace lemma
