// lemma/tree/forest/outside.cpp
#include <cmath>
#include <lemma/tree/forest/outside.hpp>

namespace lemma::forest {

Outside::Outside(const ForestRows& data)
    : data_(data), said_(Matrix::Zero(data.rows, std::max<Index>(1, data.classes))), trees_(at(data.rows), 0.0) {}

void Outside::add(const GrownTree& tree) {
  const auto k = at(data_.classes);
  for (const GrownTree::Leaf& leaf : tree.leaves)
    for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
      const std::uint32_t row = tree.outside[i];
      ++trees_[row];
      double* const said = said_.data() + std::size_t{row} * std::max<std::size_t>(1, k);
      if (k == 0) {
        *said += leaf.value;
      } else if (leaf.label >= 0) {
        said[leaf.label] += 1;
      } else {
        for (std::size_t c = 0; c < k; ++c) said[c] += tree.shares[leaf.shares + c];
      }
    }
  error_.push_back(error_so_far());
}

/// Over the rows that some tree did not see, by their weight.
double Outside::error_so_far() const {
  double sum = 0, weight = 0;
  for (std::uint32_t row = 0; row < trees_.size(); ++row) {
    if (trees_[row] == 0) continue;
    const double w = data_.weight_of(row);
    weight += w;
    if (data_.classes == 0) {
      const double off = said_(row, 0) / trees_[row] - data_.y[row];
      sum += w * off * off;
    } else {
      Index best = 0;
      said_.row(row).maxCoeff(&best);
      sum += best == static_cast<Index>(data_.label[row]) ? 0 : w;
    }
  }
  return weight > 0 ? sum / weight * data_.scale * data_.scale : std::numeric_limits<double>::quiet_NaN();
}

void Outside::give(Grove& out) const {
  out.oob_error.reset();
  out.oob_error_by_tree.resize(0);
  out.oob.resize(0, 0);
  if (error_.empty() || std::isnan(error_.back())) return;
  out.oob_error = error_.back();
  if (!std::isnan(error_.front()))
    out.oob_error_by_tree =
        Eigen::Map<const Vector>(error_.data(), std::ssize(error_));  // a first tree that saw every row tells nothing
  out.oob =
      Matrix::Constant(static_cast<Index>(out.order.size()), said_.cols(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < out.order.size(); ++i) {
    const int place = out.order[i];
    if (place < 0 || trees_[at(place)] == 0) continue;
    out.oob.row(static_cast<Index>(i)) = said_.row(place) / trees_[at(place)];
    if (data_.classes == 0)
      out.oob(static_cast<Index>(i), 0) = data_.centre + data_.scale * out.oob(static_cast<Index>(i), 0);
  }
}

}  // namespace lemma::forest
