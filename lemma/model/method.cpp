// lemma/model/method.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/threshold.hpp>

namespace lemma {
namespace {

/// What users of R, statsmodels and scikit-learn type first.
struct NameElsewhere {
  std::string_view typed, here, words;
};
constexpr NameElsewhere kElsewhere[] = {
    {"lm", "ols", "'ols'"},
    {"wls", "ols", "'ols' with --precision"},
    {"gls", "ols", "'ols' with --precision where errors are independent"},
    {"glmnet", "lasso", "'lasso', 'elastic_net', 'ridge' or 'logistic'"},
    {"enet", "elastic_net", "'elastic_net'"},
    {"logit", "logistic", "'logistic', or 'glm' with tests"},
    {"multinom", "multinomial", "'multinomial'"},
    {"softmax", "multinomial", "'multinomial'"},
    {"rq", "quantile", "'quantile', or 'lad' for the median"},
    {"quantreg", "quantile", "'quantile', or 'lad' for the median"},
    {"minimax", "chebyshev", "'chebyshev'"},
    {"prcomp", "pca", "'pca'"},
    {"princomp", "pca", "'pca'"},
    {"rpart", "tree", "'tree'"},
    {"cart", "tree", "'tree'"},
    {"decisiontree", "tree", "'tree'"},
    {"randomforest", "forest", "'forest'"},
    {"ranger", "forest", "'forest'"},
    {"rf", "forest", "'forest'"},
    {"extratrees", "extra_trees", "'extra_trees'"},
    {"gbm", "boost", "'boost'"},
    {"xgboost", "boost", "'boost'"},
    {"lightgbm", "boost", "'boost'"},
    {"gradientboosting", "boost", "'boost'"},
    {"svc", "svm", "'svm'"},
    {"svr", "svm", "'svm'"},
    {"ksvm", "svm", "'svm'"},
    {"linearsvc", "linear_svm", "'linear_svm'"},
    {"kneighbors", "knn", "'knn'"},
    {"naivebayes", "naive_bayes", "'naive_bayes'"},
    {"gaussiannb", "naive_bayes", "'naive_bayes'"},
    {"bernoullinb", "naive_bayes", "'naive_bayes' with --kinds bernoulli"},
    {"multinomialnb", "naive_bayes", "'naive_bayes' with --kinds multinomial"},
    {"complementnb", "naive_bayes", "'naive_bayes' with --kinds complement"},
    {"categoricalnb", "naive_bayes", "'naive_bayes': it takes categories as they are"},
    {"kknn", "knn", "'knn' with --vote"},
    {"nearestneighbors", "knn", "'knn', or the command 'lemma neighbors' that lists them"},
    {"condense", "prototypes", "'prototypes'"},
    {"lvq", "prototypes", "'prototypes' with --by lvq1, lvq2 or lvq3"},
    {"lvq1", "prototypes", "'prototypes' with --by lvq1"},
    {"lvq2", "prototypes", "'prototypes' with --by lvq2"},
    {"lvq3", "prototypes", "'prototypes' with --by lvq3"},
    {"nca", "neighbor_components", "'neighbor_components'"},
    {"neighborhoodcomponentsanalysis", "neighbor_components", "'neighbor_components'"},
    {"localoutlierfactor", "lof", "'lof'"},
    {"quadraticdiscriminantanalysis", "qda", "'qda'"},
    {"rda", "qda", "'qda' with --pooling and --sphere"},
    {"isotropic", "qda", "'qda' with --shape isotropic, or common_isotropic"},
    {"betabinomial", "conjugate", "'conjugate' with --family beta_binomial"},
    {"gammapoisson", "conjugate", "'conjugate' with --family gamma_poisson"},
    {"dirichletmultinomial", "conjugate", "'conjugate' with --family dirichlet_multinomial"},
    {"normalnormal", "conjugate", "'conjugate' with --family normal_normal"},
    {"normalgamma", "conjugate", "'conjugate' with --family normal_normal"},
    {"normalwishart", "gaussian_wishart", "'gaussian_wishart'"},
    {"stan", "mcmc", "'mcmc'"},
    {"stanglm", "mcmc", "'mcmc'"},
    {"brm", "mcmc", "'mcmc'"},
    {"nuts", "mcmc", "'mcmc'"},
    {"hmc", "mcmc", "'mcmc'"},
    {"metropolis", "mcmc", "'mcmc' with --sampler metropolis"},
    {"gibbs", "mcmc", "'mcmc'"},
    {"bayesiangaussianmixture", "variational_gmm", "'variational_gmm'"},
    {"bayesianridge", "bayes_linear", "'bayes_linear'"},
    {"gpc", "gp_classification", "'gp_classification'"},
    {"nusvc", "nu_svm", "'nu_svm'"},
    {"oneclasssvm", "one_class_svm", "'one_class_svm'"},
    {"gaussianmixture", "gmm", "'gmm'"},
    {"mclust", "gmm", "'gmm'"},
    {"pam", "kmedoids", "'kmedoids'"},
    {"clara", "kmedoids", "'kmedoids' with --sample"},
    {"fasterpam", "kmedoids", "'kmedoids'"},
    {"diana", "divisive", "'divisive'"},
    {"specc", "spectral", "'spectral'"},
    {"spectralclustering", "spectral", "'spectral'"},
    {"kerneldensity", "kde", "'kde'"},
    {"parzen", "kde", "'kde'"},
    {"factanal", "factor_analysis", "'factor_analysis'"},
    {"polca", "mixture", "'mixture' of categories"},
    {"latentclass", "mixture", "'mixture' of categories"},
    {"iforest", "isolation_forest", "'isolation_forest'"},
    {"ellipticenvelope", "gaussian", "'gaussian' with --estimate mcd"},
    {"cmdscale", "mds", "'mds'"},
    {"wcmdscale", "mds", "'mds'"},
    {"pcoa", "mds", "'mds'"},
    {"metamds", "nonmetric_mds", "'nonmetric_mds'"},
    {"rtsne", "tsne", "'tsne'"},
    {"umap", "tsne", "'tsne' or 'laplacian_eigenmaps', which are near it"},
    {"rpca", "robust_pca", "'robust_pca'"},
    {"softimpute", "matrix_completion", "'matrix_completion'"},
    {"als", "factorise", "'factorise'"},
    {"svd", "pca", "'pca' with --center false"},
    {"truncatedsvd", "pca", "'pca' with --center false --solver randomized"},
    {"parallelanalysis", "pca", "'pca' with --rule permutation"},
    {"fastica", "ica", "'ica'"},
    {"cancor", "cca", "'cca'"},
    {"isomds", "nonmetric_mds", "'nonmetric_mds'"},
    {"metricmds", "smacof", "'smacof'"},
    {"spectralembedding", "laplacian_eigenmaps", "'laplacian_eigenmaps'"},
    {"locallylinearembedding", "lle", "'lle', 'hessian_lle' or 'ltsa'"},
    {"maximumvarianceunfolding", "mvu", "'mvu'"},
    {"semidefiniteembedding", "mvu", "'mvu'"},
    {"hlle", "hessian_lle", "'hessian_lle'"},
    {"kpca", "kernel_pca", "'kernel_pca'"},
    {"gaussianrandomprojection", "random_projection", "'random_projection'"},
    {"sparserandomprojection", "random_projection", "'random_projection' with --kind sparse"},
    {"sphere", "whiten", "'whiten'"},
    {"sphering", "whiten", "'whiten'"},
    {"ksmooth", "nadaraya_watson", "'nadaraya_watson'"},
    {"loess", "nadaraya_watson", "'nadaraya_watson' with --degree 1"},
    {"krr", "kernel_ridge", "'kernel_ridge'"},
    {"gaussianprocess", "gp", "'gp'"},
    {"standardscaler", "scale", "'scale'"},
};

/// "randomForest", "random_forest" and "RandomForestClassifier" are one name.
std::string plain(std::string_view typed) {
  std::string out;
  for (const char c : typed)
    if (c != '_' && c != '.' && c != '-') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const std::string_view end : {"classifier", "regressor", "regression"})
    if (out.size() > end.size() && out.ends_with(end)) out.resize(out.size() - end.size());
  return out;
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& names) {
  const std::string looked_for = plain(typed);
  for (const auto& [there, here, words] : kElsewhere)
    if (looked_for == there && std::find(names.begin(), names.end(), here) != names.end())
      return fmt::format(": here it is {}", words);
  return did_you_mean(typed, names);
}

}  // namespace

