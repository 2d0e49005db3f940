// lemma/linear/shared/standardise.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/linear/shared/standardise.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/simd/vector.hpp>
#include <numeric>
#include <optional>

namespace lemma {
namespace {

constexpr Index kPiece = 256;        // columns that one thread takes at a time
constexpr double kRounding = 4e-15;  // of a column's raw length, what rounding can leave about the mean
constexpr Index kManyBlocks = 32;    // from which on rows are not copied: a block of Z is small beside them
constexpr double kShortest = 1e-140, kLongest = 1e140;  // lengths whose squares a double holds with room to spare

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<const double> row_of(const Matrix& z, Index j) {
  return {z.row(j).data(), static_cast<std::size_t>(z.cols())};
}

void require_usable(std::string_view method, const std::string& name, double length, double root_mass) {
  if (length == 0 || (length > kShortest && length < kLongest)) return;
  throw Error(fmt::format("{}: the values of '{}' are too {} to be squared (they are about {:.0e}); use another unit",
                          method, name, length > 1 ? "large" : "small", length / root_mass));
}

/// Response and weights of all rows, centred.
void read_outcome(std::string_view method, StandardisedColumns& out, const Rows& rows, bool intercept) {
  BlockBuffer buffer;
  const Block all = rows.outcome(0, rows.count(), buffer);
  const auto check = [&](double value, bool fine, std::string_view what, Index i, std::string_view allowed) {
    if (!fine) throw Error(fmt::format("{} is {} in row {}; it must be {}", what, value, i + 1, allowed));
  };
  out.root.resize(out.rows);
  out.y.resize(out.rows);
  double sum = 0;
  const std::string target = "'" + rows.target + "'";
  for (Index i = 0; i < out.rows; ++i) {
    const double w = all.weight_of(i), precision = all.precision_of(i), offset = all.offset_of(i);
    const double y = all.y[static_cast<std::size_t>(i)];
    check(y, std::isfinite(y), target, i, "finite");
    check(w, std::isfinite(w) && w >= 0, "the weight", i, "finite and at least 0");
    check(precision, std::isfinite(precision) && precision > 0, "the precision", i, "finite and above 0");
    check(offset, std::isfinite(offset), "the offset", i, "finite");
    out.weight += w;
    out.mass += w * precision;
    out.root(i) = std::sqrt(w * precision);
    out.y(i) = y - offset;
    sum += w * precision * out.y(i);
  }
  require(out.mass > 0, fmt::format("{}: all weights are 0, so there are no rows to learn from", method));
  if (intercept) {
    out.y_mean = sum / out.mass;
    double rest = 0;  // what rounding left out of the mean
    for (Index i = 0; i < out.rows; ++i) rest += out.root(i) * out.root(i) * (out.y(i) - out.y_mean);
    out.y_mean += rest / out.mass;
  }
  const double raw = out.root.cwiseProduct(out.y).stableNorm();
  require_usable(method, rows.target, raw, std::sqrt(out.mass));
  out.y = out.root.cwiseProduct((out.y.array() - out.y_mean).matrix());
  if (out.y.stableNorm() <= kRounding * raw) out.y.setZero();
  out.total = out.y.squaredNorm();
}

/// Scales column j, whose entries are √w (x − mean) so far: by its standard deviation, or not at all.
void scale_column(std::string_view method, StandardisedColumns& out, Index j, const std::string& name, double length,
                  double raw, double spread, bool standardize, bool intercept) {
  require_usable(method, name, raw, std::sqrt(out.mass));
  if (length <= kRounding * raw && intercept) {
    out.length(j) = 0;  // constant
    return;
  }
  out.scale(j) = standardize && spread > kRounding * raw ? spread / std::sqrt(out.mass) : 1;
  out.length(j) = length / out.scale(j);
}

void copy_dense(std::string_view method, StandardisedColumns& out, const MatrixView& x, const Rows& rows,
                bool intercept, bool standardize, const Execution& execution) {
  out.z.resize(out.count, out.rows);
  constexpr Index kTile = 64;  // columns whose rows are read together, a cache line and more at a time
  const Vector w = out.root.cwiseAbs2();
  parallel_for((out.count + kTile - 1) / kTile, execution, [&](Index piece) {
    const Index first = piece * kTile, size = std::min(kTile, out.count - first);
    for (Index i0 = 0; i0 < out.rows; i0 += kTile) {
      const Index high = std::min(kTile, out.rows - i0);
      for (Index j = 0; j < size; ++j)
        for (Index i = 0; i < high; ++i) out.z(first + j, i0 + i) = x(i0 + i, first + j);
    }
    for (Index j = first; j < first + size; ++j) {
      auto column = out.z.row(j);
      const auto& name = rows.features[static_cast<std::size_t>(j)];
      const double sum = w.dot(column);
      if (!std::isfinite(sum) || !column.allFinite()) {
        for (Index i = 0; i < out.rows; ++i)
          if (!std::isfinite(column(i)))
            throw Error(fmt::format("'{}' is {} in row {}; it must be finite", name,
                                    std::isnan(column(i)) ? "NaN"
                                    : column(i) > 0       ? "infinity"
                                                          : "minus infinity",
                                    i + 1));
      }
      const double raw = column.cwiseProduct(out.root.transpose()).stableNorm();
      double mean = sum / out.mass;
      if (!std::isfinite(mean)) mean = 0;  // too large: refused below
      mean += w.dot((column.array() - mean).matrix()) / out.mass;
      double length = raw, spread = 0;
      if (intercept) {
        out.mean(j) = mean;
        column = (column.array() - mean).matrix().cwiseProduct(out.root.transpose());
        spread = length = column.stableNorm();
      } else {
        spread = (column.array() - mean).matrix().cwiseProduct(out.root.transpose()).stableNorm();
        column = column.cwiseProduct(out.root.transpose()).eval();
      }
      scale_column(method, out, j, name, length, raw, spread, standardize, intercept);
      if (out.length(j) == 0) column.setZero();
      else if (out.scale(j) != 1) column /= out.scale(j);
    }
  });
}

double mass_of(const Block& block, Index i) { return block.weight_of(i) * block.precision_of(i); }

/// Moments of columns and response by weight · precision.
struct Spread {
  ColumnMoments columns, response;
  double weight = 0, mass = 0;

