// lemma/reduce/nmf.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/nonnegative.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/reduce/nmf.hpp>
#include <lemma/reduce/shared/telling.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr int kSweeps = 4;           // of coordinate descent in one round, over W and over H
constexpr double kGreatest = 1e142;  // that can be squared and summed
constexpr double kCarries = 1e-12;   // of the first part

/// The largest number, and the first cell that cannot be used.
struct Cells {
  double largest = 0, refused = 0;
  Index row = -1, column = -1, of_largest = 0;

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < block.x.cols(); ++j) {
        const double each = block.x(i, j);
        if (block.weight_of(i) > 0 && each > largest) {
          largest = each;
          of_largest = j;
        }
        if (each < 0 && row < 0) {
          row = block.first + i;
          column = j;
          refused = each;
        }
      }
  }
  void merge(const Cells& other) {
    if (other.largest > largest) largest = other.largest, of_largest = other.of_largest;
    if (row < 0) row = other.row, column = other.column, refused = other.refused;
  }
};

/// The largest number of rows that can be used; an Error names the cell that cannot.
double unit_of(const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.5));
  const Cells cells = scan(rows, Cells(), execution.part(0.5, 1));
  if (cells.row >= 0)
    throw Error(
        fmt::format("nmf: '{}' is {:g} in row {}, must be at least 0: parts that are not negative cannot make it",
                    rows.features[at(cells.column)], cells.refused, cells.row + 1));
  if (!(cells.largest > 0)) throw Error("nmf: all numbers are 0: there is nothing to make of parts");
  if (cells.largest > kGreatest)
    throw Error(
        fmt::format("nmf: '{}' reaches {:g}, and the square of that is beyond the range of numbers; use another unit",
                    rows.features[at(cells.of_largest)], cells.largest));
  return cells.largest;
}

/// WᵀW, WᵀX, ‖X‖² and ‖X − W Hᵀ‖² in units of the largest number, of rows whose coordinates some rule finds.
struct Products {
  using Rule = std::function<void(Index row, const Matrix& q, const double* c, Eigen::Ref<Vector> w)>;
  const Matrix* h;
  const Matrix* q;  // HᵀH
  const Rule* rule;
  double unit;
  Matrix ww, wx;
  double squares = 0, left = 0, slack = 0;  // slack: Σ of squares of what each row's coordinates lack

  Products(const Matrix& parts, const Matrix& gram, const Rule& of, double in)
      : h(&parts),
        q(&gram),
        rule(&of),
        unit(in),
        ww(Matrix::Zero(parts.cols(), parts.cols())),
        wx(Matrix::Zero(parts.cols(), parts.rows())) {}
  void accumulate(const Block& block) {
    const Matrix x = block.x / unit, c = x * *h;
    Matrix w = Matrix::Zero(block.rows(), h->cols());
    Vector one(h->cols());
    for (Index i = 0; i < block.rows(); ++i) {
      (*rule)(block.first + i, *q, c.row(i).data(), one);
      w.row(i) = one;
      const double weight = block.weight_of(i);
      const Vector own = c.row(i).transpose();
      squares += weight * x.row(i).squaredNorm();
      left += weight * (x.row(i) - one.transpose() * h->transpose()).squaredNorm();
      slack += weight * std::pow(nonnegative_slack(*q, own, one), 2);
    }
    Matrix weighted = w;
    for (Index i = 0; i < block.rows(); ++i) weighted.row(i) *= block.weight_of(i);
    ww += weighted.transpose() * w;
    wx += weighted.transpose() * x;
  }
  void merge(const Products& other) {
    ww += other.ww;
    wx += other.wx;
    squares += other.squares;
    left += other.left;
    slack += other.slack;
  }
  /// How far the best value of any one coordinate of H would move the fit, as a share of ‖X‖.
  double off() const {
    double sum = 0;
    for (Index j = 0; j < h->rows(); ++j) sum += std::pow(nonnegative_slack(ww, wx.col(j), h->row(j).transpose()), 2);
    return std::sqrt(sum / squares);
  }
};
const Products::Rule kExact = [](Index, const Matrix& q, const double* c, Eigen::Ref<Vector> w) {
  w = nonnegative_least_squares(q, Eigen::Map<const Vector>(c, q.rows()));
};
Products exact_products(const Matrix& h, const Rows& rows, double unit, const Execution& execution) {
  const Matrix q = h.transpose() * h;
  return scan(rows, Products(h, q, kExact, unit), execution);
}