const Method& find_method(std::string_view name, std::span<const Method* const> methods) {
  std::vector<std::string> names;
  for (const Method* method : methods) {
    if (method->name() == name) return *method;
    names.push_back(method->name());
  }
  throw Error(fmt::format("there is no method '{}'{}; 'lemma methods' lists all {}", name, suggestion(name, names),
                          names.size()));
}

namespace {

void check_several(std::string_view name, const MethodAbout& about, const std::vector<ResponseColumn>& responses) {
  if (!about.uses_response) return;  // a step that does not look at them
  if (!about.takes_several) throw Error(fmt::format("{} takes one response, and there are {}", name, responses.size()));
  if (about.either_response) return;
  const bool classes = about.task == Task::classification;
  for (const auto& [column, names] : responses)
    if (classes == names.empty())
      throw Error(fmt::format("{} predicts {}, and {} is {}", name, classes ? "classes" : "numbers", column,
                              classes ? "numeric" : "categorical"));
}

}  // namespace

void check_kind(std::string_view name, const MethodAbout& about, const Rows& rows) {
  if (rows.count() == 0) throw Error(fmt::format("{}: there are no rows to learn from", name));
  check_kind_of_rows(name, about, rows);
}

void check_kind_of_rows(std::string_view name, const MethodAbout& about, const Rows& rows) {
  if (rows.width() == 0 && about.task != Task::regression)
    throw Error(fmt::format("{}: there are no columns to learn from", name));
  if (about.uses_response && !rows.has_response)
    throw Error(fmt::format("{}: there is no response; write the formula as 'response ~ terms'", name));
  if (!rows.responses.empty()) check_several(name, about, rows.responses);
  if (about.task == Task::classification && rows.classes.empty() && rows.responses.empty() && !about.either_response)
    throw Error(fmt::format("{} predicts classes, and {} is numeric; use factor({}) or a regression method", name,
                            rows.target.empty() ? "the response" : rows.target,
                            rows.target.empty() ? "y" : rows.target));
  if (about.task == Task::classification && rows.classes.size() == 1)
    throw Error(fmt::format("{} needs at least two classes, and {} has only '{}'", name,
                            rows.target.empty() ? "the response" : rows.target, rows.classes.front()));
  if (about.most_classes > 0 && rows.classes.size() > static_cast<std::size_t>(about.most_classes))
    throw Error(fmt::format("{} tells {} classes apart, and {} has {}; use a method for more, such as multinomial",
                            name, about.most_classes, rows.target.empty() ? "the response" : rows.target,
                            rows.classes.size()));
  if (about.task == Task::regression && !rows.classes.empty() && !about.either_response)
    throw Error(fmt::format("{} predicts numbers, and {} is categorical; use a classification method", name,
                            rows.target.empty() ? "the response" : rows.target));
  if (rows.has_weights && !about.takes_weights) throw Error(fmt::format("{} takes no weights", name));
  if (rows.has_precision && !about.takes_precision)
    throw Error(fmt::format("{} takes no precision (inverse variances)", name));
  if (rows.has_clusters && !about.takes_clusters)
    throw Error(fmt::format("{} has no standard errors that clusters could change; leave out --cluster", name));
  if (rows.has_offset && !about.takes_offset) throw Error(fmt::format("{} takes no offset", name));
  if (rows.counts && !about.takes_counts) throw Error(fmt::format("{} takes no counts as its response", name));
}

