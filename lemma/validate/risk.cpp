// lemma/validate/risk.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/validate/risk.hpp>

namespace lemma {
namespace {

constexpr Index kTogether = 4096;

/// Points in the order of a grid, or drawn; what the model says of them.
struct Points {
  Matrix x;
  Labels label;  // the model's class, as the truth counts classes
  Vector value;  // or its number
};

/// The model's classes as the truth counts them.
std::vector<int> codes_of(const TrainedModel& trained, const Truth& truth) {
  std::vector<int> out;
  for (const auto& name : trained.design.classes()) {
    const auto found = std::find(truth.classes.begin(), truth.classes.end(), name);
    if (found == truth.classes.end())
      throw Error(
          fmt::format("the model knows a class '{}', and {} has {}", name, truth.name, join_words(truth.classes, 20)));
    out.push_back(static_cast<int>(found - truth.classes.begin()));
  }
  return out;
}

Points asked(const TrainedModel& trained, const Truth& truth, Matrix x) {
  std::vector<Column> columns;
  for (std::size_t j = 0; j < truth.features.size(); ++j) {
    const Vector column = x.col(static_cast<Index>(j));
    columns.push_back(numeric(truth.features[j], {column.begin(), column.end()}));
  }
  const Prediction said = trained.predict(Table(std::move(columns), truth.name));
  Points out{std::move(x), {}, {}};
  if (truth.of_classes()) {
    const auto codes = codes_of(trained, truth);
    for (const int each : said.label()) out.label.push_back(codes[at(each)]);
  } else {
    out.value = said.value();
  }
  return out;
}

/// Sums over points, each with its weight: of simulation 1 and the squares are needed, of quadrature the area.
struct Sums {
  double mass = 0, error = 0, bayes = 0, nearest = 0, excess = 0;
  double error2 = 0, bayes2 = 0, nearest2 = 0, excess2 = 0;
  void add(double weight, double e, double b, double n) {
    mass += weight;
    error += weight * e;
    bayes += weight * b;
    nearest += weight * n;
    excess += weight * (e - b);
    error2 += weight * e * e;
    bayes2 += weight * b * b;
    nearest2 += weight * n * n;
    excess2 += weight * (e - b) * (e - b);
  }
};

/// Conditional errors at a point of a truth with classes: of the model, of the best rule, of one neighbour.
void add_classes(Sums& sums, const std::vector<double>& p, int said, double weight) {
  double largest = 0, squares = 0;
  for (const double each : p) {
    largest = std::max(largest, each);
    squares += each * each;
  }
  sums.add(weight, 1 - p[at(said)], 1 - largest, 1 - squares);
}

/// Midpoints of a grid of N cells along each axis.
Sums by_grid(const TrainedModel& trained, const Truth& truth, const Truth::Box& box, Index n,
             const Execution& execution) {
  const Index d = box.lower.size(), cells = d == 1 ? n : n * n;
  const double area = ((box.upper - box.lower) / static_cast<double>(n)).prod();
  const Index blocks = (cells + kTogether - 1) / kTogether;
  std::vector<Sums> parts(at(blocks));
  parallel_for(blocks, execution, [&](Index b) {
    const Index first = b * kTogether, size = std::min(kTogether, cells - first);
    Matrix x(size, d);
    for (Index i = 0; i < size; ++i) {
      Index cell = first + i;
      for (Index j = 0; j < d; ++j) {
        x(i, j) = box.lower(j) +
                  (static_cast<double>(cell % n) + 0.5) / static_cast<double>(n) * (box.upper(j) - box.lower(j));
        cell /= n;
      }
    }
    const Points points = asked(trained, truth, std::move(x));
    std::vector<double> density(truth.classes.size());
    for (Index i = 0; i < size; ++i) {
      truth.joint_density(points.x.row(i).data(), density.data());
      double mass = 0;
      for (const double each : density) mass += each;
      if (!(mass > 0)) continue;
      for (double& each : density) each /= mass;
      add_classes(parts[at(b)], density, points.label[at(i)], mass * area);
    }
  });
  Sums out;
  for (const auto& each : parts) {
    out.mass += each.mass;
    out.error += each.error;
    out.bayes += each.bayes;
    out.nearest += each.nearest;
    out.excess += each.excess;
  }
  return out;
}

/// Draws, each with the expectation at its place where that is known: less noise than counting mistakes.
struct Simulated {
  Sums sums;
  bool known = true;
};
Simulated by_draws(const TrainedModel& trained, const Truth& truth, const RiskOptions& options) {
  const Index blocks = (options.draws + kTogether - 1) / kTogether;
  std::vector<Simulated> parts(at(blocks));
  const auto width = static_cast<Index>(truth.features.size());
  parallel_for(blocks, options.execution.part(0, 1, "drawing"), [&](Index b) {
    const Index first = b * kTogether, size = std::min(kTogether, options.draws - first);
    const Table drawn = draw_table(truth, size, options.seed, first);
    Matrix x(size, width);
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < size; ++i) x(i, j) = drawn.column(j).numbers().values[at(i)];
    const Points points = asked(trained, truth, std::move(x));
    const Column& response = drawn.column(width);
    std::vector<double> p(truth.classes.size());
    for (Index i = 0; i < size; ++i) {
      if (truth.of_classes()) {
        if (truth.probabilities(points.x.row(i).data(), p.data())) {
          add_classes(parts[at(b)].sums, p, points.label[at(i)], 1);
        } else {
          parts[at(b)].known = false;
          parts[at(b)].sums.add(1, response.categories().codes[at(i)] == points.label[at(i)] ? 0 : 1, 0, 0);
        }
        continue;
      }
      double mean = 0, variance = 0;
      if (truth.moments(points.x.row(i).data(), mean, variance)) {
        const double off = points.value(i) - mean;
        parts[at(b)].sums.add(1, off * off + variance, variance, 0);
      } else {
        const double off = points.value(i) - response.numbers().values[at(i)];
        parts[at(b)].known = false;
        parts[at(b)].sums.add(1, off * off, 0, 0);
      }
    }
  });
  Simulated out;
  for (const auto& each : parts) {
    out.known = out.known && each.known;
    for (const auto member : {&Sums::mass, &Sums::error, &Sums::bayes, &Sums::nearest, &Sums::excess, &Sums::error2,
                              &Sums::bayes2, &Sums::nearest2, &Sums::excess2})
      out.sums.*member += each.sums.*member;
  }
  return out;
}

/// The mean, and 1.96 standard errors.
Expected mean_of(double sum, double squares, double n) {
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean);
  return {mean, 1.96 * std::sqrt(variance / std::max(1.0, n - 1))};
}

}  // namespace

