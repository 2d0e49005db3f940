// lemma/density/shared/inside.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/density/kde.hpp>
#include <lemma/density/shared/inside.hpp>

namespace lemma::density {

AnySpec inside_of(const std::optional<AnySpec>& base) { return base ? base->completed() : AnySpec(Kde{}); }

void require_density(std::string_view around, const AnySpec& inside, bool own_columns) {
  const Method& method = inside.method();
  const auto parts = method.parts();
  const bool gives =
      std::any_of(parts.begin(), parts.end(), [](const PartInfo& part) { return part.name == kLogDensityPart.name; });
  if (!gives || method.about().uses_response)
    throw Error(fmt::format("{}: base is {}, which learns no density of rows; kde, histogram, gaussian and gmm do",
                            around, method.name()));
  if (own_columns && method.name().find('|') != std::string::npos)
    throw Error(
        fmt::format("{0}: base is '{1}', whose density is one of the columns that its first steps make, and those of "
                    "different classes cannot be compared; put the steps in front: '... | {0}'",
                    around, method.name()));
}

Needs needs_inside(const AnySpec& inside, Needs usual) {
  Needs out = inside.method().needs(inside.params());
  out.classes = usual.classes;
  out.numbers = usual.numbers;
  out.counts = out.several = out.offset = false;
  return out;
}

Vector log_densities(const AnyModel& model, const MatrixView& x) {
  PredictOptions options;
  options.what = {std::string(kLogDensityPart.name)};
  return model.predict(x, options).log_density();
}

PlainRows::PlainRows(const Rows& rows, const Matrix& all, const Vector& weight, std::span<const Index> which)
    : x_(static_cast<Index>(which.size()), all.cols()), weight_(which.size()), rows_(x_) {
  for (std::size_t k = 0; k < which.size(); ++k) {
    x_.row(static_cast<Index>(k)) = all.row(which[k]);
    weight_[k] = weight(which[k]);
  }
  rows_.features = rows.features;
  rows_.levels = rows.levels;
  if (rows.has_weights) rows_.weights(weight_);
}

Vector weights_of(const Rows& rows, const Execution& execution) {
  Vector out = Vector::Ones(rows.count());
  if (!rows.has_weights) return out;
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) out(block.first + i) = block.weight_of(i);
  });
  return out;
}

}  // namespace lemma::density
