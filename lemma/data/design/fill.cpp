// lemma/data/design/fill.cpp: rows of a bound table as numbers.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/parts.hpp>
#include <limits>

namespace lemma {
namespace {

/// Rows evaluated at a time: their columns stay in the cache. Images are files to open, with many columns.
Index chunk_of(const DesignParts& parts) { return parts.reads_images() ? 4 : 512; }

/// The kept rows in [first, first + count).
std::span<const Index> within(std::span<const Index> kept, Index first, Index count) {
  const auto from = std::lower_bound(kept.begin(), kept.end(), first);
  const auto to = std::lower_bound(from, kept.end(), first + count);
  return kept.subspan(static_cast<std::size_t>(from - kept.begin()), static_cast<std::size_t>(to - from));
}

void scaled_in_place(const Variable& variable, std::vector<double>& v) {
  for (double& each : v) each = (each - variable.center) / variable.spread;
}

void polynomials(const Variable& variable, const std::vector<double>& v, std::vector<double>& out) {
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) {
    double before = 0, now = 1;
    for (int j = 0; j < variable.degree; ++j) {
      const auto k = static_cast<std::size_t>(j);
      double next = v[i] * now;
      if (!variable.raw) {
        next = (v[i] - variable.alpha[k]) * now - (j == 0 ? 0 : variable.norm2[k] / variable.norm2[k - 1] * before);
      }
      before = now;
      now = next;
      out[k * n + i] = variable.raw ? now : now / std::sqrt(variable.norm2[k + 1]);
    }
  }
}

std::string written(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "minus infinity";
  return shortest(value);
}

struct Entry {
  Index column;
  double value;
};

/// What the factors of one term are in a row, as the few columns that are not zero.
class TermRows {
 public:
  TermRows(const DesignParts& parts, const DesignTerm& term, Rowset& rows, std::span<const Index> used) {
    for (const auto& factor : term.factors) {
      const Variable& variable = parts.variables[static_cast<std::size_t>(factor.variable)];
      Values values;
      values.contrast = factor.contrast;
      values.categorical = variable.categorical();
      values.width = width_of(variable, factor.contrast);
      if (variable.counted()) values.pieces = rows.pieces(variable, used);
      else if (values.categorical) values.codes = rows.codes(variable, used);
      else values.numbers = rows.columns(variable, used);
      factors_.push_back(std::move(values));
    }
    count_ = rows.count();
  }

  /// visit(column of the term, value) in the order of the columns; zeros of numeric columns are among them.
  template <class Visit>
  void each(Index row, Visit&& visit) {
    if (factors_.size() == 1) return each_of(factors_[0], row, visit);
    product_.assign(1, {0, 1.0});
    Index stride = 1;
    for (const auto& factor : factors_) {
      next_.clear();
      each_of(factor, row, [&](Index column, double value) {
        for (const Entry& entry : product_) next_.push_back({entry.column + stride * column, entry.value * value});
      });
      std::swap(product_, next_);
      stride *= factor.width;
    }
    for (const Entry& entry : product_) visit(entry.column, entry.value);
  }

 private:
  struct Values {
    bool categorical = false;
    Contrast contrast = Contrast::full;
    Index width = 0;
    std::vector<double> numbers;
    std::vector<std::int32_t> codes;
    std::vector<std::vector<std::pair<Index, double>>> pieces;  // by row
  };

  template <class Visit>
  void each_of(const Values& factor, Index row, Visit&& visit) const {
    if (!factor.pieces.empty()) {
      for (const auto& [column, count] : factor.pieces[at(row)]) visit(column, count);
      return;
    }
    if (!factor.categorical) {
      for (Index k = 0; k < factor.width; ++k) visit(k, factor.numbers[at(k * count_ + row)]);
      return;
    }
    const Index code = factor.codes[at(row)];
    if (code < 0) {
      for (Index k = 0; k < factor.width; ++k) visit(k, std::numeric_limits<double>::quiet_NaN());
      return;
    }
    switch (factor.contrast) {
      case Contrast::codes: visit(0, static_cast<double>(code)); break;
      case Contrast::full: visit(code, 1.0); break;
      case Contrast::treatment:
        if (code > 0) visit(code - 1, 1.0);
        break;
      case Contrast::sum:
        if (code < factor.width) visit(code, 1.0);
        else
          for (Index k = 0; k < factor.width; ++k) visit(k, -1.0);
        break;
    }
  }

