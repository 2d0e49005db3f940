// lemma/kernel/nadaraya_watson/smoother.hpp: weights beside the largest, and the mean or the line that they give. Inner header.
#pragma once
#include <functional>
#include <lemma/kernel/nadaraya_watson.hpp>
#include <span>

namespace lemma::nadaraya {

/// The rows of the fit, in units of the bandwidth, with their responses: numbers about their mean (far from 0 few digits would
/// be left of a residual), or a column of zeros and ones for each class.
///
/// Weights that all together are below 2⁻⁶⁰ of the largest change no digit: rows so far away need not be looked at. Rows near each
/// other lie together in boxes, the leaves of a k-d tree, and a box is left out when all of it is too far from the place. Which
/// boxes are looked at depends on the place and the rows of the fit alone, so that a place is told the same in any company.
class Smoother {
 public:
  Smoother(const Matrix& rows, const Vector& response, const Vector& weights, Index classes, const Vector& bandwidth,
           int degree);

  Index count() const { return points_.rows(); }
  Index outputs() const { return y_.cols(); }
  double weight(Index i) const { return weight_(i); }
  double mass() const { return weight_.sum(); }
  const Matrix& y() const { return y_; }  // about the centre
  double centre() const { return centre_; }

  /// f at places in units of the bandwidth: the centre of numbers is not yet added.
  Matrix values(const Matrix& places, const Execution& execution) const;
  /// How many rows are looked at for it.
  Index looked_at(const Eigen::RowVectorXd& place) const;

  /// f at the rows themselves, how much each row's own response counts in it, and f without one copy of the row.
  struct Own {
    Matrix fitted, left_out;
    Vector share;
  };
  Own own(std::span<const Index> which, const Execution& execution) const;

 private:
  /// Rows `first` … of those in boxes, and between which values each of their columns lies.
  struct Box {
    Index first, size;
    Vector low, high;
  };
  struct Sums {
    Eigen::RowVectorXd value, left_out;
    double share = 0;
  };
  /// The rows near a place: where each stretch of them begins, and ends, and all their squared distances.
  struct Near {
    std::vector<std::pair<Index, Index>> stretches;
    std::vector<double> distance;
    Index size() const { return static_cast<Index>(distance.size()); }
    void clear();
  };

  void fill_boxes(std::span<Index> rows);
  void lay_out(std::span<const Index> order);
  void add(const Box& box, const double* place, Near& near) const;
  void look(const Eigen::RowVectorXd& place, Index own, Near& near) const;
  Sums sums(const Eigen::RowVectorXd& place, Near& near, Index own) const;
  Sums means(Near& near, Index own) const;
  Sums means_of_all(Index own) const;
  double line(const Eigen::RowVectorXd& place, const Near& near, Index own, bool leave_out, double& share) const;

  Matrix points_, y_;
  Vector weight_;
  double centre_ = 0, radius2_ = 0;
  int degree_;
  bool of_classes_;
  // In the order of the boxes; columns of a box one after the other.
  std::vector<Box> boxes_;
  std::vector<Index> row_, place_;  // the row in each place, and the place of each row
  std::vector<double> columns_, log_weight_, response_;
};

}  // namespace lemma::nadaraya
