// lemma/select/choose.cpp
#include <lemma/select/choose.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>

namespace lemma {
namespace {

using Look = AnovaTable::Look;

bool is_search(ChooseBy by) {
  return by == ChooseBy::forward || by == ChooseBy::backward || by == ChooseBy::both || by == ChooseBy::best;
}
SubsetSearch search_of(ChooseBy by) {
  return static_cast<SubsetSearch>(static_cast<int>(by) - static_cast<int>(ChooseBy::forward));
}

/// One choice at work: the rows, and what is found of them.
class Choosing {
 public:
  Choosing(const ChooseOptions& options, const Rows& rows, ColumnChoice& out)
      : options_(options), rows_(rows), out_(out), fit_(options.train.fit) {}

  void run() {
    switch (options_.by) {
      case ChooseBy::filter: return by_filter();
      case ChooseBy::lasso: return by_lasso();
      case ChooseBy::importance: return by_importance();
      case ChooseBy::stability: return by_stability();
      case ChooseBy::knockoffs: return by_knockoffs();
      default: break;
    }
    const AnySpec method = method_of_choice();
    const bool least_squares = method.method().name() == Ols::name;
    const ChooseScore score = options_.score.value_or(least_squares ? ChooseScore::bic : ChooseScore::cross);
    if (score >= ChooseScore::holdout) return by_errors(method, score);
    if (!least_squares)
      throw Error(
          fmt::format("--score {} is computed from least squares, and the method is {}; use --score cross, or "
                      "--method ols",
                      name_of(score), method.text()));
    by_criterion(static_cast<SubsetCriterion>(score));
  }

 private:
  AnySpec method_of_choice() const {
    if (options_.method) return *options_.method;
    return rows_.classes.empty() ? AnySpec(Ols{}) : AnySpec(Lda{});
  }
  void choose(const std::vector<Index>& columns) {
    for (const Index j : columns) out_.chosen.push_back(rows_.features[at(j)]);
  }
  static std::vector<double> in_order(const Vector& values, const std::vector<Index>& order) {
    std::vector<double> out;
    for (const Index j : order) out.push_back(values(j));
    return out;
  }
  /// A line for each column, in this order.
  void lines(const std::vector<Index>& order) {
    for (const Index j : order) out_.table.rows.push_back(rows_.features[at(j)]);
    out_.table.columns.reserve(8);
  }
  void numbers(const char* header, const char* key, const Vector& values, const std::vector<Index>& order,
               Look look = Look::number) {
    out_.table.add(header, key, look).values = in_order(values, order);
  }
  static std::vector<Index> descending(const Vector& values) {
    std::vector<Index> order(at(values.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values(a) > values(b); });
    return order;
  }
  static Vector marks(const std::vector<Index>& chosen, Index width) {
    Vector out = Vector::Zero(width);
    for (const Index j : chosen) out(j) = 1;
    return out;
  }

  void by_filter() {
    const SelectModel model = fit(Valid<Select>(options_.filter), rows_, fit_);
    const auto order = model.order();
    lines(order);
    numbers(name_of(model.spec.filter).data(), "score", model.scores, order, Look::statistic);
    if (model.p_values.size() > 0) {
      numbers("adjusted p", "adjusted_p", filters::adjusted(model.p_values), order, Look::statistic);
      numbers("Pr", "p", model.p_values, order, Look::p);
    }
    numbers("kept", "kept", model.kept, order);
    choose(model.kept_columns());
    for (const auto& warning : model.warnings) out_.notes.push_back(warning);
  }

  void by_lasso() {
    const auto found = path_entries(rows_, 100, fit_);
    const auto order = descending(found.lambda);
    lines(order);
    numbers("joins at lambda", "lambda", found.lambda, order);
    numbers("kept", "kept", marks(found.chosen, rows_.width()), order);
    choose(found.chosen);
  }

  void by_importance() {
    const int every = std::max(2, static_cast<int>(std::lround(1 / options_.holdout)));
    RandomStream random(fit_.seed, 0x1390);
    auto shuffled = permutation(random, rows_.count());
    const auto cut = shuffled.begin() + static_cast<std::ptrdiff_t>(shuffled.size()) / every;
    std::vector<Index> test(shuffled.begin(), cut), train(cut, shuffled.end());
    std::sort(test.begin(), test.end());
    std::sort(train.begin(), train.end());
    const AnySpec method = method_of_choice();
    const AnyModel model = method.fit(SelectedRows(rows_, train), fit_);
    const auto found = permutation_importance(model, SelectedRows(rows_, test), std::max(2, options_.samples / 10),
                                              fit_.seed, fit_.execution());
    const auto order = descending(found.mean);
    lines(order);
    numbers("rise of the loss", "importance", found.mean, order);
    numbers("sd", "sd", found.deviation, order);
    std::vector<Index> chosen;
    for (Index j = 0; j < rows_.width(); ++j)
      if (found.mean(j) > 2 * found.deviation(j)) chosen.push_back(j);
    numbers("kept", "kept", marks(chosen, rows_.width()), order);
    choose(chosen);
    out_.notes.push_back(
        fmt::format("{} was fitted to {} rows; shuffled were the columns of the {} others, where its {} is {:.4g}. "
                    "Kept is what rises by "
                    "more than two standard deviations of its shuffles",
                    method.text(), train.size(), test.size(),
                    rows_.classes.empty() ? "mean squared error" : "share of wrong classes", found.loss));
  }