  std::vector<Values> factors_;
  std::vector<Entry> product_, next_;
  Index count_ = 0;
};

}  // namespace

Rowset::Rowset(const BoundTable& bound, Index first, Index count, Gaps gaps)
    : bound_(bound), gaps_(gaps), rows_(bound, first, count, gaps) {}

std::vector<double> Rowset::numbers(const Expression& value, std::span<const Index> used) {
  std::vector<double> out(at(count()));
  evaluate(value, rows_, out.data());
  for (const Index row : used)
    if (!std::isfinite(out[at(row - first())]) && !is_gap(value, row))
      fail_not_finite(value, row, out[at(row - first())]);
  return out;
}

bool Rowset::is_gap(const Expression& value, Index row) {
  if (gaps_ != Gaps::leave) return false;
  const auto names = columns_of(value);
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return bound_.column(name).is_missing(row); });
}

std::string Rowset::written(const std::string& name, Index row) {
  if (!rows_.words(name)) return lemma::written(rows_.numbers(name)[row - first()]);
  const Column& column = bound_.column(name);
  return column.is_missing(row) ? "missing" : fmt::format("'{}'", column.text(row));
}

void Rowset::fail_not_finite(const Expression& value, Index row, double result) {
  std::string where;
  if (value.kind != Expression::Kind::name)
    for (const auto& name : columns_of(value))
      where += fmt::format("{}{} is {}", where.empty() ? ", where " : " and ", name, written(name, row));
  throw Error(fmt::format("{} {} is {} in row {}{}; leave such rows out with --where, or change the formula",
                          value.kind == Expression::Kind::name ? "column" : "the term", to_text(value),
                          lemma::written(result), bound_.row_number(row), where));
}

std::vector<double> Rowset::columns(const Variable& variable, std::span<const Index> used) {
  if (variable.pixels()) return pixels(variable, used);
  std::vector<double> v = numbers(variable.value, used);
  if (variable.kind == Variable::Kind::scaled) scaled_in_place(variable, v);
  const bool spline = variable.kind == Variable::Kind::spline;
  if (variable.kind != Variable::Kind::polynomial && !spline) return v;
  const Index width = width_of(variable, Contrast::full);
  std::vector<double> out(at(width * count()));
  if (spline) variable.spline.columns(v, out.data());
  else polynomials(variable, v, out);
  for (const Index row : used)
    for (Index k = 0; k < width; ++k)
      require(std::isfinite(out[at(k * count() + row - first())]) || std::isnan(v[at(row - first())]),
              fmt::format("{}{} overflows in row {}", variable.label, k + 1, bound_.row_number(row)));
  return out;
}

std::vector<double> Rowset::pixels(const Variable& variable, std::span<const Index> used) {
  const Index width = columns_of(variable.picturing);
  std::vector<double> out(at(width * count())), one(at(width));
  const Column& column = bound_.column(variable.column());
  std::string copy;
  for (const Index row : used) {
    if (column.is_missing(row)) {
      require(gaps_ == Gaps::leave, fmt::format("'{}' is missing in row {}, and no image can stand in for it",
                                                variable.column(), bound_.row_number(row)));
      std::fill(one.begin(), one.end(), std::numeric_limits<double>::quiet_NaN());
    } else {
      try {
        fill_pixels(read_image(std::string(text_of(column, row, copy))), variable.picturing, one.data());
      } catch (const BrokenImage& broken) {
        throw Error(fmt::format("{} (row {}); --missing drop leaves such rows out{}", broken.what(),
                                bound_.row_number(row),
                                bound_.use() == Use::prediction ? ", keep leaves them empty" : ""));
      }
    }
    for (Index k = 0; k < width; ++k) out[at(k * count() + row - first())] = one[at(k)];
  }
  return out;
}