/// Lengths of the positive and negative parts of the rows' coordinates along singular vectors.
struct Sides {
  const Matrix* v;
  double unit;
  Vector above, below;
  Sides(const Matrix& vectors, double in)
      : v(&vectors), unit(in), above(Vector::Zero(vectors.cols())), below(Vector::Zero(vectors.cols())) {}
  void accumulate(const Block& block) {
    const Matrix u = block.x / unit * *v;
    for (Index i = 0; i < u.rows(); ++i)
      for (Index k = 0; k < u.cols(); ++k) (u(i, k) > 0 ? above : below)(k) += block.weight_of(i) * u(i, k) * u(i, k);
  }
  void merge(const Sides& other) {
    above += other.above;
    below += other.below;
  }
};

/// Of each singular vector the side, positive or negative, that carries more.
Matrix parts_of_singular_vectors(const Rows& rows, Index count, double unit, const Execution& execution) {
  const LeadingSvd svd = randomised_svd(
      rows, Vector(), {.count = std::min({count, rows.width(), rows.count()}), .seed = 1}, execution.part(0, 0.8));
  const Sides sides = scan(rows, Sides(svd.v, unit), execution.part(0.8, 1));
  Matrix h = Matrix::Zero(rows.width(), count);
  for (Index k = 0; k < svd.v.cols(); ++k) {
    const Vector up = svd.v.col(k).cwiseMax(0), down = (-svd.v.col(k)).cwiseMax(0);
    const bool is_up = up.squaredNorm() * sides.above(k) >= down.squaredNorm() * sides.below(k);
    h.col(k) = is_up ? up : down;
  }
  return h;
}

struct Found {
  Matrix h;
  std::vector<double> trace;  // in squares of the unit
};

Found descend(const Nmf& spec, const Rows& rows, double unit, Matrix h, const Execution& execution) {
  const Execution silent = execution.part(0, 0);
  Matrix w = Matrix::Zero(rows.count(), h.cols());
  const Products::Rule sweeps = [&](Index row, const Matrix& q, const double* c, Eigen::Ref<Vector> one) {
    one = w.row(row);
    for (int sweep = 0; sweep < kSweeps; ++sweep) nonnegative_sweep(q, c, one);
    w.row(row) = one;
  };
  Found out;
  for (int round = 0; round < spec.max_iterations; ++round) {
    execution.report(static_cast<double>(round) / spec.max_iterations, "parts");
    const Matrix q = h.transpose() * h;
    const Products seen = scan(rows, Products(h, q, sweeps, unit), silent);
    out.trace.push_back(0.5 * seen.left);
    const double off = seen.off(), own = std::sqrt(seen.slack / seen.squares);
    if (off <= 0.5 * spec.tolerance && own <= 0.5 * spec.tolerance) break;
    for (Index j = 0; j < h.rows(); ++j) {
      Vector one = h.row(j).transpose();
      const Vector c = seen.wx.col(j);
      for (int sweep = 0; sweep < kSweeps; ++sweep) nonnegative_sweep(seen.ww, c.data(), one);
      h.row(j) = one;
    }
  }
  out.h = std::move(h);
  return out;
}

/// Parts of length 1, those that carry most first, those that carry nothing left out.
Matrix in_order(const Matrix& h, const Rows& rows, double unit, const Execution& execution) {
  Matrix parts = h;
  for (Index k = 0; k < h.cols(); ++k)
    if (h.col(k).norm() > 0) parts.col(k).normalize();
  const Vector sizes = exact_products(parts, rows, unit, execution).ww.diagonal().cwiseSqrt();
  std::vector<Index> order(at(h.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sizes(a) > sizes(b); });
  std::erase_if(order, [&](Index k) { return !(sizes(k) > kCarries * sizes.maxCoeff()); });
  return parts(Eigen::all, order);
}

Certificate certificate_of(const Products& seen, const NmfModel& model) {
  Certificate out;
  out.strength = Strength::stationary;
  out.kind = "moves of the fit by one coordinate";
  out.value = std::max(seen.off(), std::sqrt(seen.slack / seen.squares));
  out.tolerance = 2 * model.spec.tolerance;
  out.iterations = model.trace.size() - 1;
  out.stopped = out.value <= out.tolerance ? "converged" : "iteration limit";
  out.message =
      out.holds()
          ? fmt::format(
                "No coordinate of the parts, and none of a row along them, has a better value: that would move the fit "
                "by "
                "at most {:.1e} of the rows (allowed {:.0e}). Other parts may fit better.",
                out.value, out.tolerance)
          : fmt::format(
                "Better values of single coordinates would still move the fit by {:.1e} of the rows (allowed {:.0e}); "
                "raise --max_iterations.",
                out.value, out.tolerance);
  return out;
}

}  // namespace

