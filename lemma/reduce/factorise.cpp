// lemma/reduce/factorise.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/model/finite_or_missing.hpp>
#include <lemma/model/own_order.hpp>
#include <lemma/optimize/minimise.hpp>
#include <lemma/reduce/factorise.hpp>
#include <lemma/reduce/shared/alternating.hpp>
#include <lemma/reduce/shared/telling.hpp>

namespace lemma {
namespace {

constexpr int kSweeps = 30;       // of ridge regressions, before the search
constexpr double kBeside = 1e13;  // products of factors beyond this share of λ leave nothing of it
constexpr double kUnused = 1e-6;  // of the largest factor: a direction that no thing has
constexpr double kSlack = 1e-6;   // of λ, by which an eigenvalue may pass it

/// Rows as values and, for each column, which of all things stands there (column after column); −1: none that is known.
struct Known {
  std::vector<std::vector<std::int32_t>> thing;  // of each column, row by row
  Vector value;

  Index rows() const { return value.size(); }
  Index columns() const { return std::ssize(thing); }
};

/// Where a column's things begin.
std::vector<Index> starts(const Labels& counts) {
  std::vector<Index> out{0};
  for (const int count : counts) out.push_back(out.back() + count);
  return out;
}

std::int32_t place_of(const Vector& things, Index from, Index to, double value) {
  const double* const found = std::lower_bound(things.data() + from, things.data() + to, value);
  return found != things.data() + to && *found == value ? static_cast<std::int32_t>(found - things.data()) : -1;
}

struct Table {
  Matrix x;
  Vector y;
};
/// All rows in an order of their own.
Table table_of(const Rows& rows, const Execution& execution) {
  require_finite_or_missing(Factorise::name, rows, execution.part(0, 0.5));
  const RowsInOwnOrder ordered(rows, execution.part(0.5, 1));
  BlockBuffer buffer;
  const Block all = (*ordered).read(0, rows.count(), buffer);
  return {Matrix(all.x), Eigen::Map<const Vector>(all.y.data(), rows.count())};
}

void find_things(const Matrix& x, FactoriseModel& model) {
  std::vector<double> all;
  model.counts.clear();
  for (Index c = 0; c < x.cols(); ++c) {
    std::vector<double> column(at(x.rows()));
    for (Index i = 0; i < x.rows(); ++i) column[at(i)] = x(i, c) + 0.0;  // −0 is 0
    std::erase_if(column, [](double each) { return std::isnan(each); });
    std::sort(column.begin(), column.end());
    column.erase(std::unique(column.begin(), column.end()), column.end());
    model.counts.push_back(static_cast<int>(column.size()));
    all.insert(all.end(), column.begin(), column.end());
  }
  model.things = Eigen::Map<const Vector>(all.data(), std::ssize(all));
}

Known known_of(const MatrixView& x, const Vector& y, const FactoriseModel& model) {
  const std::vector<Index> start = starts(model.counts);
  Known out;
  out.value = y;
  for (Index c = 0; c < x.cols(); ++c) {
    out.thing.emplace_back(at(x.rows()));
    for (Index i = 0; i < x.rows(); ++i)
      out.thing.back()[at(i)] = place_of(model.things, start[at(c)], start[at(c + 1)], x(i, c));
  }
  return out;
}

/// μ + Σ_c b_c + Σ_{c<d} a_c · a_d of a row; `but`: without the terms that column has a part in. `sum` becomes Σ a_d of the others.
double say(const FactoriseModel& model, const Known& known, Index i, Index but, Vector& sum) {
  double value = model.mean;
  sum.setZero();
  for (Index c = 0; c < known.columns(); ++c) {
    const std::int32_t t = known.thing[at(c)][at(i)];
    if (c == but || t < 0) continue;
    value += model.biases(t) + sum.dot(model.factors.row(t).transpose());
    sum += model.factors.row(t).transpose();
  }
  return value;
}

Vector residuals_of(const FactoriseModel& model, const Known& known, const Execution& execution) {
  Vector out(known.rows());
  constexpr Index kChunk = 256;
  parallel_for((known.rows() + kChunk - 1) / kChunk, execution, [&](Index chunk) {
    Vector sum(model.factors.cols());
    for (Index i = chunk * kChunk; i < std::min(known.rows(), (chunk + 1) * kChunk); ++i)
      out(i) = known.value(i) - say(model, known, i, -1, sum);
  });
  return out;
}

double objective_of(const FactoriseModel& model, const Vector& residuals) {
  return 0.5 * residuals.squaredNorm() +
         0.5 * model.spec.lambda * (model.biases.squaredNorm() + model.factors.squaredNorm());
}

/// Of each column the rows of each of its things: entries of a sparse matrix, things by rows.
struct ByThing {
  std::vector<std::vector<Index>> start;
  std::vector<std::vector<std::int32_t>> row;

