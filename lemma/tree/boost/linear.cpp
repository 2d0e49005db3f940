// lemma/tree/boost/linear.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/tree/boost/linear.hpp>
#include <lemma/tree/boost/rounds.hpp>

namespace lemma::boost {
namespace {

constexpr double kRounding = 1e-12;

/// One pass: the last round's lines are added to the scores; then the losses, and the sums for the next round's.
struct Pass {
  const BoostModel* model;
  const Outcome* outcome;
  Index steps;  // made before
  std::vector<double>* scores;
  double loss = 0, held_out = 0;
  std::vector<LineSums> sums;  // of each output and column

  Pass(const BoostModel& of, const Outcome& known, Index before, std::vector<double>& f)
      : model(&of), outcome(&known), steps(before), scores(&f), sums(at(of.outputs() * of.width())) {}

  void accumulate(const Block& block) {
    const Index outputs = model->outputs(), width = model->width();
    const Loss rule = model->loss();
    std::vector<double> p(at(outputs));
    for (Index i = 0; i < block.rows(); ++i) {
      const Index row = block.first + i;
      double* const f = &(*scores)[at(row * outputs)];
      for (Index step = std::max<Index>(0, steps - outputs); step < steps; ++step)
        f[step % outputs] += line_at(*model, step, row_of(block.x, i));
      const double y = outcome->y[at(row)], w = outcome->weight_of(row);
      const double of_row = outputs > 1 ? rule.of_scores(static_cast<int>(y), f) : rule.of(y, f[0]);
      if (w > 0) loss += w * of_row;
      if (!outcome->held_out.empty()) held_out += outcome->held_out[at(row)] * of_row;
      if (w == 0) continue;
      if (outputs > 1) softmax(f, outputs, p.data());
      for (Index k = 0; k < outputs; ++k) {
        double g = 0, h = 0;
        if (outputs > 1) rule.slopes_of_class(p[at(k)], y == static_cast<double>(k), w, g, h);
        else rule.slopes({&y, 1}, {f, 1}, {&w, 1}, {&g, 1}, {&h, 1});
        for (Index j = 0; j < width; ++j) sums[at(k * width + j)].add(g, h, block.x(i, j) - model->centre(j));
      }
    }
  }
  void merge(const Pass& other) {
    loss += other.loss;
    held_out += other.held_out;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += other.sums[k];
  }
};

/// Means of the columns over the rows that take part.
struct Means {
  const Outcome* outcome;
  Vector sum, shift;
  double weight = 0;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = outcome->weight_of(block.first + i);
      if (w == 0) continue;
      weight += w;
      sum += w * (block.x.row(i).transpose() - shift);
    }
  }
  void merge(const Means& other) {
    sum += other.sum;
    weight += other.weight;
  }
};

Vector centre_of(const Rows& rows, const Outcome& outcome, const Execution& execution) {
  BlockBuffer buffer;
  const Vector shift = rows.read(0, 1, buffer).x.row(0).transpose();
  const Means found = scan(rows, Means{&outcome, Vector::Zero(rows.width()), shift}, execution);
  const Vector mean = shift + found.sum / found.weight;
  for (Index j = 0; j < rows.width(); ++j)
    if (!std::isfinite(mean(j)))
      throw Error(
          fmt::format("boost: the mean of '{}' is not a number: it holds infinities or missing values, or numbers "
                      "beyond the range; "
                      "base linear takes finite numbers",
                      rows.features[at(j)]));
  return mean;
}

}  // namespace

LineSums::Line LineSums::line() const {
  Line out;
  if (!(h > 0)) return out;
  const double spread = hxx - hx * hx / h, along = gx - g * hx / h;
  if (spread > kRounding * hxx && spread > 0) out.slope = -along / spread;
  out.intercept = -(g + out.slope * hx) / h;
  out.gain = 0.5 * (g * g / h + (out.slope != 0 ? along * along / spread : 0.0));
  return out;
}

double line_at(const BoostModel& model, Index step, const double* row) {
  const int j = model.step_columns[at(step)];
  return model.step_intercepts(step) + model.step_slopes(step) * (row[j] - model.centre(j));
}

void add_shap(const BoostModel& model, const MatrixView& x, Matrix& phi) {
  for (Index k = 0; k < model.outputs(); ++k)
    for (Index j = 0; j < model.width(); ++j)
      phi.col(k * model.width() + j) += model.coefficients(k, j) * (x.col(j).array() - model.centre(j)).matrix();
}

