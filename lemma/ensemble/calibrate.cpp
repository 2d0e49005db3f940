// lemma/ensemble/calibrate.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/calibrate.hpp>
#include <lemma/ensemble/calibrate/folds.hpp>
#include <lemma/ensemble/calibrate/maps.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/look_again.hpp>

namespace lemma {

using namespace calibrating;

namespace {

constexpr double kStationary = 1e-8;
constexpr double kSmallest = 2.220446049250313e-16;  // a probability in a logarithm

/// What the maps make of scores: a probability for each class.
Matrix mapped(const CalibrateModel& model, const MatrixView& scores) {
  const Index classes = model.class_count();
  Matrix out(scores.rows(), classes);
  std::vector<double> row(at(classes));
  for (Index i = 0; i < scores.rows(); ++i) {
    if (model.spec.map == CalibrationMap::temperature) {
      for (Index k = 0; k < classes; ++k) row[at(k)] = scores.cols() > 1 ? scores(i, k) : k == 1 ? scores(i, 0) : 0.0;
      temper(row.data(), classes, model.slope(0), out.row(i).data());
      continue;
    }
    const auto value = [&](Index map) {
      const double s = scores(i, map);
      if (model.spec.map == CalibrationMap::platt) return logistic(model.slope(map) * s + model.offset(map));
      const Index from = model.starts[at(map)], count = model.starts[at(map + 1)] - from;
      return value_at(model.scores.data() + from, model.values.data() + from, count, s);
    };
    if (classes == 2) {
      const double p = value(0);
      out(i, 0) = 1 - p;
      out(i, 1) = p;
      continue;
    }
    double sum = 0;
    for (Index k = 0; k < classes; ++k) sum += out(i, k) = value(k);
    for (Index k = 0; k < classes; ++k) out(i, k) = sum > 0 ? out(i, k) / sum : 1 / static_cast<double>(classes);
  }
  return out;
}

double mean_log_loss(const CalibrateModel& model, const HeldOut& rows) {
  const Matrix p = mapped(model, rows.score);
  double sum = 0;
  for (Index i = 0; i < p.rows(); ++i)
    if (rows.weight(i) > 0) sum -= rows.weight(i) * std::log(std::max(p(i, rows.label[at(i)]), kSmallest));
  return sum / rows.weight.sum();
}

void learn_maps(CalibrateModel& model, const HeldOut& rows) {
  const Index maps = model.maps();
  switch (model.spec.map) {
    case CalibrationMap::platt:
      model.slope.resize(maps);
      model.offset.resize(maps);
      for (Index k = 0; k < maps; ++k) {
        const Sigmoid found = fit_sigmoid(rows, k);
        model.slope(k) = found.slope;
        model.offset(k) = found.offset;
      }
      break;
    case CalibrationMap::isotonic: {
      std::vector<double> scores, values;
      model.starts = {0};
      for (Index k = 0; k < maps; ++k) {
        const Steps found = fit_isotonic(rows, k);
        scores.insert(scores.end(), found.score.begin(), found.score.end());
        values.insert(values.end(), found.value.begin(), found.value.end());
        model.starts.push_back(static_cast<int>(scores.size()));
      }
      model.scores = Eigen::Map<Vector>(scores.data(), std::ssize(scores));
      model.values = Eigen::Map<Vector>(values.data(), std::ssize(values));
      break;
    }
    case CalibrationMap::temperature: model.slope = Vector::Constant(1, fit_temperature(rows)); break;
  }
  model.log_loss = mean_log_loss(model, rows);
}

/// What the maps lack to the optimum of these scores.
double distance_of(const CalibrateModel& model, const HeldOut& rows) {
  double worst = 0;
  for (Index k = 0; k < model.maps(); ++k) {
    if (model.spec.map == CalibrationMap::platt)
      worst = std::max(worst, gradient_of(rows, k, Sigmoid{model.slope(k), model.offset(k)}));
    else if (model.spec.map == CalibrationMap::temperature) worst = std::max(worst, gradient_of(rows, model.slope(0)));
    else {
      const Index from = model.starts[at(k)], count = model.starts[at(k + 1)] - from;
      worst = std::max(worst, violation_of(rows, k, model.scores.data() + from, model.values.data() + from, count));
    }
  }
  const double told = std::abs(model.log_loss - mean_log_loss(model, rows));
  return std::max(worst, told / (1 + told));
}

Certificate certificate_of(const CalibrateModel& model, const HeldOut& rows, const Certificate& inside) {
  Certificate out;
  out.strength = std::max(Strength::stationary, inside.claims() ? inside.strength : Strength::stationary);
  out.kind = "first-order conditions of the map";
  out.value = distance_of(model, rows);
  out.tolerance = kStationary;
  out.iterations = inside.iterations;
  out.stopped = "converged";
  const std::string method = model.base->method().name();
  if (inside.fails()) {
    out = inside;
    out.message = fmt::format("{} inside does not hold: {}", method, inside.message);
    return out;
  }
  out.message = fmt::format(
      "The map from scores to probabilities {} the best for scores of rows that {} had not seen ({:.1e}, "
      "allowed {:.0e}); {}",
      out.holds() ? "is" : "is not", method, out.value, out.tolerance,
      inside.claims() ? fmt::format("{} fitted to all rows has its own certificate, which holds", method)
                      : fmt::format("{} fitted to all rows claims nothing by itself", method));
  return out;
}

std::string names_of_maps(const CalibrateModel& model, const Names& names, Index map) {
  if (model.maps() == 1) return names.classes.size() == 2 ? names.classes[1] : "all classes";
  return names.classes[at(map)];
}

}  // namespace

AnySpec Calibrate::inside() const { return base ? base->completed() : parse_method("linear_svm").completed(); }

Needs Calibrate::needs(Needs usual) const {
  Needs out = inside().method().needs(inside().params());
  out.classes = usual.classes;
  out.numbers = usual.numbers;
  out.counts = out.several = out.offset = false;
  return out;
}

void Calibrate::check() const {
  if (!base) return;
  const MethodAbout& about_base = base->method().about();
  if (about_base.task != Task::classification && !about_base.either_response)
    throw Error(fmt::format("calibrate turns scores of classes into probabilities, and {} is for {}",
                            base->method().name(), name_of(about_base.task)));
}

void CalibrateModel::check() const {
  const Index classes = base->class_count();
  if (classes < 2) throw Error(fmt::format("calibrate: {} tells no classes apart", base->method().name()));
  const Index map_count = maps();
  switch (spec.map) {
    case CalibrationMap::platt:
      require(slope.size() == map_count && offset.size() == map_count && slope.allFinite() && offset.allFinite(),
              "calibrate: a slope and an offset are needed for each class");
      break;
    case CalibrationMap::temperature:
      require(slope.size() == 1 && slope.allFinite() && slope(0) >= 0, "calibrate: one slope of at least 0 is needed");
      break;
    case CalibrationMap::isotonic: {
      require(std::ssize(starts) == map_count + 1 && starts.front() == 0 &&
                  static_cast<Index>(starts.back()) == scores.size() && scores.size() == values.size(),
              "calibrate: curves and their scores do not fit together");
      require(scores.allFinite() && values.allFinite() && (values.array() >= 0).all() && (values.array() <= 1).all(),
              "calibrate: a curve is not usable");
      for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        require(starts[k] < starts[k + 1], "calibrate: a curve has no score");
        for (int i = starts[k] + 1; i < starts[k + 1]; ++i)
          require(scores(i) > scores(i - 1) && values(i) >= values(i - 1),
                  "calibrate: a curve falls, or its scores do not rise");
      }
      break;
    }
  }
  if (spec.map != CalibrationMap::isotonic)
    require(scores.size() == 0 && values.size() == 0 && starts.empty(), "calibrate: there is a curve too many");
  if (spec.map != CalibrationMap::platt) require(offset.size() == 0, "calibrate: there is an offset too many");
  if (spec.map == CalibrationMap::isotonic) require(slope.size() == 0, "calibrate: there is a slope too many");
  require(std::isfinite(log_loss), "calibrate: the log loss is not usable");
}