  ByThing(const Known& known, const Labels& counts) {
    const std::vector<Index> first = starts(counts);
    for (Index c = 0; c < known.columns(); ++c) {
      std::vector<Index> from(at(counts[at(c)]) + 1, 0);
      for (const auto t : known.thing[at(c)])
        if (t >= 0) ++from[at(t - first[at(c)] + 1)];
      for (std::size_t t = 1; t < from.size(); ++t) from[t] += from[t - 1];
      std::vector<Index> next(from.begin(), from.end() - 1);
      std::vector<std::int32_t> rows(at(from.back()));
      for (Index i = 0; i < known.rows(); ++i)
        if (const auto t = known.thing[at(c)][at(i)]; t >= 0)
          rows[at(next[at(t - first[at(c)])]++)] = static_cast<std::int32_t>(i);
      start.push_back(std::move(from));
      row.push_back(std::move(rows));
    }
  }
};

/// One sweep: for each column a ridge regression of each thing on the factors that it meets. The largest move beside the values.
double sweep(FactoriseModel& model, const Known& known, const ByThing& by, double unit, const Execution& execution) {
  const Index r = model.factors.cols();
  const std::vector<Index> first = starts(model.counts);
  double moved = 0;
  for (Index c = 0; c < known.columns(); ++c) {
    Matrix met(known.rows(), r + 1);
    Csr entries;
    entries.width = known.rows();
    entries.start = by.start[at(c)];
    entries.column = by.row[at(c)];
    entries.value.resize(entries.column.size());
    Vector sum(r), left(known.rows());
    for (Index i = 0; i < known.rows(); ++i) {
      left(i) = known.value(i) - say(model, known, i, c, sum);
      met(i, 0) = 1;
      met.row(i).tail(r) = sum;
    }
    for (std::size_t e = 0; e < entries.column.size(); ++e) entries.value[e] = left(entries.column[e]);
    const Matrix found = ridge_of_rows(entries, met, model.spec.lambda, false, execution);
    for (Index t = 0; t < found.rows(); ++t) {
      const Index thing = first[at(c)] + t;
      double off = std::abs(found(t, 0) - model.biases(thing));
      if (r > 0) off = std::max(off, (found.row(t).tail(r) - model.factors.row(thing)).cwiseAbs().maxCoeff());
      moved = std::max(moved, off / unit);
      model.biases(thing) = found(t, 0);
      model.factors.row(thing) = found.row(t).tail(r);
    }
  }
  const double shift = residuals_of(model, known, execution).mean();
  model.mean += shift;
  return std::max(moved, std::abs(shift) / unit);
}

double unit_of(const Vector& value) {
  const double spread = (value.array() - value.mean()).matrix().norm() / std::sqrt(static_cast<double>(value.size()));
  return spread > 0 ? spread : std::max(1.0, std::abs(value.mean()));
}

/// μ, biases and factors as one argument, for the search.
struct AsVector {
  FactoriseModel* model;
  const Known* known;
  const Execution* execution;