std::vector<std::int32_t> Rowset::codes(const Variable& variable, std::span<const Index> used) {
  std::vector<std::int32_t> out(at(count()));
  bound_.codes(variable, rows_, out.data());
  for (const Index row : used) {
    auto& code = out[at(row - first())];
    if (code == -2 && bound_.parts().unseen == Unseen::error) bound_.fail_unknown_level(variable, row);
    if (code == -2) code = -1;
    if (code == -1 && gaps_ == Gaps::fill) code = variable.fill;
    require(code >= 0 || gaps_ == Gaps::leave,
            fmt::format("'{}' is missing in row {}", variable.label, bound_.row_number(row)));
  }
  return out;
}

std::vector<std::vector<std::pair<Index, double>>> Rowset::pieces(const Variable& variable,
                                                                  std::span<const Index> used) {
  std::vector<std::vector<std::pair<Index, double>>> out(at(count()));
  const Column& column = bound_.column(variable.column());
  std::string copy;
  for (const Index row : used) {
    require(!column.is_missing(row) || gaps_ != Gaps::refuse,
            fmt::format("'{}' is missing in row {}", variable.column(), bound_.row_number(row)));
    if (column.is_missing(row)) continue;
    const std::string_view text = text_of(column, row, copy);
    out[at(row - first())] = variable.words() ? variable.counter->values(text) : bound_.counter(variable).counts(text);
  }
  return out;
}

void fill_x(const BoundTable& bound, std::span<const Index> kept, Gaps gaps, const Execution& execution, Matrix& x) {
  const DesignParts& parts = bound.parts();
  const Index rows = bound.table().rows(), together = chunk_of(parts);
  x.resize(static_cast<Index>(kept.size()), static_cast<Index>(parts.features.size()));
  parallel_for((rows + together - 1) / together, execution, [&](Index chunk) {
    const Index first = chunk * together, count = std::min(together, rows - first);
    const auto used = within(kept, first, count);
    if (used.empty()) return;
    const Index target = static_cast<Index>(used.data() - kept.data());
    x.middleRows(target, static_cast<Index>(used.size())).setZero();
    Rowset values(bound, first, count, gaps);
    for (const auto& term : parts.terms) {
      TermRows in_term(parts, term, values, used);
      for (std::size_t i = 0; i < used.size(); ++i) {
        double* out = x.data() + (target + static_cast<Index>(i)) * x.cols() + term.first;
        in_term.each(used[i] - first, [out](Index column, double value) { out[column] = value; });
      }
    }
  });
}

namespace {

/// x of some consecutive rows of the table without its zeros.
Csr sparse_chunk(const BoundTable& bound, std::span<const Index> used, Index first, Index count, Gaps gaps) {
  const DesignParts& parts = bound.parts();
  Csr x;
  x.start.assign(1, 0);
  Rowset values(bound, first, count, gaps);
  std::vector<TermRows> terms;
  for (const auto& term : parts.terms) terms.emplace_back(parts, term, values, used);
  for (const Index row : used) {
    for (std::size_t t = 0; t < terms.size(); ++t)
      terms[t].each(row - first, [&](Index column, double value) {
        if (value == 0) return;
        x.column.push_back(static_cast<std::int32_t>(parts.terms[t].first + column));
        x.value.push_back(value);
      });
    x.start.push_back(static_cast<Index>(x.value.size()));
  }
  return x;
}

}  // namespace

Csr sparse_x(const BoundTable& bound, std::span<const Index> kept, Gaps gaps, const Execution& execution) {
  const Index rows = bound.table().rows(), together = chunk_of(bound.parts());
  std::vector<Csr> chunks(at((rows + together - 1) / together));
  parallel_for(std::ssize(chunks), execution, [&](Index chunk) {
    const Index first = chunk * together, count = std::min(together, rows - first);
    const auto used = within(kept, first, count);
    if (!used.empty()) chunks[at(chunk)] = sparse_chunk(bound, used, first, count, gaps);
  });
  Csr x;
  x.width = static_cast<Index>(bound.parts().features.size());
  x.start.assign(1, 0);
  for (Csr& chunk : chunks) {
    const Index before = x.start.back();
    for (std::size_t i = 1; i < chunk.start.size(); ++i) x.start.push_back(before + chunk.start[i]);
    x.column.insert(x.column.end(), chunk.column.begin(), chunk.column.end());
    x.value.insert(x.value.end(), chunk.value.begin(), chunk.value.end());
    chunk = {};
  }
  return x;
}

}  // namespace lemma
