// lemma/catalog.cpp: the one list of every method. Read it to see what Lemma can do; a method joins by one line here.
#include <lemma/catalog.hpp>

#include <array>
#include <lemma/bayes/conjugate.hpp>
#include <lemma/bayes/decide.hpp>
#include <lemma/bayes/gaussian_wishart.hpp>
#include <lemma/bayes/mcmc.hpp>
#include <lemma/bayes/naive_bayes.hpp>
#include <lemma/cluster/affinity_propagation.hpp>
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/divisive.hpp>
#include <lemma/cluster/dp_means.hpp>
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmedians.hpp>
#include <lemma/cluster/kmedoids.hpp>
#include <lemma/cluster/kmodes.hpp>
#include <lemma/cluster/kprototypes.hpp>
#include <lemma/cluster/mean_shift.hpp>
#include <lemma/cluster/spectral.hpp>
#include <lemma/density/anomaly.hpp>
#include <lemma/density/density_classifier.hpp>
#include <lemma/density/histogram.hpp>
#include <lemma/density/isolation_forest.hpp>
#include <lemma/density/kde.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/discriminant/qda.hpp>
#include <lemma/embed/diffusion_map.hpp>
#include <lemma/embed/hessian_lle.hpp>
#include <lemma/embed/isomap.hpp>
#include <lemma/embed/laplacian_eigenmaps.hpp>
#include <lemma/embed/lle.hpp>
#include <lemma/embed/ltsa.hpp>
#include <lemma/embed/mds.hpp>
#include <lemma/embed/mvu.hpp>
#include <lemma/embed/nonmetric_mds.hpp>
#include <lemma/embed/sammon.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/embed/tsne.hpp>
#include <lemma/ensemble/adaboost.hpp>
#include <lemma/ensemble/bagging.hpp>
#include <lemma/ensemble/calibrate.hpp>
#include <lemma/ensemble/mixture_of_experts.hpp>
#include <lemma/ensemble/model_average.hpp>
#include <lemma/ensemble/per_response.hpp>
#include <lemma/ensemble/stacking.hpp>
#include <lemma/kernel/gp.hpp>
#include <lemma/kernel/gp_classification.hpp>
#include <lemma/kernel/kernel_lda.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/kernel/kernel_neighbors.hpp>
#include <lemma/kernel/kernel_pca.hpp>
#include <lemma/kernel/kernel_perceptron.hpp>
#include <lemma/kernel/kernel_ridge.hpp>
#include <lemma/kernel/nadaraya_watson.hpp>
#include <lemma/kernel/nu_svm.hpp>
#include <lemma/kernel/one_class_svm.hpp>
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
#include <lemma/linear/multitask_lasso.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/perceptron.hpp>
#include <lemma/linear/pls.hpp>
#include <lemma/linear/quantile.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/mixture/factor_analysis.hpp>
#include <lemma/mixture/gaussian.hpp>
#include <lemma/mixture/gmm.hpp>
#include <lemma/mixture/mixture.hpp>
#include <lemma/mixture/mppca.hpp>
#include <lemma/mixture/ppca.hpp>
#include <lemma/mixture/variational_gmm.hpp>
#include <lemma/neighbor/knn.hpp>
#include <lemma/neighbor/lof.hpp>
#include <lemma/neighbor/neighbor_components.hpp>
#include <lemma/neighbor/prototypes.hpp>
#include <lemma/neural/cnn.hpp>
#include <lemma/neural/mlp.hpp>
#include <lemma/reduce/cca.hpp>
#include <lemma/reduce/factorise.hpp>
#include <lemma/reduce/ica.hpp>
#include <lemma/reduce/impute.hpp>
#include <lemma/reduce/lift.hpp>
#include <lemma/reduce/matrix_completion.hpp>
#include <lemma/reduce/nmf.hpp>
#include <lemma/reduce/pca.hpp>
#include <lemma/reduce/polynomial.hpp>
#include <lemma/reduce/random_projection.hpp>
#include <lemma/reduce/robust_pca.hpp>
#include <lemma/reduce/scale.hpp>
#include <lemma/reduce/select.hpp>
#include <lemma/reduce/whiten.hpp>
#include <lemma/tree/boost.hpp>
#include <lemma/tree/extra_trees.hpp>
#include <lemma/tree/forest.hpp>
#include <lemma/tree/oblique_tree.hpp>
#include <lemma/tree/optimal_tree.hpp>
#include <lemma/tree/tree.hpp>

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
      &method_of<MultitaskLasso>(),
      &method_of<Ols>(),
      &method_of<Perceptron>(),
      &method_of<Pls>(),
      &method_of<Quantile>(),
      &method_of<Ridge>(),

      // kernel: inner products of features that nobody writes down
      &method_of<Gp>(),
      &method_of<GpClassification>(),
      &method_of<KernelLda>(),
      &method_of<KernelLogistic>(),
      &method_of<KernelNeighbors>(),
      &method_of<KernelPca>(),
      &method_of<KernelPerceptron>(),
      &method_of<KernelRidge>(),
      &method_of<NadarayaWatson>(),
      &method_of<NuSvm>(),
      &method_of<OneClassSvm>(),
      &method_of<Svm>(),

      // discriminant: classes as Gaussians
      &method_of<Lda>(),
      &method_of<Qda>(),

      // bayes: densities of the classes, beliefs that rows change, decisions by probabilities
      &method_of<Conjugate>(),
      &method_of<Decide>(),
      &method_of<GaussianWishart>(),
      &method_of<Mcmc>(),
      &method_of<NaiveBayes>(),

      // neighbor: rows like the nearest ones
      &method_of<Knn>(),
      &method_of<Lof>(),
      &method_of<NeighborComponents>(),
      &method_of<Prototypes>(),

      // tree: questions one after the other
      &method_of<Boost>(),
      &method_of<ExtraTrees>(),
      &method_of<Forest>(),
      &method_of<ObliqueTree>(),
      &method_of<OptimalTree>(),
      &method_of<Tree>(),

      // ensemble: methods made of methods
      &method_of<AdaBoost>(),
      &method_of<Bagging>(),
      &method_of<Calibrate>(),
      &method_of<MixtureOfExperts>(),
      &method_of<ModelAverage>(),
      &method_of<PerResponse>(),
      &method_of<Stacking>(),

      // neural: layers of units, with derivatives that go back along them
      &method_of<Cnn>(),
      &method_of<Mlp>(),

      // cluster: groups of rows
      &method_of<AffinityPropagation>(),
      &method_of<Agglomerative>(),
      &method_of<Dbscan>(),
      &method_of<Divisive>(),
      &method_of<DpMeans>(),
      &method_of<Hdbscan>(),
      &method_of<KMeans>(),
      &method_of<KMedians>(),
      &method_of<KMedoids>(),
      &method_of<KModes>(),
      &method_of<KPrototypes>(),
      &method_of<MeanShift>(),
      &method_of<Spectral>(),

      // mixture: rows as draws of several sources
      &method_of<FactorAnalysis>(),
      &method_of<Gaussian>(),
      &method_of<Gmm>(),
      &method_of<Mixture>(),
      &method_of<Mppca>(),
      &method_of<Ppca>(),
      &method_of<VariationalGmm>(),

      // density: how likely a row is, whatever its shape
      &method_of<Anomaly>(),
      &method_of<DensityClassifier>(),
      &method_of<Histogram>(),
      &method_of<IsolationForest>(),
      &method_of<Kde>(),

      // embed: places for things, from how different they are
      &method_of<DiffusionMap>(),
      &method_of<HessianLle>(),
      &method_of<Isomap>(),
      &method_of<LaplacianEigenmaps>(),
      &method_of<Lle>(),
      &method_of<Ltsa>(),
      &method_of<Mds>(),
      &method_of<Mvu>(),
      &method_of<NonmetricMds>(),
      &method_of<Sammon>(),
      &method_of<Smacof>(),
      &method_of<Tsne>(),

      // reduce: rows in other coordinates; the steps before the last of a pipeline
      &method_of<Cca>(),
      &method_of<Factorise>(),
      &method_of<Ica>(),
      &method_of<Impute>(),
      &method_of<Lift>(),
      &method_of<MatrixCompletion>(),
      &method_of<Nmf>(),
      &method_of<Pca>(),
      &method_of<Polynomial>(),
      &method_of<RandomProjection>(),
      &method_of<RobustPca>(),
      &method_of<Scale>(),
      &method_of<Select>(),
      &method_of<Whiten>(),
  };
  return methods;
}

}  // namespace lemma