  void put(const Vector& v) const {
    const Index all = model->things.size();
    model->mean = v(0);
    model->biases = v.segment(1, all);
    model->factors = Eigen::Map<const Matrix>(v.data() + 1 + all, all, model->spec.rank);
  }
  Vector take() const {
    Vector out(1 + model->biases.size() + model->factors.size());
    out << model->mean, model->biases, Eigen::Map<const Vector>(model->factors.data(), model->factors.size());
    return out;
  }
  double value(const Vector& v) const {
    put(v);
    return objective_of(*model, residuals_of(*model, *known, *execution));
  }
  double value(const Vector& v, Vector& gradient) const {
    put(v);
    const Index all = model->things.size(), r = model->factors.cols();
    const Vector left = residuals_of(*model, *known, *execution);
    gradient = model->spec.lambda * v;
    gradient(0) = -left.sum();
    Eigen::Map<Matrix> of_factors(gradient.data() + 1 + all, all, r);
    Eigen::RowVectorXd sum(r);
    for (Index i = 0; i < known->rows(); ++i) {
      sum.setZero();
      for (const auto& column : known->thing)
        if (column[at(i)] >= 0) sum += model->factors.row(column[at(i)]);
      for (const auto& column : known->thing)
        if (const auto t = column[at(i)]; t >= 0) {
          gradient(1 + t) -= left(i);
          of_factors.row(t) -= left(i) * (sum - model->factors.row(t));
        }
    }
    return objective_of(*model, left);
  }
};

long long descend(FactoriseModel& model, const Known& known, std::uint64_t seed, const Execution& execution) {
  const double unit = unit_of(known.value);
  const ByThing by(known, model.counts);
  model.mean = known.value.mean();
  model.biases = Vector::Zero(model.things.size());
  model.factors = 0.1 * std::sqrt(unit) * normal_matrix(model.things.size(), model.spec.rank, seed);
  const Execution silent = execution.part(0, 0);
  long long steps = 0;
  for (; steps < std::min(kSweeps, model.spec.max_iterations); ++steps) {
    execution.report(0.1 * static_cast<double>(steps) / kSweeps, "factors");
    if (execution.cancelled()) throw Cancelled();
    if (sweep(model, known, by, unit, silent) <= 0.01 * model.spec.tolerance) return steps;
  }
  const AsVector objective{&model, &known, &silent};
  MinimiseOptions options;
  options.most_iterations = model.spec.max_iterations;
  options.tolerance = 0;
  // An entry of the gradient is at least λ times its move; most are met by rows too.
  const double enough = 0.1 * model.spec.tolerance * model.spec.lambda * unit;
  options.stop = [&](const Iterate& at) {
    execution.report(0.1 + 0.9 * static_cast<double>(at.iteration) / model.spec.max_iterations, "least objective");
    return at.gradient.cwiseAbs().maxCoeff() <= enough;
  };
  const Minimum least = lbfgs(objective, objective.take(), options, 20);
  objective.put(least.x);
  return steps + least.iterations;
}

/// Factors turned to the axes along which they are largest: their products stay.
void turn(Matrix& factors) {
  if (factors.cols() == 0) return;
  factors = (factors * symmetric_eigen(Matrix(factors.transpose() * factors)).vectors).eval();
  turn_columns(factors);
}

/// By sums over the rows: the worst move of one thing along its gradient, by its curvature, beside the values; and by how much a further factor
/// beats its price.
struct Look {
  double moves = 0, further = 0, objective = 0, error = 0;
};
Look look_again(const FactoriseModel& model, const Known& known, const Execution& execution) {
  const Index r = model.factors.cols(), all = model.things.size();
  const double lambda = model.spec.lambda, unit = unit_of(known.value);
  const Vector left = residuals_of(model, known, execution.part(0, 0.2));
  Matrix slope = Matrix::Zero(all, r + 1), curvature = Matrix::Constant(all, r + 1, lambda);
  slope.col(0) = lambda * model.biases;
  slope.rightCols(r) = lambda * model.factors;
  for (Index i = 0; i < known.rows(); ++i)
    for (Index c = 0; c < known.columns(); ++c) {
      const auto t = known.thing[at(c)][at(i)];
      if (t < 0) continue;
      slope(t, 0) -= left(i);
      curvature(t, 0) += 1;
      for (Index k = 0; k < r; ++k) {
        double met = 0;
        for (Index d = 0; d < known.columns(); ++d)
          if (const auto other = known.thing[at(d)][at(i)]; d != c && other >= 0) met += model.factors(other, k);
        slope(t, k + 1) -= left(i) * met;
        curvature(t, k + 1) += met * met;
      }
    }
  Look out;
  out.objective = objective_of(model, left);
  out.error = std::sqrt(left.squaredNorm() / static_cast<double>(known.rows()));
  out.moves = std::max(slope.cwiseQuotient(curvature).cwiseAbs().maxCoeff(), std::abs(left.mean())) / unit;
  if (std::isnan(slope.sum())) out.moves = 1;
  if (r == 0) return out;
  const Vector sizes = model.factors.colwise().squaredNorm();
  if (model.things.size() == 0 || sizes(r - 1) > kUnused * kUnused * std::max(sizes(0), lambda))
    return out;  // all are used
  // ½ λ ‖u‖² − ½ uᵀ E u is what a little of a further factor u changes; E has the residual of each row where two of its things meet.
  const double floor = left.cwiseAbs().sum();  // E + floor I is positive
  if (floor == 0) return out;
  const PartialEigen greatest = largest_eigen(
      all,
      [&](const double* x, double* y) {
        for (Index t = 0; t < all; ++t) y[t] = floor * x[t];
        for (Index i = 0; i < known.rows(); ++i) {
          double sum = 0;
          for (Index c = 0; c < known.columns(); ++c)
            if (const auto t = known.thing[at(c)][at(i)]; t >= 0) sum += x[t];
          for (Index c = 0; c < known.columns(); ++c)
            if (const auto t = known.thing[at(c)][at(i)]; t >= 0) y[t] += left(i) * (sum - x[t]);
        }
      },
      1, execution.part(0.3, 1));
  out.further = std::max(0.0, (greatest.values(0) - floor) / lambda - 1);
  return out;
}

Certificate certificate_of(const Look& look, const FactoriseModel& model) {
  Certificate out;
  out.strength = Strength::stationary;
  const bool moves = look.further <= kSlack;
  out.kind = moves ? "moves of one thing" : "a further factor";
  out.value = moves ? look.moves : look.further;
  out.tolerance = moves ? model.spec.tolerance : kSlack;
  out.stopped = out.value <= out.tolerance ? "converged" : "iteration limit";
  if (!moves)
    out.message = fmt::format(
        "A factor that is not used would lower the objective: its gain is {:.3g} of its price above it.", look.further);
  else if (out.holds())
    out.message = fmt::format(
        "No bias or factor of one thing has a better value: it would move by at most {:.1e} of the values' spread "
        "(allowed "
        "{:.0e}). Other factors may fit better.",
        out.value, out.tolerance);
  else
    out.message =
        fmt::format("Things would still move by {:.1e} of the values' spread (allowed {:.0e}); raise --max_iterations.",
                    out.value, out.tolerance);
  return out;
}

/// Root mean square error on rows left out, of a fit to the others.
std::optional<double> held_out_error(const FactoriseModel& like, const Table& table, std::uint64_t seed,
                                     const Execution& execution) {
  const Index n = table.y.size(), out = static_cast<Index>(like.spec.held_out * static_cast<double>(n));
  if (out == 0 || out >= n) return {};
  RandomStream stream(seed, 1);
  const std::vector<Index> order = permutation(stream, n);
  const std::vector<Index> left(order.begin(), order.begin() + out), others(order.begin() + out, order.end());
  FactoriseModel model;
  model.spec = like.spec;
  const Matrix x = table.x(others, Eigen::all);
  find_things(x, model);
  descend(model, known_of(x, table.y(others), model), seed, execution);
  const Vector off = table.y(left) - model.predict(table.x(left, Eigen::all));
  return std::sqrt(off.squaredNorm() / static_cast<double>(out));
}

}  // namespace

Needs Factorise::needs(Needs usual) const {
  usual.unseen = Unseen::missing;
  return usual;
}

void FactoriseModel::check() const {
  const std::vector<Index> start = starts(counts);
  require(width() >= 2 && std::all_of(counts.begin(), counts.end(), [](int count) { return count > 0; }) &&
              things.size() == start.back() && biases.size() == start.back() && factors.rows() == start.back() &&
              factors.cols() == spec.rank,
          "factorise: the things, their biases and factors do not fit together");
  require(std::isfinite(mean) && things.allFinite() && biases.allFinite() && factors.allFinite() &&
              std::isfinite(objective) && std::isfinite(error) && (!held_out_error || std::isfinite(*held_out_error)),
          "factorise: a number is not finite");
  for (std::size_t c = 0; c < counts.size(); ++c)
    for (Index t = start[c] + 1; t < start[c + 1]; ++t)
      require(things(t - 1) < things(t), "factorise: the things of a column are not in ascending order");
}

Vector FactoriseModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Known known = known_of(x, Vector::Zero(x.rows()), *this);
  Vector out(x.rows()), sum(factors.cols());
  for (Index i = 0; i < x.rows(); ++i) out(i) = say(*this, known, i, -1, sum);
  return out;
}