  explicit Spread(Index count) : columns(count), response(1) {}
  void accumulate(const Block& block) {
    Vector each(block.rows());
    Matrix y(block.rows(), 1);
    for (Index i = 0; i < each.size(); ++i) {
      each(i) = mass_of(block, i);
      y(i, 0) = block.y[at(i)] - block.offset_of(i);
      weight += block.weight_of(i);
      mass += each(i);
    }
    Block weighted = block;
    weighted.weight = span_of(each);
    columns.accumulate(weighted);
    Block beside(y, block.first);
    beside.weight = span_of(each);
    response.accumulate(beside);
  }
  void merge(const Spread& other) {
    columns.merge(other.columns);
    response.merge(other.response);
    weight += other.weight;
    mass += other.mass;
  }
};

/// √Σ w x²; of numbers that cannot be squared their size, by which they are refused.
double raw_length(const ColumnMoments& of, Index j, double spread, double root_mass) {
  const double raw = std::hypot(spread, root_mass * of.mean()(j));
  if (raw > 0 && std::isfinite(raw)) return raw;
  return root_mass * std::max(std::abs(of.least()(j)), std::abs(of.greatest()(j)));
}

void look_at_blocks(std::string_view method, StandardisedColumns& out, const Rows& rows, bool intercept,
                    bool standardize, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.5));
  out.blocks = &rows;
  const Spread found = scan(rows, Spread(out.count), execution.part(0.5, 1));
  out.weight = found.weight;
  out.mass = found.mass;
  require(out.mass > 0, fmt::format("{}: all weights are 0, so there are no rows to learn from", method));
  const double root_mass = std::sqrt(out.mass);

  const double about_mean = std::sqrt(found.response.squares()(0));
  const double raw = raw_length(found.response, 0, about_mean, root_mass), size = intercept ? about_mean : raw;
  require_usable(method, rows.target, raw, root_mass);
  out.y_mean = intercept ? found.response.mean()(0) : 0;
  out.total = size <= kRounding * raw ? 0 : size * size;

  const Vector squares = found.columns.squares();
  for (Index j = 0; j < out.count; ++j) {
    const double spread = std::sqrt(squares(j)), length = raw_length(found.columns, j, spread, root_mass);
    if (intercept) out.mean(j) = found.columns.mean()(j);
    scale_column(method, out, j, rows.features[at(j)], intercept ? spread : length, length, spread, standardize,
                 intercept);
  }
}