void NmfModel::check() const {
  require(loadings.size() > 0 && sizes.size() == components() && components() == spec.components && trace.size() > 0,
          "nmf: the parts do not fit together");
  require(loadings.allFinite() && (loadings.array() >= 0).all() && sizes.allFinite() && (sizes.array() > 0).all() &&
              std::isfinite(objective) && objective >= 0 && std::isfinite(explained) && trace.allFinite(),
          "nmf: a part is not usable");
  for (Index k = 1; k < components(); ++k)
    require(sizes(k) <= sizes(k - 1), "nmf: the parts are not in the order of their sizes");
  for (Index k = 1; k < trace.size(); ++k)
    require(trace(k) <= trace(k - 1) * (1 + 1e-10) + 1e-12 * trace(0), "nmf: the objective is told to have risen");
  require(std::abs(trace(trace.size() - 1) - objective) <= 1e-12 * objective,
          "nmf: the trace does not end with the objective");
}

Matrix NmfModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Matrix c = row_products(x, loadings), q = loadings.transpose() * loadings;
  Matrix out(x.rows(), components());
  for (Index i = 0; i < x.rows(); ++i) out.row(i) = nonnegative_least_squares(q, c.row(i).transpose());
  return out;
}

Matrix NmfModel::sums(const MatrixView& z) const { return row_products_transposed(z, loadings); }

std::vector<std::string> NmfModel::output_names(const std::vector<std::string>&) const {
  return numbered("part", components());
}

std::string NmfModel::summary(const Names& names) const {
  const auto parts = output_names({});
  TextTable size;
  size.words("", parts).numbers("size", {sizes.begin(), sizes.end()}, 5);
  return fmt::format("{} explain {} of the squares\n\n", count_of(components(), "part"), format_fixed(explained, 4)) +
         size.str() + "\nParts:\n" + entries_table(shown_names(names.features, width()), parts, loadings);
}

NmfModel fit(const Valid<Nmf>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const double unit = unit_of(rows, execution.part(0, 0.05));
  NmfModel model;
  model.spec = *spec;
  Found best;
  for (int k = 0; k <= spec->restarts; ++k) {
    const double share = 1.0 / (spec->restarts + 1);
    const Execution own = execution.part(0.05 + 0.85 * k * share, 0.05 + 0.85 * (k + 1) * share);
    Matrix start;
    if (k == 0) {
      start = parts_of_singular_vectors(rows, spec->components, unit, own.part(0, 0.1));
    } else {
      RandomStream stream(options.seed, static_cast<std::uint64_t>(k));
      start.resize(rows.width(), spec->components);
      for (Index e = 0; e < start.size(); ++e) start.data()[e] = stream.uniform();
    }
    Found found = descend(*spec, rows, unit, std::move(start), own.part(0.1, 1));
    if (k == 0 || found.trace.back() < best.trace.back()) best = std::move(found);
  }
  model.loadings = in_order(best.h, rows, unit, execution.part(0.9, 0.95));
  if (model.components() < spec->components)
    model.warnings.push_back(fmt::format("{} of {} parts carry nothing and are left out",
                                         spec->components - model.components(), spec->components));
  model.spec.components = static_cast<int>(model.components());
  const Products seen = exact_products(model.loadings, rows, unit, execution.part(0.95, 1));
  model.sizes = unit * seen.ww.diagonal().cwiseSqrt();
  model.objective = 0.5 * unit * unit * seen.left;
  model.explained = 1 - seen.left / seen.squares;
  best.trace.push_back(0.5 * seen.left);
  model.trace = unit * unit * Eigen::Map<const Vector>(best.trace.data(), std::ssize(best.trace));
  model.certificate = certificate_of(seen, model);
  return model;
}

Certificate certify(const NmfModel& model, const Rows& rows, const Execution& execution) {
  const double unit = unit_of(rows, execution.part(0, 0.2));
  const Products seen = exact_products(model.loadings, rows, unit, execution.part(0.2, 1));
  Comparison same;
  for (Index k = 0; k < model.components(); ++k) {
    same.entry("loadings", k, model.loadings.col(k).norm(), 1, 1);
    same.entry("sizes", k, model.sizes(k), unit * std::sqrt(seen.ww(k, k)), model.sizes(0));
  }
  const double left = 0.5 * unit * unit * seen.left;  // where it is nearly nothing beside the rows it is rounding
  same.number("objective", model.objective, left, left + 0.5e-10 * unit * unit * seen.squares);
  same.number("explained", model.explained, 1 - seen.left / seen.squares, 1);
  Certificate out = certificate_of(seen, model);
  report_told(same, out);
  return out;
}

template const Method& method_of<Nmf>();

}  // namespace lemma
