// lemma/linear/pls.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/pls.hpp>
#include <lemma/linear/shared/several_responses.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/row_products.hpp>

namespace lemma {
namespace {

constexpr double kLeastCovariance = 1e-8;  // of the first: what is left is near its rounding
constexpr double kLeastSize = 1e-12;       // of a component, beside that of the columns

/// The first left singular vector of S, turned so that its largest entry is positive, and the singular value.
struct Direction {
  Vector w;
  double size = 0;
};
Direction greatest_covariance(const Matrix& s) {
  Direction out;
  if (s.cols() == 1) {
    out.w = s.col(0);
  } else {
    const Matrix square = s.transpose() * s;
    out.w = s * symmetric_eigen(square, 1).vectors.col(0);
  }
  out.size = out.w.norm();
  if (!(out.size > 0)) return out;
  out.w /= out.size;
  Index largest = 0;
  out.w.cwiseAbs().maxCoeff(&largest);
  if (out.w(largest) < 0) out.w = -out.w;
  return out;
}

/// Coefficients in the user's units, and the intercepts.
void set_coefficients(PlsModel& model) {
  model.coefficients = model.rotation * model.response_loadings.transpose();
  model.coefficients.array().colwise() /= model.scale.array();
  model.coefficients.array().rowwise() *= model.response_scale.transpose().array();
  model.intercept = model.response_mean - model.coefficients.transpose() * model.mean;
}

Vector spreads(const Vector& variances, bool standardize) {
  Vector out = Vector::Ones(variances.size());
  for (Index j = 0; standardize && j < out.size(); ++j)
    if (variances(j) > 0) out(j) = std::sqrt(variances(j));
  return out;
}

/// Plain products of the rows with the components, and of these with each other.
struct Products {
  const PlsModel* model;
  Matrix tt, ty, xt, xy;
  Vector xx, yy, x, y;
  double weight = 0;
  explicit Products(const PlsModel& of) : model(&of) {
    const Index p = of.width(), m = of.responses(), a = of.rotation.cols();
    tt = Matrix::Zero(a, a);
    ty = Matrix::Zero(a, m);
    xt = Matrix::Zero(p, a);
    xy = Matrix::Zero(p, m);
    xx = x = Vector::Zero(p);
    yy = y = Vector::Zero(m);
  }
  void accumulate(const Block& block) {
    const PlsModel& of = *model;
    Vector z(of.width()), r(of.responses());
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      z = (block.x.row(i).transpose() - of.mean).cwiseQuotient(of.scale);
      for (Index k = 0; k < r.size(); ++k) r(k) = (response(block, i, k) - of.response_mean(k)) / of.response_scale(k);
      const Vector t = of.rotation.transpose() * z;
      tt += w * t * t.transpose();
      ty += w * t * r.transpose();
      xt += w * z * t.transpose();
      xy += w * z * r.transpose();
      xx += w * z.cwiseAbs2();
      yy += w * r.cwiseAbs2();
      x += w * z;
      y += w * r;
      weight += w;
    }
  }
  void merge(const Products& other) {
    tt += other.tt;
    ty += other.ty;
    xt += other.xt;
    xy += other.xy;
    xx += other.xx;
    yy += other.yy;
    x += other.x;
    y += other.y;
    weight += other.weight;
  }
};

double relative(const Matrix& a, const Matrix& b) {
  const double size = std::max(a.norm(), b.norm()), off = (a - b).norm();
  return off == 0 ? 0 : size > 0 ? off / size : 1;
}
double worse(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

/// By how much what the model tells is not what the products say.
double off_by(const PlsModel& model, const Products& seen) {
  const double n = std::max(seen.weight, 1.0), sd = std::sqrt(std::max(n - 1, 1.0) / n);
  double off = worse(seen.x.cwiseAbs().maxCoeff() / n, seen.y.cwiseAbs().maxCoeff() / n);
  for (Index j = 0; model.spec.standardize && j < seen.xx.size(); ++j)
    if (seen.xx(j) > 0) off = worse(off, std::abs(std::sqrt(seen.xx(j) / n) / sd - 1));
  for (Index k = 0; model.spec.standardize && k < seen.yy.size(); ++k)
    if (seen.yy(k) > 0) off = worse(off, std::abs(std::sqrt(seen.yy(k) / n) / sd - 1));
  Matrix left = seen.xy, found = model.loadings;
  for (Index a = 0; a < model.rotation.cols(); ++a) {
    const double own = seen.tt(a, a);
    for (Index b = 0; b < a; ++b) off = worse(off, std::abs(seen.tt(a, b)) / std::sqrt(own * seen.tt(b, b)));
    const Vector w = model.weights.col(a), image = left.transpose() * w;
    const Matrix square = left.transpose() * left;
    const double greatest = symmetric_eigen(square, 1).values(0);
    off = worse(off, relative(left * image, greatest * w));  // S Sᵀ w = λ w, with the greatest λ
    const Vector p = seen.xt.col(a) / own, q = seen.ty.row(a).transpose() / own;
    found.col(a) = p;
    Vector r = w;
    for (Index b = 0; b < a; ++b) r -= found.col(b).dot(w) * model.rotation.col(b);
    off = worse(off, relative(model.rotation.col(a), r));
    off = worse(off, worse(relative(model.loadings.col(a), p), relative(model.response_loadings.col(a), q)));
    left -= own * p * q.transpose();
    off = worse(off, std::abs(model.explained(a) - own * p.squaredNorm() / seen.xx.sum()));
    off = worse(off, std::abs(model.response_explained(a) - own * q.squaredNorm() / std::max(seen.yy.sum(), 1e-300)));
  }
  PlsModel anew = model;
  anew.response_loadings = (seen.ty.array().colwise() / seen.tt.diagonal().array()).matrix().transpose();
  set_coefficients(anew);
  const Matrix by_columns = model.coefficients.array().colwise() * model.scale.array(),
               expected = anew.coefficients.array().colwise() * model.scale.array();
  off = worse(off, relative(by_columns, expected));
  const Vector unit = model.response_scale.cwiseAbs() + 1e-3 * model.response_mean.cwiseAbs();
  return worse(off, (model.intercept - anew.intercept).cwiseQuotient(unit).cwiseAbs().maxCoeff());
}

}  // namespace

void PlsModel::check() const {
  const Index p = mean.size(), m = intercept.size(), a = rotation.cols();
  require(p > 0 && m > 0 && a > 0 && a == spec.components, "pls: the components do not fit together");
  const auto is = [](const Matrix& each, Index rows, Index columns) {
    return each.rows() == rows && each.cols() == columns && each.allFinite();
  };
  require(is(coefficients, p, m) && is(weights, p, a) && is(loadings, p, a) && is(response_loadings, m, a) &&
              is(rotation, p, a) && is(explained, a, 1) && is(response_explained, a, 1),
          "pls: its numbers do not fit together");
  require(is(mean, p, 1) && is(scale, p, 1) && is(intercept, m, 1) && is(response_mean, m, 1) &&
              is(response_scale, m, 1) && (scale.array() > 0).all() && (response_scale.array() > 0).all(),
          "pls: a mean or scale is not usable");
}

Matrix PlsModel::values(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), responses());
  RightFactor(coefficients).multiply(x, out);
  return out.rowwise() + intercept.transpose();
}

