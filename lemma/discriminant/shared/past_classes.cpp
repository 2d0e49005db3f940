// lemma/discriminant/shared/past_classes.cpp
#include <lemma/discriminant/shared/past_classes.hpp>
#include <lemma/math/rows_like.hpp>

namespace lemma {

PastClasses::PastClasses(const Rows& like, const Vector& counts, const Matrix& means,
                         const std::function<Matrix(Index)>& root)
    : x_(0, means.cols()) {
  for (Index k = 0; k < means.rows(); ++k) {
    const WeightedRows own = rows_like(counts(k), means.row(k).transpose(), root(k));
    x_.conservativeResize(x_.rows() + own.x.rows(), Eigen::NoChange);
    x_.bottomRows(own.x.rows()) = own.x;
    weight_.insert(weight_.end(), own.weight.begin(), own.weight.end());
    label_.insert(label_.end(), own.weight.size(), static_cast<int>(k));
  }
  rows_.emplace(x_);
  rows_->labels(label_, like.classes).weights(weight_).features = like.features;
}

}  // namespace lemma
