// lemma/ensemble/shared/out_of_fold.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/data/split.hpp>
#include <lemma/ensemble/shared/out_of_fold.hpp>
#include <map>

namespace lemma::ensemble {
namespace {

bool same_row(const TrainingRows& rows, Index a, Index b) {
  if (rows.of_classes() ? rows.label[at(a)] != rows.label[at(b)] : rows.y(a) != rows.y(b)) return false;
  for (Index j = 0; j < rows.x.cols(); ++j)
    if (rows.x(a, j) != rows.x(b, j) && !(std::isnan(rows.x(a, j)) && std::isnan(rows.x(b, j)))) return false;
  return true;
}

/// Fits a method to chosen rows, with their weights where there are some.
AnyModel fit_to(std::string_view around, const AnySpec& method, const TrainingRows& rows,
                const std::vector<Index>& which, const FitOptions& options, const std::string& where) {
  try {
    AnyModel out = rows.rows.has_weights ? method.fit(SelectedRows(rows.rows, which), options)
                                         : method.fit(ChosenRows(rows, which), options);
    require_fits(around, out, rows.x.cols(), rows.classes());
    return out;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}{}: {}", around, method.method().name(), where, error.what()));
  }
}

}  // namespace

Labels folds_of(std::string_view method, const TrainingRows& rows, int folds, std::uint64_t seed) {
  const auto order = own_order(rows);
  std::vector<int> group(order.size()), strata;  // of rows, and of groups of equal ones
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !same_row(rows, order[i - 1], order[i]))
      strata.push_back(rows.of_classes() ? rows.label[at(order[i])] : 0);
    group[i] = static_cast<int>(strata.size()) - 1;
  }
  const auto groups = static_cast<Index>(strata.size());
  require(groups >= folds,
          fmt::format("{}: {} folds need as many different rows, and there are {}", method, folds, groups));
  std::vector<Index> of_class(at(rows.classes()), 0);
  for (const int k : strata)
    if (rows.of_classes()) ++of_class[at(k)];
  for (std::size_t k = 0; k < of_class.size(); ++k)
    require(of_class[k] >= 2,
            fmt::format("{}: class '{}' has {}; two at least are needed, one to learn from while the "
                        "other is predicted",
                        method, rows.rows.classes[k], of_class[k] == 0 ? "no row" : "only one row, but for copies"));
  const auto dealt = lemma::folds(groups, folds, strata, seed);
  Labels out(at(rows.count()), -1);
  for (std::size_t i = 0; i < order.size(); ++i) out[at(order[i])] = dealt[at(group[i])];
  return out;
}

Matrix said_of(const AnyModel& model, const MatrixView& x, Index classes, const Execution& execution) {
  if (classes == 0) return said(model, x, kValuePart.name, execution).value();
  if (gives(model, kProbabilitiesPart.name)) return said(model, x, kProbabilitiesPart.name, execution).probabilities();
  const Labels label = said(model, x, kClassPart.name, execution).label();
  Matrix out = Matrix::Zero(x.rows(), classes);
  for (Index i = 0; i < x.rows(); ++i) out(i, label[at(i)]) = 1;
  return out;
}

OutOfFold out_of_fold(std::string_view around, std::span<const AnySpec> methods, const TrainingRows& rows,
                      const Labels& fold, int folds, std::uint64_t seed, Progress* progress,
                      const Execution& execution) {
  const auto count = static_cast<Index>(methods.size());
  const auto order = own_order(rows);
  OutOfFold out;
  out.said.assign(methods.size(), Matrix::Zero(rows.count(), std::max<Index>(1, rows.classes())));
  std::vector<char> probable(methods.size() * static_cast<std::size_t>(folds), 0);
  Quietly quiet(progress);
  parallel_for(count * folds, execution, [&](Index job) {
    const Index m = job / folds;
    const int f = static_cast<int>(job % folds);
    std::vector<Index> others, own;
    for (const Index i : order) (fold[at(i)] == f ? own : others).push_back(i);
    FitOptions options;
    options.seed = seed_inside(seed, static_cast<std::uint64_t>(job + count));
    options.threads = execution.threads;
    options.progress = &quiet;
    const AnyModel model =
        fit_to(around, methods[at(m)], rows, others, options, fmt::format(" without fold {}", f + 1));
    if (quiet.cancelled()) throw Cancelled();
    probable[at(job)] = gives(model, kProbabilitiesPart.name);
    Matrix x(static_cast<Index>(own.size()), rows.x.cols());
    for (std::size_t i = 0; i < own.size(); ++i) x.row(static_cast<Index>(i)) = rows.x.row(own[i]);
    const Matrix values = said_of(model, x, rows.classes());
    for (std::size_t i = 0; i < own.size(); ++i) out.said[at(m)].row(own[i]) = values.row(static_cast<Index>(i));
  });
  for (std::size_t m = 0; m < methods.size(); ++m)
    out.probable.push_back(probable[m * static_cast<std::size_t>(folds)]);
  return out;
}

