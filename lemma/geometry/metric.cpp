// lemma/geometry/metric.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/rows.hpp>
#include <lemma/geometry/metric.hpp>
#include <lemma/geometry/shared/arguments.hpp>
#include <lemma/math/moments.hpp>

namespace lemma {
namespace {

void require_rows(const MatrixView& rows, std::string_view metric, std::string_view what, Index least) {
  if (rows.rows() < least)
    throw Error(fmt::format("{} learns {} from the rows: {} of them are too few, at least {} are needed", metric, what,
                            rows.rows(), least));
}

/// Greatest less least of each column, missing values left out; 0 for codes.
std::vector<double> ranges_of(const MatrixView& rows, std::span<const Index> codes) {
  std::vector<double> out;
  for (Index j = 0; j < rows.cols(); ++j) {
    double least = HUGE_VAL, greatest = -HUGE_VAL;
    for (Index i = 0; i < rows.rows(); ++i)
      if (!std::isnan(rows(i, j))) {
        least = std::min(least, rows(i, j));
        greatest = std::max(greatest, rows(i, j));
      }
    const bool is_code = std::find(codes.begin(), codes.end(), j) != codes.end();
    out.push_back(is_code || greatest < least ? 0 : greatest - least);
    if (!std::isfinite(out.back()))
      throw Error(fmt::format("gower: column {} has no finite range: it goes from {} to {}", j + 1, least, greatest));
  }
  return out;
}

}  // namespace

Metric::Metric() = default;
Metric::Metric(const Metric&) = default;
Metric::Metric(Metric&&) noexcept = default;
Metric& Metric::operator=(const Metric&) = default;
Metric& Metric::operator=(Metric&&) noexcept = default;
Metric::~Metric() = default;

void MahalanobisMetric::check() const {
  if (covariance.rows() != covariance.cols())
    throw Error(fmt::format("mahalanobis: covariance has {} rows and {} columns, must be square", covariance.rows(),
                            covariance.cols()));
  if (covariance.size() > 0 && !centre.empty() && static_cast<Index>(centre.size()) != covariance.rows())
    throw Error(fmt::format("mahalanobis: centre has {} numbers for {} columns", centre.size(), covariance.rows()));
}

std::string Metric::text() const { return text_of_atom(named_); }

std::string_view Metric::name() const {
  return std::visit([]<class Atom>(const Atom&) { return Atom::name; }, named_);
}

bool Metric::obeys_triangle_inequality() const {
  return !get<SqEuclideanMetric>() && !get<CosineMetric>() && !get<CorrelationMetric>() && !get<GowerMetric>();
}

Metric Metric::resolved(const MatrixView& rows, std::span<const Index> codes, const Execution& execution) const {
  if (const auto* given = get<GowerMetric>(); given && given->ranges.empty()) {
    require_rows(rows, name(), "the ranges of columns", 1);
    return GowerMetric{ranges_of(rows, codes)};
  }
  if (const auto* given = get<MahalanobisMetric>(); given && given->covariance.size() == 0) {
    require_rows(rows, name(), "a covariance", 2);
    const MemoryRows source(rows);
    require_finite(source, execution);
    const Moments moments = scan(source, Moments(rows.cols()), execution);
    const Vector mean = moments.mean();
    return MahalanobisMetric{moments.covariance(static_cast<double>(rows.rows() - 1)),
                             {mean.data(), mean.data() + mean.size()}};
  }
  return *this;
}

void Metric::check(const std::string& where) const { Codec<Named>::check(named_, {}, where); }

Value Codec<Metric>::write(const Metric& metric) { return Codec<Metric::Named>::write(metric.named()); }

void Codec<Metric>::read(Metric& field, const Value& value, const std::string& where) {
  if (value.is_string() || (value.is_object() && value.as_object().size() == 1 && value.find("kind"))) {
    const std::string& text = (value.is_string() ? value : value.at("kind")).as_string(where);
    try {
      field = Metric::parse(text);
    } catch (const Error& error) { throw Error(where + ": " + error.what()); }
    return;
  }
  Metric::Named named = field.named();
  Value rest = value;  // 'minkowski(3)' with metric.p beside it: the written one is where they go
  if (const Value* kind = value.is_object() ? value.find("kind") : nullptr; kind && kind->is_string()) {
    const auto kinds = Codec<Metric::Named>::kinds();
    if (std::find(kinds.begin(), kinds.end(), kind->as_string()) == kinds.end()) {
      const Metric written = Metric::parse(kind->as_string());
      named = written.named();
      rest.set("kind", Value(written.name()));
    }
  }
  Codec<Metric::Named>::read(named, rest, where);
  field = std::visit([](auto& atom) { return Metric(std::move(atom)); }, named);
}

void detail::Describe<Metric>::kind(ParamInfo& info) {
  Describe<Metric::Named>::kind(info);
  info.kind = ParamInfo::Kind::name_or_text;
}

void detail::Describe<Metric>::parts(const std::string& name, std::vector<ParamInfo>& out) {
  Describe<Metric::Named>::parts(name, out);
}

}  // namespace lemma
