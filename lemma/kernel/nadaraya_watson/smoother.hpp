// lemma/kernel/nadaraya_watson/smoother.hpp: weights beside the largest, and the mean or the line that they give. Inner header.
#pragma once
#include <lemma/geometry/neighbors.hpp>
#include <lemma/kernel/nadaraya_watson.hpp>

namespace lemma::nadaraya {

/// The rows of the fit, in units of the bandwidth, with their responses: numbers about their mean (far from 0 few digits would
/// be left of a residual), or a column of zeros and ones for each class.
///
/// A weight that all together are below 2⁻⁶⁰ of the largest changes no digit: rows farther than that need not be looked at. With
/// few columns and many rows they are found by a tree, where a trial shows that it leaves most of them out; which of the two
/// ways is taken depends on the rows of the fit alone, so that a place is told the same in any company.
class Smoother {
 public:
  Smoother(const Matrix& rows, const Vector& response, const Vector& weights, Index classes, const Vector& bandwidth,
           int degree, const Execution& execution = {});

  Index count() const { return points_.rows(); }
  Index outputs() const { return y_.cols(); }
  double weight(Index i) const { return weight_(i); }
  double mass() const { return weight_.sum(); }
  const Matrix& y() const { return y_; }  // about the centre
  double centre() const { return centre_; }
  bool by_tree() const { return tree_ != nullptr; }

  /// f at places in units of the bandwidth: the centre of numbers is not yet added.
  Matrix at(const Matrix& places, const Execution& execution) const;

  /// f at the rows themselves, how much each row's own response counts in it, and f without one copy of the row.
  struct Own {
    Matrix fitted, left_out;
    Vector share;
  };
  Own own(std::span<const Index> which, const Execution& execution) const;

 private:
  struct Sums {
    Eigen::RowVectorXd value, left_out;
    double share = 0;
  };
  /// Rows near a place, or (empty) all of them, and their squared distances, which are overwritten.
  struct Near {
    std::span<const std::int32_t> rows;
    std::span<double> distance;
    Index size() const { return static_cast<Index>(distance.size()); }
    Index row(Index i) const { return rows.empty() ? i : rows[static_cast<std::size_t>(i)]; }
  };
  void visit(const Matrix& places, std::span<const Index> own, const Execution& execution,
             const std::function<void(Index place, Near near)>& take) const;
  Sums sums(const Eigen::RowVectorXd& place, Near near, Index own) const;
  Sums means(Near near, Index own) const;
  Eigen::RowVectorXd line(const Eigen::RowVectorXd& place, Near near, Index own, bool leave_out, double& share) const;
  void choose_tree(const Execution& execution);

  Matrix points_, y_;
  Vector weight_, log_weight_;
  double centre_ = 0, radius_ = 0;
  int degree_;
  std::unique_ptr<Neighbors> tree_;
};

}  // namespace lemma::nadaraya
