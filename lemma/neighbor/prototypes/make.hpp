// lemma/neighbor/prototypes/make.hpp: how prototypes are made. Inner header: use lemma/neighbor/prototypes.hpp.
#pragma once
#include <lemma/neighbor/prototypes.hpp>

namespace lemma::prototypes {

/// Rows in an order of their own, in which equal rows of a class stand side by side.
struct Data {
  Matrix x;
  Labels label;
  Index classes;
  Index rows() const { return x.rows(); }
};
/// Whether the row before it is equal, class and all.
inline bool is_copy(const Data& data, Index i) {
  return i > 0 && data.label[at(i)] == data.label[at(i - 1)] && data.x.row(i) == data.x.row(i - 1);
}
/// Error where a number is not finite, squares leave the range of numbers or a class has no row.
Data gathered(const Rows& rows, const Execution& execution);

struct Made {
  Matrix points;
  Labels label;
  Matrix start;  // of lvq
};
Made made(const Prototypes& spec, const Data& data, const Execution& execution);

/// The class of the nearest.
Labels nearest_classes(const MatrixView& x, const Matrix& points, const Labels& label);
double share_wrong(const Data& data, const Made& prototypes);

/// The steps of LVQ from its start.
Matrix learned(const Prototypes& spec, const Data& data, const Matrix& start, const Labels& label);

inline bool by_lvq(const Prototypes& spec) {
  return spec.by == PrototypesBy::lvq1 || spec.by == PrototypesBy::lvq2 || spec.by == PrototypesBy::lvq3;
}

/// Errors on rows held out: of the prototypes of the others, and of the nearest of all the others.
Vector held_out_errors(const Prototypes& spec, const Data& data, const Execution& execution);

}  // namespace lemma::prototypes
