// lemma/cluster/kmeans/plain_search.hpp: the nearest centre by the plain distances. Inner header: use lemma/cluster/kmeans.hpp.
#pragma once
#include <cmath>
#include <lemma/core/matrix.hpp>
#include <lemma/math/simd/distance.hpp>
#include <numeric>

namespace lemma {

/// The plain search for whole blocks. The filter only guesses where to look first, which saves time and decides nothing.
class PlainSearch {
 public:
  explicit PlainSearch(const Matrix& centers) : plain_(centers), frame_(around(centers)), filter_(centers, frame_) {}

  void operator()(const MatrixView& x, Labels& label, std::vector<double>& distance) const {
    const auto rows = static_cast<std::size_t>(x.rows());
    label.resize(rows);
    distance.resize(rows);
    std::iota(label.begin(), label.end(), 0);
    simd::Scores scores;
    simd::filter(x, label, filter_, frame_, scores);
    for (std::size_t i = 0; i < rows; ++i)
      label[i] = plain_.nearest(x.row(static_cast<Index>(i)).data(), scores.which[i], distance[i]);
  }

 private:
  static simd::Frame around(const Matrix& centers) {
    simd::Frame frame{centers.colwise().mean().transpose(), 1};
    const double far = (centers.rowwise() - frame.origin.transpose()).cwiseAbs().maxCoeff();
    if (far > 0 && std::isfinite(far)) frame.scale = std::ldexp(1.0, std::clamp(-std::ilogb(far), -1000, 1000));
    return frame;
  }
  simd::PlainCenters plain_;
  simd::Frame frame_;
  simd::FilterCenters filter_;
};

}  // namespace lemma