Matrix CalibrateModel::probabilities(const MatrixView& x) const {
  require_width(*this, x.cols());
  return mapped(*this, scores_of(base, x));
}

Labels CalibrateModel::predict(const MatrixView& x) const {
  const Matrix p = probabilities(x);
  Labels out(at(p.rows()));
  for (Index i = 0; i < p.rows(); ++i) {
    Index best = 0;
    p.row(i).maxCoeff(&best);
    out[at(i)] = static_cast<int>(best);
  }
  return out;
}

std::string CalibrateModel::summary(const Names& names) const {
  std::string out =
      fmt::format("{}, its scores turned into probabilities ({}) by {} folds of held-out rows\nHeld-out log loss: {}\n",
                  spec.inside().text(), name_of(spec.map), spec.folds, format_significant(log_loss, 4));
  std::vector<std::string> classes, first, second;
  for (Index k = 0; k < maps(); ++k) {
    classes.push_back(names_of_maps(*this, names, k));
    if (spec.map == CalibrationMap::isotonic) {
      const int from = starts[at(k)], to = starts[at(k + 1)];
      first.push_back(std::to_string(to - from));
      second.push_back(
          fmt::format("{} to {}", format_significant(values(from), 3), format_significant(values(to - 1), 3)));
    } else {
      first.push_back(format_significant(slope(k), 5));
      if (spec.map == CalibrationMap::platt) second.push_back(format_significant(offset(k), 5));
    }
  }
  TextTable table;
  table.words("class", classes);
  if (spec.map == CalibrationMap::isotonic) table.right("points", first).right("probabilities", second);
  else if (spec.map == CalibrationMap::platt) table.right("slope", first).right("offset", second);
  else table.right("1/T", first);
  return out + "\n" + table.str() + "\n" + base->summary(names);
}

CalibrateModel fit(const Valid<Calibrate>& spec, const Rows& rows, const FitOptions& options) {
  const AnySpec inside = spec->inside();
  CalibrateModel model;
  model.spec = *spec;
  model.spec.base =
      inside;  // as it was given: what it chose for all rows is in the model, and each fold has chosen for itself
  const HeldOut held_out = held_out_scores(inside, spec->folds, rows, options);
  model.base = inside.fit(rows, options);
  if (lemma::cancelled(options.progress)) throw Cancelled();
  for (const auto& warning : model.base->warnings()) model.warnings.push_back(inside.method().name() + ": " + warning);
  learn_maps(model, held_out);
  model.certificate = certificate_of(model, held_out, model.base->certificate());
  return model;
}

Certificate certify(const CalibrateModel& model, const Rows& rows, const Execution& execution) {
  FitOptions options;
  options.threads = execution.threads;
  options.progress = execution.progress;
  const HeldOut held_out = held_out_scores(model.spec.inside(), model.spec.folds, rows, options);
  return certificate_of(model, held_out, look_again(model.base, model.spec.inside(), rows, execution.part(0.9, 1)));
}

template const Method& method_of<Calibrate>();

}  // namespace lemma
