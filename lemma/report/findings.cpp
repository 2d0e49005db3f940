// lemma/report/findings.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/plot/parts.hpp>
#include <lemma/report/findings.hpp>
#include <unordered_map>

namespace lemma::reporting {
namespace {

double share(Index part, Index of) { return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0; }
std::string percent(double share) { return format_significant(100 * share, 2) + " %"; }
std::string quoted(const std::string& name) { return "`" + name + "`"; }

std::vector<std::string> all_quoted(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& name : names) out.push_back(quoted(name));
  return out;
}

/// Columns of the table that the design looks at, the response too.
std::vector<const Column*> looked_at(const Table& table, const Design& design) {
  std::vector<const Column*> out;
  for (const auto& name : design.looked_at())
    if (const Column* column = table.find(name)) out.push_back(column);
  return out;
}

void missing_values(const Table& table, const Design& design, std::vector<Finding>& out) {
  std::vector<std::string> names;
  std::vector<char> touched(static_cast<std::size_t>(table.rows()), 0);
  Index all = 0;
  for (const Column* column : looked_at(table, design)) {
    const Index gone = column->missing();
    if (gone == 0) continue;
    names.push_back(fmt::format("{} ({})", quoted(column->name), format_count(gone)));
    all += gone;
    for (Index i = 0; i < table.rows(); ++i)
      if (column->is_missing(i)) touched[static_cast<std::size_t>(i)] = 1;
  }
  if (all == 0) return;
  const Index rows = std::count(touched.begin(), touched.end(), 1);
  out.push_back({share(rows, table.rows()) > 0.05, "missing",
                 fmt::format("{} in {}", count_of(all, "missing value"), count_of(rows, "row")),
                 fmt::format("{}. In this report they are filled in with the median (levels: the most frequent) of the "
                             "training rows. Whether a value is missing may tell something by itself: `is.na(x)` in a "
                             "formula asks for it.",
                             join_words(names, 8))});
}

/// Rows that are equal in all that is looked at, and those that are equal in the columns but not in the response.
void duplicates(const DesignData& data, std::vector<Finding>& out) {
  const Index n = data.x.rows(), p = data.x.cols();
  struct Group {
    Index rows = 0;
    std::uint64_t response = 0;
    bool contradicted = false;
  };
  std::unordered_map<std::uint64_t, Group> groups;
  std::unordered_map<std::uint64_t, Index> whole;
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::uint64_t x = hash_numbers({data.x.data() + i * p, static_cast<std::size_t>(p)});
    const double response = !data.label.empty() ? data.label[row] : !data.y.empty() ? data.y[row] : 0.0;
    const std::uint64_t both = hash_numbers({&response, 1}, x);
    ++whole[both];
    Group& group = groups[x];
    if (group.rows++ == 0) group.response = both;
    else if (group.response != both) group.contradicted = true;
  }
  Index equal = 0, contradicted = 0;
  for (const auto& [hash, rows] : whole)
    if (rows > 1) equal += rows;
  for (const auto& [hash, group] : groups)
    if (group.contradicted) contradicted += group.rows;
  if (equal > 0)
    out.push_back(
        {share(equal, n) > 0.02, "duplicates", fmt::format("{} are equal to another one", count_of(equal, "row")),
         fmt::format("{} of the rows have a twin in all columns that are used. Where twins are copies, not two "
                     "things that happen to agree, one may train the model that the other judges, and scores "
                     "are too good: remove copies first, or keep them together with `--group`.",
                     percent(share(equal, n)))});
  if (contradicted > 0 && share(contradicted, n) > 0.005)
    out.push_back({false, "contradictions",
                   fmt::format("{} agree in every column but not in the response", count_of(contradicted, "row")),
                   "No model of these columns can tell them apart: this part of the error stays."});
}

void outliers(const Table& table, const Design& design, std::vector<Finding>& out) {
  constexpr double kFar = 3;  // Tukey's outer fences
  struct Far {
    std::string name;
    Index rows;
  };
  std::vector<Far> all;
  for (const Column* column : looked_at(table, design)) {
    if (column->type() != ColumnType::numeric) continue;
    ask();
    const auto sorted = plot::sorted_values(column->numbers().values);
    if (sorted.size() < 10) continue;
    const double q1 = plot::quantile(sorted, 0.25), q3 = plot::quantile(sorted, 0.75), width = q3 - q1;
    if (!(width > 0)) continue;
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), q1 - kFar * width) - sorted.begin();
    const auto above = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), q3 + kFar * width);
    if (below + above > 0) all.push_back({column->name, below + above});
  }
  if (all.empty()) return;
  std::stable_sort(all.begin(), all.end(), [](const Far& a, const Far& b) { return a.rows > b.rows; });
  std::vector<std::string> names;
  for (const Far& each : all) names.push_back(fmt::format("{} ({})", quoted(each.name), format_count(each.rows)));
  out.push_back(
      {false, "outliers", fmt::format("Values far outside in {}", count_of(static_cast<Index>(all.size()), "column")),
       fmt::format("More than three interquartile ranges beyond the quartiles: {}. Look whether they are "
                   "mistakes. Long tails suit trees; straight lines and distances are better off with `log(x)`.",
                   join_words(names, 6))});
}