double cover_hart_upper(double bayes, Index classes) {
  const auto k = static_cast<double>(classes);
  return bayes * (2 - k / (k - 1) * bayes);
}

double cover_hart_lower(double nearest, Index classes) {
  const double k = static_cast<double>(classes), share = (k - 1) / k;
  return share * (1 - std::sqrt(std::max(0.0, 1 - nearest / share)));
}

Risk risk(const TrainedModel& trained, const Truth& truth, const RiskOptions& options) {
  const Task wanted = truth.of_classes() ? Task::classification : Task::regression;
  if (trained.model->task() != wanted)
    throw Error(fmt::format("{} has a response for {}, and {} is for {}", truth.name, name_of(wanted),
                            trained.model->method().name(), name_of(trained.model->task())));
  if (options.draws < 2) throw Error(fmt::format("the number of draws is {}, must be at least 2", options.draws));
  if (truth.of_classes()) codes_of(trained, truth);
  Risk out;
  out.model = out.method = trained.model->method().name();
  out.truth = truth.name;
  out.of_classes = truth.of_classes();
  const auto box = truth.box();
  out.quadrature = truth.of_classes() && box && box->lower.size() <= 2 && !options.simulate;
  if (out.quadrature) {
    const Index n = box->lower.size() == 1 ? 20000 : 500;
    const Sums fine = by_grid(trained, truth, *box, n, options.execution.part(0, 0.8, "integrating")),
               coarse = by_grid(trained, truth, *box, n / 2, options.execution.part(0.8, 1, "integrating"));
    const auto both = [&](double Sums::*part) {
      return Expected{fine.*part / fine.mass,
                      std::abs(fine.*part / fine.mass - coarse.*part / coarse.mass) + std::abs(1 - fine.mass)};
    };
    out.points = box->lower.size() == 1 ? n : n * n;
    out.error = both(&Sums::error);
    out.bayes = both(&Sums::bayes);
    out.excess = both(&Sums::excess);
    out.nearest = both(&Sums::nearest);
  } else {
    const Simulated found = by_draws(trained, truth, options);
    const Sums& s = found.sums;
    out.points = options.draws;
    out.error = mean_of(s.error, s.error2, s.mass);
    if (found.known) {
      out.bayes = mean_of(s.bayes, s.bayes2, s.mass);
      out.excess = mean_of(s.excess, s.excess2, s.mass);
      if (out.of_classes) out.nearest = mean_of(s.nearest, s.nearest2, s.mass);
    }
  }
  if (out.of_classes && out.bayes)
    out.cover_hart =
        Bounds{out.bayes->value, cover_hart_upper(out.bayes->value, static_cast<Index>(truth.classes.size()))};
  return out;
}

