// lemma/geometry/compared.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/compared.hpp>
#include <map>

namespace lemma {
namespace {

std::vector<Index> code_columns(const Rows& rows) {
  std::vector<Index> out;
  for (Index j = 0; j < rows.width(); ++j)
    if (rows.holds_codes(j)) out.push_back(j);
  return out;
}

Compared of_rows(std::string_view method, const Metric& metric, const Rows& rows, const Execution& execution) {
  if (!metric.takes_missing()) require_finite(rows, execution.part(0, 0.05));
  if (rows.count() < 2)
    throw Error(
        fmt::format("{}: there is {}, must be at least 2 to compare them", method, count_of(rows.count(), "row")));
  Matrix points = gather(rows, execution.part(0.05, 0.1));
  const std::vector<Index> codes = code_columns(rows);
  const BoundMetric bound = BoundMetric::of(metric, points, codes, execution.part(0, 0));
  auto all = Dissimilarities::of_rows(points, bound, {}, execution.part(0.1, 1, "dissimilarities"));
  return {std::move(all), bound.metric(), std::move(points)};
}

/// The other triangle where one of them is empty, and a diagonal of zeros where that is.
void fill_triangle(Matrix& square) {
  bool upper = false, lower = false;
  for (Index i = 0; i < square.rows(); ++i)
    for (Index j = i + 1; j < square.cols(); ++j) {
      upper = upper || !std::isnan(square(i, j));
      lower = lower || !std::isnan(square(j, i));
    }
  if (upper == lower) return;
  for (Index i = 0; i < square.rows(); ++i) {
    if (std::isnan(square(i, i))) square(i, i) = 0;
    for (Index j = i + 1; j < square.cols(); ++j)
      (upper ? square(j, i) : square(i, j)) = upper ? square(i, j) : square(j, i);
  }
}

/// 1 of each pair that is known, 0 of those whose two places are empty, which become 0; none where all are known.
std::vector<double> known_pairs(Matrix& square) {
  const Index n = square.rows();
  std::vector<double> out(at(n * (n - 1) / 2), 1.0);
  bool all = true;
  for (Index i = 0, k = 0; i < n; ++i) {
    if (std::isnan(square(i, i))) square(i, i) = 0;
    for (Index j = i + 1; j < n; ++j, ++k)
      if (std::isnan(square(i, j)) && std::isnan(square(j, i))) {
        square(i, j) = square(j, i) = out[at(k)] = 0;
        all = false;
      }
  }
  return all ? std::vector<double>() : out;
}

/// n of a column of n(n − 1)/2 numbers; 0 of others.
Index things_of_packed(const Rows& rows) {
  if (rows.width() != 1 || rows.count() < 3) return 0;
  const auto n = static_cast<Index>(std::llround(0.5 + std::sqrt(0.25 + 2 * static_cast<double>(rows.count()))));
  return n * (n - 1) / 2 == rows.count() ? n : 0;
}

std::vector<std::string> numbers_to(Index n) {
  std::vector<std::string> out;
  for (Index i = 1; i <= n; ++i) out.push_back(fmt::format("{}", i));
  return out;
}

/// A triangle as R prints a `dist`: the first row is the second thing, and the diagonal holds the pair (2, 1), not zeros.
bool is_printed_triangle(const Matrix& table) {
  if (table.rows() != table.cols() || table.rows() < 2) return false;
  for (Index i = 0; i < table.rows(); ++i)
    for (Index j = i + 1; j < table.cols(); ++j)
      if (!std::isnan(table(i, j))) return false;
  return !table.diagonal().array().isNaN().any() && !(table.diagonal().array() == 0).all();
}

/// With the row of the first thing, which R does not print, and the column of the last, which is called by its number.
Matrix square_of_printed(const Matrix& table) {
  const Index n = table.rows() + 1;
  Matrix out = Matrix::Constant(n, n, std::nan(""));
  out.bottomLeftCorner(n - 1, n - 1) = table;
  return out;
}

Compared of_square(std::string_view method, const Rows& rows, bool gaps, const Execution& execution) {
  if (const Index n = gaps ? things_of_packed(rows) : 0; n > 0) {
    const Matrix column = gather(rows, execution);
    const auto names = numbers_to(n);
    return {Dissimilarities::of_triangle({column.data(), column.data() + column.size()}, names), {}, {}, {}, names};
  }
  if (rows.count() != rows.width())
    throw Error(fmt::format(
        "{}: a square of dissimilarities has as many columns as rows, and there are {} and {}; leave other columns out "
        "of the formula ('~ . - city')",
        method, count_of(rows.count(), "row"), count_of(rows.width(), "column")));
  if (rows.count() < 2) throw Error(fmt::format("{}: there is one thing alone, must be at least 2", method));
  Matrix square = gather(rows, execution);
  std::vector<std::string> names = rows.features;
  if (gaps && is_printed_triangle(square)) {
    square = square_of_printed(square);
    names.push_back(fmt::format("{}", square.rows()));
  }
  fill_triangle(square);
  std::vector<double> weight = gaps ? known_pairs(square) : std::vector<double>();
  auto all = Dissimilarities::of_square(square, names);
  return {std::move(all), {}, {}, std::move(weight), std::move(names)};
}

/// What stands in the first two columns of pairs: levels in the order of their bytes, numbers rising.
class Things {
 public:
  Things(const Rows& rows, const Matrix& table) : rows_(rows), table_(table) {
    for (Index k = 0; k < table.rows(); ++k)
      for (const Index c : {0, 1}) places_.emplace(key(k, c), 0);
    for (Index next = 0; auto& [key, place] : places_) {
      place = next++;
      names.push_back(key.second);
    }
  }
  Index at(Index row, Index column) const { return places_.at(key(row, column)); }
  std::vector<std::string> names;