struct ProductSums {
  const StandardisedColumns* columns;
  StandardisedColumns::NormalEquations sums;

  void accumulate(const Block& block) {
    const Matrix z = columns->rows_of(block);
    blas::gram(z, sums.gram, 1);
    sums.along_y += z.transpose() * columns->y_of(block);
  }
  void merge(const ProductSums& other) {
    sums.gram += other.sums.gram;
    sums.along_y += other.sums.along_y;
  }
};

void copy_sparse(std::string_view method, StandardisedColumns& out, const Csr& x, const Rows& rows, bool intercept,
                 bool standardize) {
  out.sparse = true;
  out.start.assign(static_cast<std::size_t>(out.count) + 1, 0);
  for (const auto j : x.column) ++out.start[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(out.count); ++j) out.start[j + 1] += out.start[j];
  out.row.resize(x.value.size());
  out.value.resize(x.value.size());
  std::vector<Index> next(out.start.begin(), out.start.end() - 1);
  for (Index i = 0; i < out.rows; ++i)
    for (Index k = x.start[static_cast<std::size_t>(i)]; k < x.start[static_cast<std::size_t>(i) + 1]; ++k) {
      const double value = x.value[static_cast<std::size_t>(k)];
      const auto j = static_cast<std::size_t>(x.column[static_cast<std::size_t>(k)]);
      if (!std::isfinite(value))
        throw Error(fmt::format("'{}' is {} in row {}; it must be finite", rows.features[j],
                                std::isnan(value) ? "NaN" : "infinite", i + 1));
      const auto at = static_cast<std::size_t>(next[j]++);
      out.row[at] = static_cast<std::int32_t>(i);
      out.value[at] = value;
    }
  out.shift = Vector::Zero(out.count);
  for (Index j = 0; j < out.count; ++j) {
    const auto begin = static_cast<std::size_t>(out.start[static_cast<std::size_t>(j)]),
               end = static_cast<std::size_t>(out.start[static_cast<std::size_t>(j) + 1]);
    double sum = 0, seen = 0, largest = 0;
    for (auto k = begin; k < end; ++k) {
      const double root = out.root(out.row[k]);
      sum += root * root * out.value[k];
      seen += root * root;
      largest = std::max(largest, std::abs(root * out.value[k]));
    }
    const auto& name = rows.features[static_cast<std::size_t>(j)];
    require_usable(method, name, largest, 1);
    const double mean = sum / out.mass;
    double squares = (out.mass - seen) * mean * mean, raw = 0;  // the zeros' part, then the others'
    for (auto k = begin; k < end; ++k) {
      const double root = out.root(out.row[k]), d = root * (out.value[k] - mean);
      squares += d * d;
      raw += root * out.value[k] * (root * out.value[k]);
    }
    const double spread = std::sqrt(std::max(squares, 0.0));
    out.mean(j) = intercept ? mean : 0;
    scale_column(method, out, j, name, intercept ? spread : std::sqrt(raw), std::sqrt(raw), spread, standardize,
                 intercept);
    for (auto k = begin; k < end; ++k) {
      if (out.length(j) == 0) out.value[k] = 0;
      else out.value[k] *= out.root(out.row[k]) / out.scale(j);
    }
    if (out.length(j) > 0) out.shift(j) = out.mean(j) / out.scale(j);
  }
}

}  // namespace

double StandardisedColumns::dot(Index j, const Vector& r) const {
  if (!sparse) return simd::inner_product(row_of(z, j), span_of(r));
  double sum = 0;
  for (auto k = static_cast<std::size_t>(start[static_cast<std::size_t>(j)]);
       k < static_cast<std::size_t>(start[static_cast<std::size_t>(j) + 1]); ++k)
    sum += value[k] * r(row[k]);
  return sum;
}

void StandardisedColumns::correlations(const std::vector<Index>& which, const Vector& r, Vector& out,
                                       const Execution& execution) const {
  const auto size = static_cast<Index>(which.size());
  out.resize(size);
  const auto piece = [&](Index from) {
    for (Index k = from; k < std::min(from + kPiece, size); ++k) out(k) = dot(which[static_cast<std::size_t>(k)], r);
  };
  if (size <= kPiece) return piece(0);
  parallel_for((size + kPiece - 1) / kPiece, execution, [&](Index i) { piece(i * kPiece); });
}