/// VIF_j = (R⁻¹)_jj = Σ_k v_jk² / λ_k of the correlations R = V Λ Vᵀ.
void collinear(const Design& design, const DesignData& data, std::vector<Finding>& out) {
  constexpr Index kMost = 300;
  constexpr double kHigh = 10, kZero = 1e-10;
  const Index n = data.x.rows(), p = data.x.cols();
  if (p < 2 || p > kMost || n < p + 2) return;
  Matrix z = data.x.rowwise() - data.x.colwise().mean();
  const auto& features = design.features();
  std::vector<std::string> constant;
  std::vector<Index> varying;
  for (Index j = 0; j < p; ++j) {
    const double size = z.col(j).norm();
    if (size <= 1e-12 * std::max(1.0, data.x.col(j).cwiseAbs().maxCoeff()) * std::sqrt(static_cast<double>(n)))
      constant.push_back(features[static_cast<std::size_t>(j)]);
    else z.col(j) /= size, varying.push_back(j);
  }
  if (!constant.empty())
    out.push_back({false, "constant", fmt::format("{} never changes", join_words(all_quoted(constant), 6)),
                   "It says nothing, and can be left out."});
  ask();
  const auto q = static_cast<Index>(varying.size());
  if (q < 2) return;
  const Matrix kept = z(Eigen::all, varying);
  const Eigenpairs pairs = symmetric_eigen(Matrix(kept.transpose() * kept));
  const bool singular = pairs.values(q - 1) <= kZero * pairs.values(0);
  std::vector<std::pair<double, std::string>> high;
  for (Index j = 0; j < q; ++j) {
    double vif = 0, gone = 0;  // gone: how much of the column lies where nothing varies
    for (Index k = 0; k < q; ++k) {
      const double v = pairs.vectors(j, k) * pairs.vectors(j, k);
      if (pairs.values(k) > kZero * pairs.values(0)) vif += v / pairs.values(k);
      else gone += v;
    }
    const auto& name = features[static_cast<std::size_t>(varying[static_cast<std::size_t>(j)])];
    if (gone > 1e-6) high.emplace_back(HUGE_VAL, quoted(name));
    else if (vif > kHigh) high.emplace_back(vif, fmt::format("{} ({})", quoted(name), format_significant(vif, 2)));
  }
  if (high.empty()) return;
  std::stable_sort(high.begin(), high.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (const auto& [vif, name] : high)
    if (!singular || std::isinf(vif)) names.push_back(name);
  out.push_back(
      {singular, "collinear",
       singular
           ? fmt::format("{} follow from one another exactly", count_of(static_cast<Index>(names.size()), "column"))
           : fmt::format("{} nearly follow from the others", count_of(static_cast<Index>(names.size()), "column")),
       fmt::format("{}: {}. Predictions hardly suffer; the coefficients of a linear model cannot be told apart, and "
                   "importance is shared out by chance. A penalty (`ridge`) or leaving columns out helps.",
                   singular ? "One of them is a sum of others" : "Variance inflation factors above 10",
                   join_words(names, 8))});
}

void classes(const Design& design, const DesignData& data, std::vector<Finding>& out) {
  constexpr double kRare = 0.1;
  const auto& names = design.classes();
  if (names.size() < 2 || data.label.empty()) return;
  std::vector<Index> count(names.size(), 0);
  for (const int label : data.label)
    if (label >= 0) ++count[static_cast<std::size_t>(label)];
  const auto n = static_cast<Index>(data.label.size());
  const auto least = static_cast<std::size_t>(std::min_element(count.begin(), count.end()) - count.begin());
  const auto most = static_cast<std::size_t>(std::max_element(count.begin(), count.end()) - count.begin());
  const double fair = 1.0 / static_cast<double>(names.size());
  if (share(count[least], n) >= std::min(kRare, 0.4 * fair)) return;
  out.push_back(
      {true, "imbalance",
       fmt::format("Class {} is rare: {}, {}", quoted(names[least]), count_of(count[least], "row"),
                   percent(share(count[least], n))),
       fmt::format("Saying {} of every row is right for {} of them, so that accuracy says little: look at "
                   "recall, AUC and the balanced accuracy. `class_weights=balanced` makes classes count alike, "
                   "`lemma decide` moves the threshold to where errors cost least.",
                   quoted(names[most]), percent(share(count[most], n)))});
}

void too_good(const Design& design, const AloneScores& scores, std::vector<Finding>& out) {
  const bool numbers = design.classes().empty();
  std::vector<std::string> names;
  for (const Alone& each : scores.columns) {
    const bool suspicious =
        numbers ? each.score >= 0.98 : each.score >= 0.99 && 1 - each.score <= 0.1 * (1 - scores.baseline);
    if (suspicious) names.push_back(fmt::format("{} ({})", quoted(each.column), percent(each.score)));
  }
  if (names.empty() || scores.columns.size() < 2) return;
  out.push_back(
      {true, "leak", fmt::format("Predicts too well by itself: {}", join_words(names, 4)),
       fmt::format("One column alone {}. Ask whether it is known at the time of a prediction, or is the response "
                   "in other words: such a leak makes every score below worthless. `~ . - column` leaves it out.",
                   numbers ? "explains nearly all of the response" : "tells nearly every row's class")});
}

void sizes(const Design& design, const DesignData& data, std::vector<Finding>& out) {
  const Index n = data.x.rows(), p = data.x.cols();
  if (n < 10 * p)
    out.push_back(
        {n < 2 * p, "few_rows", fmt::format("{} for {}", count_of(n, "row"), count_of(p, "column")),
         "Fewer than ten rows for each column: what looks like a pattern may be chance. Prefer methods with a "
         "penalty, and few columns."});
  if (design.classes().empty() && data.y.size() > 20) {
    const auto sorted = plot::sorted_values(data.y);
    double mean = 0, two = 0, three = 0;
    for (const double y : sorted) mean += y / static_cast<double>(sorted.size());
    for (const double y : sorted) two += (y - mean) * (y - mean), three += std::pow(y - mean, 3);
    const double count = static_cast<double>(sorted.size()), skew = three / count / std::pow(two / count, 1.5);
    if (skew > 2 && sorted.front() > 0)
      out.push_back({false, "skewed",
                     fmt::format("The response has a long tail (skewness {})", format_significant(skew, 2)),
                     fmt::format("The largest values weigh most in squared errors. `log({})` as the response asks for "
                                 "relative errors instead.",
                                 design.target())});
  }
}

void kinds(const Table& table, const Design& design, std::vector<Finding>& out) {
  std::vector<std::string> dates, rare;
  const auto response = design.response_columns();
  for (const Column* column : looked_at(table, design)) {
    if (column->type() == ColumnType::numeric && column->numbers().quantity != Quantity::number)
      dates.push_back(column->name);
    const bool is_response = std::find(response.begin(), response.end(), column->name) != response.end();
    if (column->type() != ColumnType::categorical || is_response) continue;
    std::vector<Index> count(column->categories().levels.size(), 0);
    for (const auto code : column->categories().codes)
      if (code >= 0) ++count[static_cast<std::size_t>(code)];
    const auto few = std::count_if(count.begin(), count.end(), [](Index c) { return c > 0 && c < 5; });
    if (few > 0) rare.push_back(fmt::format("{} ({})", quoted(column->name), count_of(few, "level")));
  }
  if (!dates.empty())
    out.push_back(
        {false, "time", fmt::format("{} holds times", join_words(all_quoted(dates), 4)),
         "If rows come one after the other and the future is to be predicted, folds drawn at random look ahead: "
         "`lemma cross … --time COLUMN` learns only from what came before."});
  if (!rare.empty())
    out.push_back({false, "rare_levels", fmt::format("Levels of fewer than five rows in {}", join_words(rare, 4)),
                   "Little can be learned of them, and a fold may lack them altogether. Put rare levels together."});
}

}  // namespace

std::vector<Finding> findings(const Table& table, const Design& design, const DesignData& data,
                              const AloneScores& scores) {
  std::vector<Finding> out;
  too_good(design, scores, out);
  missing_values(table, design, out);
  duplicates(data, out);
  classes(design, data, out);
  collinear(design, data, out);
  sizes(design, data, out);
  outliers(table, design, out);
  kinds(table, design, out);
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) { return a.serious > b.serious; });
  return out;
}

}  // namespace lemma::reporting