Vector PlsModel::predict(const MatrixView& x) const {
  require(responses() == 1, "pls: it was fitted to several responses; ask it for its values");
  return values(x).col(0);
}

Matrix PlsModel::coordinates(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Matrix z = (x.rowwise() - mean.transpose()).array().rowwise() / scale.transpose().array();
  Matrix out(x.rows(), rotation.cols());
  RightFactor(rotation).multiply(z, out);
  return out;
}

std::vector<std::string> PlsModel::coordinate_names() const {
  std::vector<std::string> out;
  for (Index a = 0; a < rotation.cols(); ++a) out.push_back(fmt::format("component{}", a + 1));
  return out;
}

Prediction PlsModel::prediction(const MatrixView& x, const PredictOptions& options) const {
  Prediction out;
  if (responses() == 1 && options.asks(kValuePart)) out.add(kValuePart, predict(x));
  if (options.asks(kCoordinatesPart)) out.add(kCoordinatesPart, coordinates(x), coordinate_names());
  return out;
}

std::string PlsModel::summary(const Names& names) const {
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  TextTable shares;
  shares.words("", coordinate_names()).numbers("columns", list(explained), 4);
  shares.numbers(responses() > 1 ? "responses" : "response", list(response_explained), 4);
  std::vector<std::string> rows{"(Intercept)"};
  rows.insert(rows.end(), names.features.begin(), names.features.end());
  TextTable table;
  table.words("", rows);
  for (Index k = 0; k < responses(); ++k) {
    std::vector<double> column{intercept(k)};
    for (Index j = 0; j < width(); ++j) column.push_back(coefficients(j, k));
    table.numbers(at(k) < names.responses.size() ? names.responses[at(k)] : "coefficient", column, 5);
  }
  return "Share of the variance that each component explains:\n" + shares.str() + "\nCoefficients:\n" + table.str();
}

