// lemma/catalog.cpp: the one list of every method. Read it to see what Lemma can do; a method joins by one line here.
#include <lemma/catalog.hpp>

#include <array>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/kernel/gp.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/kernel/kernel_neighbors.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/kernel/nadaraya_watson.hpp>
#include <lemma/kernel/svm.hpp>
#include <lemma/linear/bayes_linear.hpp>
#include <lemma/linear/bayes_logistic.hpp>
#include <lemma/linear/centroid.hpp>
#include <lemma/linear/chebyshev.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/lad.hpp>
#include <lemma/linear/lasso.hpp>
#include <lemma/linear/linear_svm.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/lp_svm.hpp>
#include <lemma/linear/multinomial.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/linear/quantile.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/reduce/impute.hpp>
#include <lemma/reduce/lift.hpp>
#include <lemma/reduce/pca.hpp>
#include <lemma/reduce/polynomial.hpp>
#include <lemma/reduce/scale.hpp>
#include <lemma/reduce/whiten.hpp>

namespace lemma {

std::span<const Method* const> catalog() {
  static const std::array methods{
      // linear: a linear predictor of a number, a class or a count
      &method_of<BayesLinear>(),
      &method_of<BayesLogistic>(),
      &method_of<Centroid>(),
      &method_of<Chebyshev>(),
      &method_of<ElasticNet>(),
      &method_of<Glm>(),
      &method_of<Lad>(),
      &method_of<Lasso>(),
      &method_of<LinearSvm>(),
      &method_of<Logistic>(),
      &method_of<LpSvm>(),
      &method_of<Multinomial>(),
      &method_of<Ols>(),
      &method_of<Perceptron>(),
      &method_of<Quantile>(),
      &method_of<Ridge>(),

      // kernel: inner products of features that nobody writes down
      &method_of<Gp>(),
      &method_of<KernelLda>(),
      &method_of<KernelLogistic>(),
      &method_of<KernelNeighbors>(),
      &method_of<KernelPerceptron>(),
      &method_of<KernelRidge>(),
      &method_of<NadarayaWatson>(),
      &method_of<Svm>(),

      // discriminant: classes as Gaussians
      &method_of<Lda>(),

      // cluster: groups of rows
      &method_of<KMeans>(),

      // reduce: rows in other coordinates; the steps before the last of a pipeline
      &method_of<Impute>(),
      &method_of<Lift>(),
      &method_of<Pca>(),
      &method_of<Polynomial>(),
      &method_of<Scale>(),
      &method_of<Whiten>(),
  };
  return methods;
}

}  // namespace lemma