void check_rows(std::string_view name, const MethodAbout& about, const Rows& rows) {
  check_kind(name, about, rows);
  check_sizes(name, about, rows);
}

std::variant<Prediction, AnyModel> AnyModel::Interface::act(std::string_view action, const Value&) const {
  throw Error(fmt::format("{} has no command '{}'", method().name(), action));
}

DrawnRows AnyModel::Interface::draw(Index, std::uint64_t) const {
  throw Error(fmt::format("{} draws no rows: it has learned no density of them", method().name()));
}

void require_width(std::string_view method, Index fitted, Index given) {
  if (given != fitted) throw Error(fmt::format("{} was fitted on {} columns and is given {}", method, fitted, given));
}

void check_rows_of(std::string_view name, const MethodAbout& about, Index width, std::optional<Index> classes,
                   const Rows& rows) {
  check_rows(name, about, rows);
  require_width(name, width, rows.width());
  const auto given = static_cast<Index>(rows.classes.size());
  if (!classes || *classes == given) return;
  if (*classes == 0 || given == 0)
    throw Error(fmt::format("{} was fitted on {} and is given {}", name, given == 0 ? "classes" : "numbers",
                            given == 0 ? "numbers" : "classes"));
  throw Error(fmt::format("{} was fitted on {} classes and is given {}", name, *classes, given));
}