Vector shap_base(const BoostModel& model) {
  Vector out = Vector::Zero(model.outputs());
  for (Index step = 0; step < model.step_intercepts.size(); ++step)
    out(step % model.outputs()) += model.step_intercepts(step);
  return out;
}

void add_lines(BoostModel& model, const Rows& rows, const Outcome& outcome, const Execution& execution) {
  const Index outputs = model.outputs(), width = model.width();
  const double shrinkage = model.spec.shrinkage;
  model.centre = centre_of(rows, outcome, execution.part(0, 0.02));
  model.trees = single_leaf(Labels(at(width), 0));
  model.step_slopes = model.step_intercepts = Vector::Zero(model.spec.rounds * outputs);
  std::vector<double> scores(at(rows.count() * outputs)), training, validation;
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = model.start(static_cast<Index>(i) % outputs);
  std::vector<Vector> importances;
  for (Index round = 0; round <= model.spec.rounds; ++round) {
    execution.report(static_cast<double>(round) / model.spec.rounds, fmt::format("round {}", round + 1));
    std::optional<Pass> looked;
    try {
      looked = scan(rows, Pass(model, outcome, round * outputs, scores), execution.part(1, 1));
    } catch (const Cancelled&) {
      if (training.empty()) throw;
      model.spec.rounds = static_cast<int>(training.size());
      break;
    }
    const Pass& pass = *looked;
    const double loss = pass.loss / outcome.total;
    if (!std::isfinite(loss))
      throw Error(
          "boost: the loss is beyond the range of numbers; give the response in another unit, or take less shrinkage");
    if (round == 0) model.initial_loss = loss;
    else {
      training.push_back(loss);
      if (outcome.total_held_out > 0) validation.push_back(pass.held_out / outcome.total_held_out);
      importances.push_back(model.importance);
    }
    if (round == model.spec.rounds || has_waited(validation, model.spec.patience)) break;
    for (Index k = 0; k < outputs; ++k) {
      Index best = 0;
      LineSums::Line line = pass.sums[at(k * width)].line();
      for (Index j = 1; j < width; ++j) {
        const LineSums::Line other = pass.sums[at(k * width + j)].line();
        if (other.gain > line.gain * (1 + kRounding)) line = other, best = j;
      }
      const Index step = round * outputs + k;
      model.step_columns.push_back(static_cast<int>(best));
      model.step_slopes(step) = shrinkage * line.slope;
      model.step_intercepts(step) = shrinkage * line.intercept;
      model.importance(best) += line.gain;
    }
  }
  model.used_rounds = validation.empty() ? std::ssize(training) : best_round(validation);
  model.importance = importances[at(model.used_rounds - 1)];
  const Index steps = model.used_rounds * outputs;
  model.step_columns.resize(at(steps));
  model.step_slopes.conservativeResize(steps);
  model.step_intercepts.conservativeResize(steps);
  model.training_loss = Eigen::Map<const Vector>(training.data(), model.used_rounds);
  model.validation_loss = Eigen::Map<const Vector>(validation.data(), std::ssize(validation));
  model.coefficients = Matrix::Zero(outputs, width);
  for (Index step = 0; step < steps; ++step)
    model.coefficients(step % outputs, model.step_columns[at(step)]) += model.step_slopes(step);
  model.intercepts = model.start + shap_base(model) - model.coefficients * model.centre;
  model.values = model.cover = Vector::Zero(1);
}

}  // namespace lemma::boost

namespace lemma {

void BoostModel::check_lines() const {
  const Index steps = used_rounds * outputs();
  require(static_cast<Index>(step_columns.size()) == steps && step_slopes.size() == steps &&
              step_intercepts.size() == steps && coefficients.rows() == outputs() && coefficients.cols() == width() &&
              intercepts.size() == outputs() && centre.size() == width(),
          "boost: its lines are not those of its rounds");
  require(step_slopes.allFinite() && step_intercepts.allFinite() && coefficients.allFinite() &&
              intercepts.allFinite() && centre.allFinite(),
          "boost: a number of it is not finite");
  for (const int j : step_columns) require(j >= 0 && j < width(), "boost: a line is in a column that there is not");
  require(trees.size() == 1 && trees.width() == width() && values.size() == 1 && cover.size() == 1 && values(0) == 0 &&
              cover(0) == 0,
          "boost: there are lines and trees");
}

}  // namespace lemma
