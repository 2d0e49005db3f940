// lemma/embed/shared/planes_model.hpp: what ltsa and hessian_lle have in common: a picture in which the planes near all rows fit.
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/neighborhood.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// The parameters of a picture made of planes, which each spec has as fields of its own.
template <class S>
constexpr auto plane_params() {
  return Listing{
      param("metric", &S::metric, "by which neighbours are near"),
      param("neighbors", &S::neighbors, "nearest rows that a plane is laid through", at_least(1)),
      param("radius", &S::radius, "rows at most so far, in the place of neighbors", above(0), Step::logarithmic),
      param("dimensions", &S::dimensions, "of the surface, and of the picture", at_least(1)),
      param("pieces", &S::pieces, "a graph in pieces is joined by its shortest edges, or refused")};
}

void check_planes(std::string_view method, const Embedded& model, const Metric& metric, int dimensions,
                  const Vector& eigenvalues, Index graph_pieces);
std::string planes_summary(const Embedded& model, const Vector& eigenvalues);

/// The coordinates are eigenvectors of the least eigenvalues of a matrix; a spec says in kEigenvalues of which.
template <class Spec>
struct PlanesModel : Embedded {
  using Base = Embedded;
  Spec spec;
  Vector eigenvalues;
  Index graph_pieces = 1;

  static constexpr auto fields() {
    using M = PlanesModel;
    return joined(
        first_fields(),
        Listing{result("eigenvalues", &M::eigenvalues, Spec::kEigenvalues),
                result("graph_pieces", &M::graph_pieces, "of the graph of neighbours, before they were joined")},
        last_fields());
  }
  void check() const { check_planes(Spec::name, *this, spec.metric, spec.dimensions, eigenvalues, graph_pieces); }
  Matrix inverse(const MatrixView& z) const { return way_back(Spec::name, *this, spec.metric, z); }
  std::string summary(const Names&) const { return planes_summary(*this, eigenvalues); }
};

}  // namespace lemma