AnyModel AnyModel::Interface::update(const Rows&, const FitOptions&) const {
  throw Error(fmt::format("{} cannot be updated with new rows; fit it to all rows{}", method().name(),
                          method().about().takes_start ? " (with --from it begins where this one is)" : ""));
}

std::vector<PartInfo> detail::offered_parts(std::span<const MayOffer> all) {
  std::vector<PartInfo> out;
  for (const MayOffer& each : all)
    if (each.offered) out.push_back(each.part);
  return out;
}

std::vector<PartInfo> detail::parts_for(std::vector<PartInfo> all, Task task, bool has_probabilities) {
  std::erase_if(all, [&](const PartInfo& each) {
    const bool probabilities = each.name == kProbabilitiesPart.name;
    return ((each.of_classes || probabilities) && task == Task::regression) ||
           (each.name == kValuePart.name && task != Task::regression) || (probabilities && !has_probabilities);
  });
  return all;
}

Needs detail::usual_needs(const MethodAbout& about) {
  Needs out;
  out.codes = about.takes_codes;
  out.missing = about.takes_missing;
  if (about.takes_codes && about.takes_missing) out.unseen = Unseen::missing;
  out.classes = about.uses_response && (about.task == Task::classification || about.either_response);
  out.numbers = about.uses_response && (about.task != Task::classification || about.either_response);
  out.counts = about.takes_counts;
  out.several = about.takes_several;
  out.offset = about.takes_offset;
  return out;
}

AnyModel detail::usable(std::shared_ptr<const AnyModel::Interface> fitted) {
  try {
    fitted->check();
    fitted->method().check(fitted->params());  // with the values that were chosen: a γ of 1 / overflow is 0
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}: the numbers of these rows are beyond what can be computed with; bring the columns and the "
                    "response nearer to 1",
                    error.what()));
  }
  return AnyModel(std::move(fitted));
}

void detail::add_offset(Vector& values, std::span<const double> offset) {
  if (values.size() > 0 && !offset.empty())
    values += Eigen::Map<const Vector>(offset.data(), static_cast<Index>(offset.size()));
}

namespace {

/// What a model has in the place of predictions.
std::string offers_of(const Method& method) {
  std::vector<std::string> words;
  for (const FieldInfo& field : method.results())
    if (field.shown == Shown::result) words.push_back(fmt::format("'lemma show MODEL {}'", field.name));
  for (const ActionInfo& action : method.actions()) words.push_back(fmt::format("'lemma {} MODEL'", action.name));
  return join_words(words);
}

/// Error unless the model gives every part that is asked for by its name.
void check_asked(const AnyModel::Interface& model, const PredictOptions& options) {
  const auto offered = model.parts();
  if (offered.empty())
    throw Error(fmt::format("{} is about the rows it was fitted on and says nothing of others; it offers {}",
                            model.method().name(), offers_of(model.method())));
  if (options.what.empty()) return;
  std::vector<std::string> names;
  for (const PartInfo& part : offered)
    if (part.given != Given::option) names.emplace_back(part.name);
  const std::string method = model.method().name();
  for (const std::string& wanted : options.what) {
    if (wanted == "all" || std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    const auto way = model.method().way_to(wanted);
    if (!way.empty()) throw Error(fmt::format("this {} gives no {}: fit it with {}", method, wanted, way));
    if (wanted == kProbabilitiesPart.name && model.task() == Task::classification)
      throw Error(fmt::format("{} gives no probabilities, {}; it gives {}", method,
                              way_to_probabilities(model.method()), join_words(names)));
    throw Error(
        fmt::format("{} gives no {}{}; it gives {}", method, wanted, did_you_mean(wanted, names), join_words(names)));
  }
}

}  // namespace

Prediction AnyModel::predict(const MatrixView& x, const PredictOptions& options) const {
  require_width(model_->method().name(), model_->width(), x.cols());
  if (!options.offset.empty() && static_cast<Index>(options.offset.size()) != x.rows())
    throw Error(
        fmt::format("{}: there are {} offsets for {} rows", model_->method().name(), options.offset.size(), x.rows()));
  check_asked(*model_, options);
  return model_->predict(x, options);
}

}  // namespace lemma