  void by_stability() {
    const Valid<Select> filter(options_.filter);
    FitOptions alone = fit_;
    alone.threads = 1;
    alone.progress = nullptr;
    const Selector select = [&](const Rows& some, std::uint64_t) { return fit(filter, some, alone).kept_columns(); };
    const auto found = stability(rows_, select, options_.samples, options_.sample, fit_.seed, fit_.execution());
    const auto order = descending(found.share);
    std::vector<Index> chosen;
    for (Index j = 0; j < rows_.width(); ++j)
      if (found.share(j) >= options_.share) chosen.push_back(j);
    lines(order);
    numbers("share of samples", "share", found.share, order);
    numbers("kept", "kept", marks(chosen, rows_.width()), order);
    choose(chosen);
    if (const auto bound = found.false_bound(options_.share))
      out_.notes.push_back(
          fmt::format("at most {:.3g} of these columns are there by chance, on average, if columns that tell "
                      "nothing are treated alike (Meinshausen and Bühlmann){}",
                      *bound,
                      *bound >= static_cast<double>(chosen.size())
                          ? ": with so few columns and such a large choice this says nothing"
                          : ""));
  }

  void by_knockoffs() {
    const auto found = knockoffs(rows_, options_.false_discoveries, fit_);
    const auto order = descending(found.w);
    lines(order);
    numbers("W", "w", found.w, order);
    numbers("kept", "kept", marks(found.chosen, rows_.width()), order);
    choose(found.chosen);
    out_.notes.push_back(
        fmt::format("of the columns kept a share of {:g} is false at most, on average, if '{}' is linear in the "
                    "columns with normal "
                    "errors of one variance{}",
                    options_.false_discoveries, rows_.target,
                    found.chosen.empty() ? fmt::format("; at least {:.0f} columns must stand out before any is kept",
                                                       std::ceil(1 / options_.false_discoveries))
                                         : ""));
    if (found.separation < 0.1)
      out_.notes.push_back(fmt::format(
          "columns are so alike that copies differ by {:.2g} of 1 only: little can be found", found.separation));
  }

  void by_criterion(SubsetCriterion criterion) {
    if (!rows_.classes.empty())
      throw Error(fmt::format("--method ols is for numbers, and '{}' is classes; use --method lda", rows_.target));
    const auto data = scan(rows_, LeastSquares(rows_.width()), fit_.execution());
    auto path = options_.by == ChooseBy::best
                    ? best_subsets(data, criterion, kMostNodes, fit_.execution())
                    : stepwise_subsets(data, rows_.features, search_of(options_.by), criterion);
    if (options_.size) {
      const auto found = std::find_if(path.steps.begin(), path.steps.end(),
                                      [&](const Subset& each) { return each.size() == *options_.size; });
      if (found == path.steps.end())
        throw Error(fmt::format("--size {}: no step of the search has so many columns", *options_.size));
      path.choice = static_cast<std::size_t>(found - path.steps.begin());
    }
    auto& t = out_.table;
    t.columns.reserve(8);
    auto &size = t.add("size", "size"), &rss = t.add("RSS", "rss"), &aic = t.add("AIC", "aic"),
         &bic = t.add("BIC", "bic"), &adjusted = t.add("adj. R2", "adjusted_r_squared", Look::statistic),
         &cp = t.add("Cp", "cp");
    for (std::size_t i = 0; i < path.steps.size(); ++i) {
      const Subset& step = path.steps[i];
      std::vector<std::string> names;
      for (const Index j : step.columns) names.push_back(rows_.features[at(j)]);
      out_.subsets.push_back(names);
      t.rows.push_back((i == path.choice ? "> " : "  ") + (options_.by == ChooseBy::best
                                                               ? (names.empty() ? "none" : join_words(names, 8))
                                                           : i == 0 ? std::string(names.empty() ? "none" : "all")
                                                                    : path.moves[i - 1]));
      size.values.push_back(static_cast<double>(step.size()));
      rss.values.push_back(step.rss);
      aic.values.push_back(step.aic);
      bic.values.push_back(step.bic);
      adjusted.values.push_back(step.adjusted_r_squared);
      cp.values.push_back(step.cp);
    }
    out_.choice = path.choice;
    choose(path.chosen().columns);
    if (options_.by == ChooseBy::best)
      out_.notes.push_back(
          path.proven ? fmt::format("the best of each size, proven: of {:.3g} subsets {} were looked at, all others "
                                    "are excluded because taking columns away never lowers the RSS",
                                    std::exp2(static_cast<double>(rows_.width())), path.looked_at)
                      : fmt::format("not proven: the search ended after {} subsets", path.looked_at));
    out_.notes.push_back(
        options_.size
            ? fmt::format("chosen are {} columns", *options_.size)
            : fmt::format("chosen by {}; tests and intervals of a model with these columns, fitted to these rows, "
                          "take no account of the choice",
                          name_of(criterion)));
  }