Value to_value(const Risk& risk) {
  const auto expected = [](const std::optional<Expected>& each) -> Value {
    if (!each) return {};
    Value out = Value::object();
    out.set("value", each->value).set("error", each->error);
    return out;
  };
  Value out = Value::object();
  out.set("model", risk.model);
  out.set("method", risk.method);
  out.set("truth", risk.truth);
  out.set("task", risk.of_classes ? "classification" : "regression");
  out.set("way", risk.quadrature ? "quadrature" : "simulation");
  out.set("points", risk.points);
  out.set("risk", expected(risk.error));
  out.set("bayes_risk", expected(risk.bayes));
  out.set("excess", expected(risk.excess));
  if (risk.of_classes) {
    out.set("nearest_neighbor", expected(risk.nearest));
    out.set("cover_hart",
            risk.cover_hart ? Value(std::vector<double>{risk.cover_hart->lower, risk.cover_hart->upper}) : Value());
  }
  return out;
}

std::string text(const Risk& risk) {
  std::vector<std::string> names, values, errors, meanings;
  const auto add = [&](const char* name, const std::optional<Expected>& each, const char* meaning) {
    if (!each) return;
    names.emplace_back(name);
    values.push_back(format_significant(each->value, 4));
    errors.push_back(format_significant(each->error, 1));
    meanings.emplace_back(meaning);
  };
  add("error", risk.error,
      risk.of_classes ? "share of new rows whose class the model gets wrong" : "mean squared error");
  add("Bayes risk", risk.bayes, "the least that any rule can have");
  add("excess", risk.excess, "what the model has beyond that");
  add("one neighbour", risk.nearest, "the nearest of infinitely many rows");
  std::string out = fmt::format("{} where the truth is {}\nby {} of {} {}\n\n", risk.model, risk.truth,
                                risk.quadrature ? "quadrature" : "simulation", format_count(risk.points),
                                risk.quadrature ? "points" : "draws");
  out += TextTable()
             .words("", names)
             .right("value", values)
             .right(risk.quadrature ? "error" : "+-", errors)
             .words("what it is", meanings)
             .str();
  if (risk.cover_hart)
    out += fmt::format("\nCover and Hart: one neighbour among infinitely many has between {} and {}.\n",
                       format_significant(risk.cover_hart->lower, 4), format_significant(risk.cover_hart->upper, 4));
  if (!risk.bayes) out += "\nThe best rule is not known for this truth: only the model's own error is.\n";
  return out;
}

}  // namespace lemma