 private:
  std::pair<double, std::string> key(Index row, Index column) const {
    const double entry = table_(row, column);
    if (std::isnan(entry))
      throw Error(fmt::format("'{}' is missing in row {}: it must name one of the two things",
                              rows_.features[lemma::at(column)], row + 1));
    if (rows_.holds_codes(column)) return {0.0, rows_.levels[lemma::at(column)][static_cast<std::size_t>(entry)]};
    const bool alone = rows_.holds_codes(1 - column);  // its names stand beside those of levels
    return {alone ? 0.0 : entry, format_significant(entry, 15)};
  }
  const Rows& rows_;
  const Matrix& table_;
  std::map<std::pair<double, std::string>, Index> places_;
};

Compared of_pairs(std::string_view method, const Rows& rows, const Execution& execution) {
  if (rows.width() != 3 && rows.width() != 4)
    throw Error(fmt::format(
        "{}: pairs are three columns, the two things and their dissimilarity, and a fourth one for weights; "
        "there are {}: {}",
        method, count_of(rows.width(), "column"), join_words(rows.features)));
  for (Index j = 2; j < rows.width(); ++j)
    if (rows.holds_codes(j))
      throw Error(fmt::format("{}: '{}' holds names, must hold {}", method, rows.features[at(j)],
                              j == 2 ? "dissimilarities: numbers" : "weights: numbers"));
  const Matrix table = gather(rows, execution);
  const Things things(rows, table);
  const auto n = static_cast<Index>(things.names.size());
  if (n < 2) throw Error(fmt::format("{}: there is one thing alone, must be at least 2", method));
  std::vector<double> kept(at(n * (n - 1) / 2), 0.0), weight(kept.size(), 0.0);
  for (Index k = 0; k < table.rows(); ++k) {
    const Index a = things.at(k, 0), b = things.at(k, 1), i = std::min(a, b), j = std::max(a, b);
    const double d = table(k, 2), w = table.cols() == 4 ? table(k, 3) : 1;
    const auto refuse = [&](const std::string& what) {
      throw Error(fmt::format("{}: the dissimilarity of '{}' and '{}' {}", method, things.names[at(a)],
                              things.names[at(b)], what));
    };
    if (std::isnan(d)) refuse("is missing; leave the pair out");
    if (!std::isfinite(d)) refuse("is infinite");
    if (d < 0) refuse(fmt::format("is {}, must not be negative", d));
    if (!(std::isfinite(w) && w >= 0)) refuse(fmt::format("has the weight {}, must be at least 0", w));
    if (i == j) {
      if (d != 0) refuse(fmt::format("is {}, must be 0 of a thing and itself", d));
      continue;
    }
    const auto place = at(i * n - i * (i + 1) / 2 + j - i - 1);
    if (weight[place] > 0 && kept[place] != d) refuse(fmt::format("is given twice, as {} and as {}", kept[place], d));
    kept[place] = d;
    weight[place] = w;
  }
  return {Dissimilarities::of_triangle(std::move(kept), things.names), {}, {}, std::move(weight), things.names};
}

}  // namespace

void Compared::require_all(std::string_view method) const {
  if (weight.empty()) return;
  for (Index i = 0; i < count(); ++i)
    for (Index j = i + 1; j < count(); ++j)
      if (weight[at(dissimilarities.pair(i, j))] == 0)
        throw Error(
            fmt::format("{}: the dissimilarity of {} and {} is not given, and {} needs that of each pair; "
                        "'smacof' does without",
                        method, dissimilarities.name(i), dissimilarities.name(j), method));
  for (const double each : weight)
    if (each != 1)
      throw Error(fmt::format("{}: pairs have no weights here; leave the fourth column out, or take 'smacof'", method));
}

Needs needs_for(Input input, const Metric& metric, Needs usual) {
  if (input == Input::pairs) usual.codes = true;
  if (input == Input::square) usual.missing = true;
  if (input == Input::rows && metric.takes_missing()) usual.codes = usual.missing = true;
  return usual;
}

void require_room(std::string_view method, const Rows& rows, Input input, double gigabytes, double times) {
  const bool packed = input == Input::square && rows.width() == 1;
  const Index count = packed                   ? static_cast<Index>(std::sqrt(2.0 * static_cast<double>(rows.count())))
                      : input == Input::square ? rows.width()
                                               : rows.count();  // of pairs they are there already
  const double bytes = input == Input::pairs ? 0 : times * Dissimilarities::bytes(count);
  if (bytes > 1e9 * gigabytes)
    throw Error(
        fmt::format("{}: to compare {} with each other takes {} of memory, and {} are allowed; take fewer rows, or "
                    "raise --gigabytes",
                    method, count_of(count, "row"), format_bytes(bytes), format_bytes(1e9 * gigabytes)));
}

Compared compare(std::string_view method, Input input, const Metric& metric, const Rows& rows,
                 const Execution& execution) {
  if (input == Input::square) return of_square(method, rows, false, execution);
  if (input == Input::pairs) return of_pairs(method, rows, execution);
  return of_rows(method, metric, rows, execution);
}

Compared compare_known(std::string_view method, Input input, const Metric& metric, const Rows& rows,
                       const Execution& execution) {
  return input == Input::square ? of_square(method, rows, true, execution)
                                : compare(method, input, metric, rows, execution);
}

}  // namespace lemma