std::string FactoriseModel::summary(const Names& names) const {
  const std::vector<Index> start = starts(counts);
  std::vector<double> many, spread, size;
  const auto columns = shown_names(names.features, width());
  for (Index c = 0; c < std::ssize(columns); ++c) {
    const auto count = static_cast<double>(counts[at(c)]);
    many.push_back(count);
    spread.push_back(std::sqrt(biases.segment(start[at(c)], counts[at(c)]).squaredNorm() / count));
    size.push_back(std::sqrt(factors.middleRows(start[at(c)], counts[at(c)]).squaredNorm() / count));
  }
  TextTable table;
  table.words("", columns).numbers("things", many).numbers("bias (rms)", spread, 4).numbers("factors (rms)", size, 4);
  std::string out = fmt::format("Mean {}; {} beside the biases; root mean square error {}", format_significant(mean, 5),
                                count_of(factors.cols(), "factor"), format_significant(error, 4));
  if (held_out_error) out += fmt::format(", {} on rows left out", format_significant(*held_out_error, 4));
  return out + "\n\n" + table.str();
}

FactoriseModel fit(const Valid<Factorise>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  if (rows.width() < 2)
    throw Error(
        fmt::format("factorise: there is {}, must be at least 2: who and what", count_of(rows.width(), "column")));
  const Table table = table_of(rows, execution.part(0, 0.05));
  const double unit = unit_of(table.y);
  if (!(unit * static_cast<double>(rows.count()) <= kBeside * spec->lambda))
    throw Error(fmt::format(
        "factorise: the values of '{}' vary by {:.1e}, and beside that lambda {:g} is nothing; raise lambda, or "
        "use another unit",
        rows.target, unit, spec->lambda));
  FactoriseModel model;
  model.spec = *spec;
  find_things(table.x, model);
  for (Index c = 0; c < rows.width(); ++c)
    if (model.counts[at(c)] == 0)
      throw Error(fmt::format("factorise: '{}' is missing in every row", rows.features[at(c)]));
  model.held_out_error = held_out_error(model, table, options.seed, execution.part(0.05, 0.4));
  const Known known = known_of(table.x, table.y, model);
  const long long sweeps = descend(model, known, options.seed, execution.part(0.4, 0.9));
  turn(model.factors);
  const Look look = look_again(model, known, execution.part(0.9, 1));
  model.objective = look.objective;
  model.error = look.error;
  model.certificate = certificate_of(look, model);
  model.certificate.iterations = sweeps;
  return model;
}

Certificate certify(const FactoriseModel& model, const Rows& rows, const Execution& execution) {
  const Table table = table_of(rows, execution.part(0, 0.2));
  FactoriseModel found;
  find_things(table.x, found);
  Comparison same;
  for (Index c = 0; c < model.width(); ++c)
    same.entry("counts", c, static_cast<double>(model.counts[at(c)]), static_cast<double>(found.counts[at(c)]), 1);
  if (!same.finding())
    for (Index t = 0; t < model.things.size(); ++t)
      same.entry("things", t, model.things(t), found.things(t), std::abs(found.things(t)), 0);
  Certificate out;
  out.strength = Strength::stationary;
  out.stopped = "converged";
  if (!same.finding()) {
    const Look look = look_again(model, known_of(table.x, table.y, model), execution.part(0.2, 1));
    same.relative("objective", model.objective, look.objective, 1e-8);
    same.number("error", model.error, look.error, unit_of(table.y));
    Matrix turned = model.factors;
    turn(turned);
    same.number("factors", (turned - model.factors).norm(), 0, 1 + turned.norm(), 1e-6);
    out = certificate_of(look, model);
  }
  report_told(same, out);
  return out;
}

template const Method& method_of<Factorise>();

}  // namespace lemma