PlsModel fit(const Valid<Pls>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.2));
  const Index p = rows.width(), m = responses_of(rows);
  const JointMoments joint = scan(rows, JointMoments(p, m), execution.part(0.2, 0.7, "covariances"));
  const Moments& moments = joint.moments;
  const double n = moments.weight();
  require(n > 1, "pls: one row alone has no covariance");
  const Vector mean = moments.mean();
  Matrix scatter = moments.scatter();
  require(scatter.allFinite(),
          "pls: the values are so large that their squares are not finite; divide them by a constant");
  PlsModel model;
  model.spec = *spec;
  model.mean = mean.head(p);
  model.response_mean = mean.tail(m);
  const Vector scale = spreads(scatter.diagonal() / (n - 1), spec->standardize);
  model.scale = scale.head(p);
  model.response_scale = scale.tail(m);
  scatter.array().colwise() /= scale.array();
  scatter.array().rowwise() /= scale.transpose().array();
  const Matrix xx = scatter.topLeftCorner(p, p);
  Matrix left = scatter.topRightCorner(p, m);
  const double of_columns = xx.trace(), of_responses = std::max(scatter.bottomRightCorner(m, m).trace(), 1e-300);
  model.weights = model.loadings = model.rotation = Matrix(p, 0);
  model.response_loadings = Matrix(m, 0);
  const auto append = [](Matrix& to, const Vector& column) {
    to.conservativeResize(Eigen::NoChange, to.cols() + 1);
    to.col(to.cols() - 1) = column;
  };
  const double at_first = greatest_covariance(left).size;
  if (!(at_first > 1e-14 * std::sqrt(of_columns * of_responses)))
    throw Error(fmt::format("pls: no column varies together with {}; there is no component", rows.target));
  std::vector<double> explained, response_explained;
  for (int a = 0; a < spec->components; ++a) {
    const Direction next = greatest_covariance(left);
    Vector r = next.w;
    for (Index b = 0; b < model.rotation.cols(); ++b) r -= model.loadings.col(b).dot(next.w) * model.rotation.col(b);
    const Vector image = xx * r;
    const double own = r.dot(image);
    if (!(next.size > kLeastCovariance * at_first) || !(own > kLeastSize * of_columns * r.squaredNorm())) break;
    const Vector loading = image / own, of_response = left.transpose() * r / own;
    left -= own * loading * of_response.transpose();
    append(model.weights, next.w);
    append(model.rotation, r);
    append(model.loadings, loading);
    append(model.response_loadings, of_response);
    explained.push_back(own * loading.squaredNorm() / of_columns);
    response_explained.push_back(own * of_response.squaredNorm() / of_responses);
  }
  if (std::ssize(explained) < spec->components)
    model.warnings.push_back(fmt::format("{} of {} components were found: the others would have nothing to do with {}",
                                         explained.size(), spec->components, rows.target));
  model.spec.components = static_cast<int>(explained.size());
  model.explained = Eigen::Map<const Vector>(explained.data(), std::ssize(explained));
  model.response_explained = Eigen::Map<const Vector>(response_explained.data(), std::ssize(response_explained));
  set_coefficients(model);
  model.certificate = certify(model, rows, execution.part(0.7, 1));
  return model;
}

Certificate certify(const PlsModel& model, const Rows& rows, const Execution& execution) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "directions of greatest covariance";
  out.tolerance = 1e-6;
  out.iterations = model.rotation.cols();
  out.stopped = "closed form";
  if (responses_of(rows) != model.responses()) {
    out.value = 1;
    out.message = fmt::format("The model has {} and the rows have {}.", count_of(model.responses(), "response"),
                              responses_of(rows));
    return out;
  }
  out.value = off_by(model, scan(rows, Products(model), execution));
  out.message = fmt::format(
      "Components are orthogonal, each the direction of greatest covariance that was left, and the coefficients least "
      "squares on "
      "them, up to {:.1e} (allowed {:.0e}), by plain products of the rows.",
      out.value, out.tolerance);
  return out;
}

template const Method& method_of<Pls>();

}  // namespace lemma