  void by_errors(const AnySpec& method, ChooseScore score) {
    const Plan plan{.kind = score == ChooseScore::loo ? PlanKind::loo : PlanKind::bootstrap,
                    .samples = options_.samples};
    const auto judged = score == ChooseScore::cross     ? fold_score(method, rows_, options_.folds, fit_)
                        : score == ChooseScore::holdout ? holdout_score(method, rows_, options_.holdout, fit_)
                                                        : plan_score(method, rows_, plan, fit_);
    const Index times = score == ChooseScore::cross       ? options_.folds
                        : score == ChooseScore::loo       ? rows_.count()
                        : score == ChooseScore::bootstrap ? options_.samples
                                                          : 1;
    const auto path = search_subsets(rows_.features, search_of(options_.by), judged, options_.size, fit_.execution());
    auto& t = out_.table;
    t.columns.reserve(2);
    auto &size = t.add("size", "size"),
         &loss = t.add(rows_.classes.empty() ? "MSE" : "error", "score", Look::statistic);
    for (std::size_t i = 0; i < path.steps.size(); ++i) {
      const auto& step = path.steps[i];
      std::vector<std::string> names;
      for (const Index j : step.columns) names.push_back(rows_.features[at(j)]);
      out_.subsets.push_back(names);
      t.rows.push_back((i == path.choice ? "> " : "  ") + (step.move.empty() ? join_words(names, 8) : step.move));
      size.values.push_back(static_cast<double>(step.columns.size()));
      loss.values.push_back(step.score);
    }
    out_.choice = path.choice;
    choose(path.chosen().columns);
    out_.cancelled = path.cancelled;
    out_.notes.push_back(fmt::format(
        "{} was fitted to {} subsets of the columns{}; the score of the choice has been used to choose, so it is too "
        "good an "
        "estimate of the error",
        method.text(), path.fits, times > 1 ? fmt::format(", {} times each", times) : ""));
  }

  const ChooseOptions& options_;
  const Rows& rows_;
  ColumnChoice& out_;
  FitOptions fit_;
};

/// What the design must make of the table.
Needs needs_of(const ChooseOptions& options) {
  Needs needs;
  if (options.by == ChooseBy::filter || options.by == ChooseBy::stability)
    needs = options.filter.needs(detail::usual_needs(Select::about));
  else if (options.method) needs = options.method->method().needs(options.method->completed().params());
  else needs.classes = needs.numbers = true;
  needs.letters = 0;
  needs.several = needs.counts = needs.offset = false;
  return needs;
}

}  // namespace

std::string ColumnChoice::text() const {
  std::string out = table.str();
  out += fmt::format("\n{} of {} chosen: {}\n", chosen.size(),
                     count_of(static_cast<std::int64_t>(columns.size()), "column"),
                     chosen.empty() ? "none" : join_words(chosen, 60));
  if (!formula.empty()) out += formula + "\n";
  return out;
}

Value ColumnChoice::to_value() const {
  Value out = Value::object();
  out.set("by", by);
  out.set("data", data);
  out.set("columns", columns);
  out.set("chosen", chosen);
  out.set("formula", formula.empty() ? Value() : Value(formula));
  AnovaTable lines = table;
  if (!subsets.empty()) {
    Value::List steps;
    for (const auto& subset : subsets) steps.emplace_back(subset);
    out.set("subsets", std::move(steps));
    out.set("choice", static_cast<Index>(choice));
    for (auto& name : lines.rows) name.erase(0, 2);  // the mark of the chosen one
  }
  out.set("table", lines.to_value());
  out.set("notes", notes);
  return out;
}

ColumnChoice choose_columns(const ChooseOptions& options, const Formula& formula, const TableStream& data) {
  if (options.size && *options.size < 1) throw Error("--size must be at least 1");
  const DesignOptions how = detail::design_options(needs_of(options), formula, options.train.design);
  const Design design(formula, data, how);
  RowsUse use = detail::training_use(options.train.rows);
  use.reader = "select";
  use.sparse = false;
  use.blocks = is_search(options.by);
  const RowsOfData given = rows_for(design, data, use, options.train.memory, options.train.fit.execution());
  const Rows& rows = *given.rows;
  require(rows.has_response,
          "select looks for columns that tell something of a response: write the formula as 'y ~ .'");
  require(rows.count() > 1 && rows.width() > 0,
          "there is nothing to choose from: two rows and one column are the least");
  ColumnChoice out;
  out.by = name_of(options.by);
  out.data = data.schema().source();
  out.columns = rows.features;
  out.notes = given.notes;
  Choosing(options, rows, out).run();
  const bool plain =
      !out.chosen.empty() && std::all_of(out.chosen.begin(), out.chosen.end(),
                                         [&](const std::string& name) { return data.schema().find(name) != nullptr; });
  if (plain) {
    out.formula = design.target() + " ~ ";
    for (std::size_t i = 0; i < out.chosen.size(); ++i) out.formula += (i ? " + " : "") + out.chosen[i];
  }
  return out;
}

}  // namespace lemma
