// lemma/linear/pls.hpp
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// Partial least squares regression of one response or several: a few components t_a = X r_a of the columns, each the one of greatest
/// covariance with the responses that is orthogonal to those before, and least squares on them. With X and Y centred (and, with
/// `standardize`, of standard deviation 1) and S = XᵀY:
///
///     w_a   the first left singular vector of S_a,   S_1 = S                      direction of greatest covariance
///     r_a = w_a − Σ_{b<a} (p_b·w_a) r_b,    t_a = X r_a                            the component, from X itself
///     p_a = Xᵀt_a / t_a·t_a,   q_a = Yᵀt_a / t_a·t_a,   S_{a+1} = S_a − (t_a·t_a) p_a q_aᵀ
///     coefficients  B = R Qᵀ = Σ_a r_a q_aᵀ
///
/// (Wold; in this form Dayal and MacGregor 1997). With as many components as X has rank it is least squares. A component whose covariance with
/// the responses is nothing but rounding ends the search before `components` are found, with a warning.
///
/// Cost         one scan, O(n (p + m)²) time and O((p + m)²) memory for m responses; O(p² + p m²) for each component.
/// Certificate  consistent: from plain products of the rows with the model's own components, these are orthogonal, each w_a is the direction of
///              greatest covariance that was left, and the coefficients are least squares on the components.
struct Pls {
  int components = 2;
  bool standardize = true;

  static constexpr std::string_view name = "pls";
  static constexpr MethodAbout about{
      .family = "linear",
      .task = Task::regression,
      .summary = "partial least squares: components of greatest covariance with one response or several",
      .objective = "w_a = argmax |cov(X w, Y)| over |w| = 1, components orthogonal; then least squares on them",
      .example = "lemma fit pls boston 'medv ~ .' --components 3",
      .scans = true,
      .takes_weights = true,
      .takes_several = true};
  static constexpr auto params() {
    return Listing{param("components", &Pls::components, "how many", at_least(1)),
                   param("standardize", &Pls::standardize,
                         "columns and responses of standard deviation 1 before they are compared")};
  }
};
static_assert(Described<Pls>);

struct PlsModel : Evidence {
  Pls spec;  // with the components that were found
  Matrix coefficients;
  Vector intercept;
  Matrix weights, loadings, response_loadings, rotation;
  Vector explained, response_explained;
  Vector mean, scale, response_mean, response_scale;

  static constexpr auto fields() {
    using M = PlsModel;
    return Listing{
        result("coefficients", &M::coefficients, "a row for each column, a column for each response", kFeaturesDown),
        result("intercept", &M::intercept, "of each response"),
        result("weights", &M::weights, "w of each component, a row for each column", kFeaturesDown),
        result("loadings", &M::loadings, "p of each component: how the columns follow it", kFeaturesDown),
        result("response_loadings", &M::response_loadings, "q of each component, a row for each response"),
        result("explained", &M::explained, "share of the variance of the columns that each component explains"),
        result("response_explained", &M::response_explained, "the same of the responses"),
        state("rotation", &M::rotation, "r of each component: scores are the standardised rows times it"),
        state("mean", &M::mean, "of each column"),
        state("scale", &M::scale, "of each column; 1 where columns are not standardised"),
        state("response_mean", &M::response_mean, "of each response"),
        state("response_scale", &M::response_scale, "of each response")};
  }
  static constexpr auto parts() { return Listing{part(kValuesPart, &PlsModel::values)}; }
  Index width() const { return mean.size(); }
  Index responses() const { return intercept.size(); }
  std::vector<Index> response_classes() const {
    return responses() > 1 ? std::vector<Index>(static_cast<std::size_t>(responses()), 0) : std::vector<Index>{};
  }
  bool gives(std::string_view part) const {
    return part == kCoordinatesPart.name || (responses() > 1) == (part == kValuesPart.name);
  }
  void check() const;

  Matrix values(const MatrixView& x) const;   // a column for each response
  Vector predict(const MatrixView& x) const;  // of one response
  Matrix coordinates(const MatrixView& x) const;
  std::vector<std::string> coordinate_names() const;
  Prediction prediction(const MatrixView& x, const PredictOptions& options) const;
  std::string summary(const Names& names) const;
};

PlsModel fit(const Valid<Pls>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const PlsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Pls>();

}  // namespace lemma
