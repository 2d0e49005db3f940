// tests/install/main.cpp: a program outside the house, built against the installed library: what the README shows.
#include <cstdio>
#include <lemma/lemma.hpp>

namespace {

struct Parabola {  // ½ (x − 3)²
  double value(const lemma::Vector& x) const { return 0.5 * (x.array() - 3).square().sum(); }
  double value(const lemma::Vector& x, lemma::Vector& gradient) const {
    gradient = x.array() - 3;
    return value(x);
  }
};

}  // namespace

int main() {
  using namespace lemma;
  const Table crabs = dataset("crabs");
  const auto model = fit(Lda{}, formula("sp:sex ~ log(FL) + log(RW) + log(CL) + log(CW) + log(BD)"), crabs);
  const Labels said = model.predict(crabs);

  const Matrix x{{0.0}, {1.0}, {2.0}, {3.0}};
  const Vector y{{1.0, 3.0, 5.0, 8.0}}, w{{1.0, 1.0, 1.0, 2.0}};
  const auto line = fit(Ols{}, x, y, {.weights = w});
  const auto groups = fit(KMeans{.k = 2}, x, {.seed = 7});
  const auto steps = fit(Scale{} | Pca{.components = 2} | Lda{}, formula("species ~ ."), dataset("iris"));
  const Minimum lowest = lbfgs(Parabola{}, Vector::Zero(1));

  const bool good = said.size() == 200 && model.certificate.holds() && line.certificate.holds() &&
                    groups.certificate.holds() && steps.model->certificate().holds() && lowest.converged;
  std::printf("%s\n", good ? "installed" : "wrong");
  return good ? 0 : 1;
}