Vector StandardisedColumns::residual(const std::vector<Index>& support, const Vector& c) const {
  Vector r = y;
  double shifts = 0;
  for (const Index j : support) {
    if (!sparse) {
      simd::add_multiple(-c(j), row_of(z, j), span_of(r));
      continue;
    }
    for (auto k = static_cast<std::size_t>(start[static_cast<std::size_t>(j)]);
         k < static_cast<std::size_t>(start[static_cast<std::size_t>(j) + 1]); ++k)
      r(row[k]) -= c(j) * value[k];
    shifts += c(j) * shift(j);
  }
  if (sparse && shifts != 0) r += shifts * root;
  return r;
}

Vector StandardisedColumns::column(Index j) const {
  if (!sparse) return z.row(j);
  Vector out = length(j) > 0 ? Vector(-shift(j) * root) : Vector::Zero(rows).eval();
  for (auto k = static_cast<std::size_t>(start[static_cast<std::size_t>(j)]);
       k < static_cast<std::size_t>(start[static_cast<std::size_t>(j) + 1]); ++k)
    out(row[k]) += value[k];
  return out;
}

/// A centred column is orthogonal to √w, so the product with it needs the other's sparse part alone.
Vector StandardisedColumns::products(Index j, const std::vector<Index>& with) const {
  const Vector own = column(j);
  Vector out(static_cast<Index>(with.size()));
  for (std::size_t k = 0; k < with.size(); ++k) out(static_cast<Index>(k)) = dot(with[k], own);
  return out;
}

StandardisedColumns::NormalEquations StandardisedColumns::normal_equations(const Execution& execution) const {
  NormalEquations out;
  if (blocks) {
    out = scan(*blocks, ProductSums{this, {Matrix::Zero(count, count), Vector::Zero(count)}}, execution).sums;
    out.gram.triangularView<Eigen::StrictlyLower>() = out.gram.transpose();
    return out;
  }
  out.gram = outer_gram(z, execution);
  std::vector<Index> all(at(count));
  std::iota(all.begin(), all.end(), Index{0});
  correlations(all, y, out.along_y, execution);
  return out;
}

Matrix StandardisedColumns::rows_of(const Block& block) const {
  Vector factor = scale.cwiseInverse();
  for (const Index j : constant) factor(j) = 0;
  Matrix out(block.rows(), count);
  for (Index i = 0; i < out.rows(); ++i)
    out.row(i) = std::sqrt(mass_of(block, i)) * (block.x.row(i) - mean.transpose()).cwiseProduct(factor.transpose());
  return out;
}

Vector StandardisedColumns::y_of(const Block& block) const {
  Vector out = Vector::Zero(block.rows());
  for (Index i = 0; i < out.size() && total > 0; ++i)
    out(i) = std::sqrt(mass_of(block, i)) * (block.y[at(i)] - block.offset_of(i) - y_mean);
  return out;
}

StandardisedColumns standardise(std::string_view method, const Rows& rows, bool intercept, bool standardize,
                                ColumnsAsked asked, const Execution& execution) {
  StandardisedColumns out;
  out.rows = rows.count();
  out.count = rows.width();
  out.mean = Vector::Zero(out.count);
  out.scale = Vector::Ones(out.count);
  out.length = Vector::Zero(out.count);
  if (rows.sparse()) {
    read_outcome(method, out, rows, intercept);
    copy_sparse(method, out, *rows.sparse(), rows, intercept, standardize);
  } else if (asked == ColumnsAsked::together && rows.width() <= kMostInGram && block_count(rows) >= kManyBlocks) {
    look_at_blocks(method, out, rows, intercept, standardize, execution);
  } else if (rows.matrix()) {
    read_outcome(method, out, rows, intercept);
    copy_dense(method, out, *rows.matrix(), rows, intercept, standardize, execution);
  } else {
    const Matrix gathered = gather(rows, execution.part(0, 0.5));
    read_outcome(method, out, rows, intercept);
    copy_dense(method, out, gathered, rows, intercept, standardize, execution.part(0.5, 1));
  }
  for (Index j = 0; j < out.count; ++j)
    if (out.length(j) == 0) out.constant.push_back(j);
  return out;
}

}  // namespace lemma