std::vector<AnyModel> fit_all(std::string_view around, std::span<const AnySpec> methods, const TrainingRows& rows,
                              std::uint64_t seed, const Execution& execution) {
  std::vector<AnyModel> out(methods.size());
  Quietly quiet(execution.progress);
  parallel_for(static_cast<Index>(methods.size()), execution, [&](Index m) {
    FitOptions options;
    options.seed = seed_inside(seed, static_cast<std::uint64_t>(m));
    options.threads = execution.threads;
    options.progress = &quiet;
    out[at(m)] = fit_to(around, methods[at(m)], rows, own_order(rows), options, "");
    if (quiet.cancelled()) throw Cancelled();
  });
  return out;
}

Vector errors_of(const OutOfFold& from, const TrainingRows& rows) {
  Vector out = Vector::Zero(static_cast<Index>(from.said.size()));
  for (Index m = 0; m < out.size(); ++m) {
    for (const Index i : rows.counting) {
      double loss;
      if (rows.of_classes()) {
        Index best;
        from.said[at(m)].row(i).maxCoeff(&best);
        loss = best == rows.label[at(i)] ? 0 : 1;
      } else {
        loss = std::pow(from.said[at(m)](i, 0) - rows.y(i), 2);
      }
      out(m) += rows.weight(i) * loss;
    }
  }
  return out / rows.mass;
}

std::vector<std::string> names_of_methods(std::span<const AnySpec> methods) {
  std::map<std::string, int> times;
  std::vector<std::string> out;
  for (const AnySpec& each : methods) {
    const std::string name = each.method().name();
    const int number = ++times[name];
    out.push_back(number == 1 ? name : fmt::format("{}_{}", name, number));
  }
  return out;
}

std::int64_t order_of(const TrainingRows& rows) {
  std::uint64_t out = 0;
  for (const Index i : rows.counting) {
    const Vector row = rows.x.row(i);
    out = hash_numbers({row.data(), at(row.size())}, out);
    const double outcome = rows.of_classes() ? rows.label[at(i)] : rows.y(i);
    out = hash_numbers({&outcome, 1}, out);
  }
  return static_cast<std::int64_t>(out >> 12);
}

bool same_folds(const Labels& told, const Labels& found, bool same_order) {
  if (same_order) return told == found;
  Labels a = told, b = found;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

std::vector<AnySpec> usual_methods(bool of_classes) {
  return {parse_method(of_classes ? "lda" : "ridge").completed(), parse_method("tree(folds=0)").completed()};
}

Needs needs_of_all(std::span<const AnySpec> methods, Needs usual) {
  for (const AnySpec& each : methods) {
    const Needs own = each.method().needs(each.params());
    usual.classes = usual.classes && own.classes;
    usual.numbers = usual.numbers && own.numbers;
  }
  return needs_inside(methods, usual);
}

void check_methods(std::string_view around, std::span<const AnySpec> methods) {
  bool classes = true, numbers = true;
  for (const AnySpec& each : methods) {
    const Needs needs = each.method().needs(each.params());
    require(needs.classes || needs.numbers,
            fmt::format("{}: {} predicts neither classes nor numbers", around, each.method().name()));
    classes = classes && needs.classes;
    numbers = numbers && needs.numbers;
  }
  require(classes || numbers,
          fmt::format("{}: some of its methods predict classes and others numbers; all must predict the same", around));
}

}  // namespace lemma::ensemble
