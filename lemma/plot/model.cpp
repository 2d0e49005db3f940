// lemma/plot/model.cpp: which pictures a model has.
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/kde.hpp>
#include <lemma/neural/cnn.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/tree/tree.hpp>

namespace lemma::plot {
namespace {

bool gives(const TrainedModel& trained, std::string_view part) {
  const auto parts = trained.model->parts();
  return std::ranges::any_of(parts, [&](const PartInfo& each) { return each.name == part; });
}
bool has_any(const TrainedModel& trained, std::initializer_list<std::string_view> results) {
  return std::ranges::any_of(results, [&](std::string_view name) { return vector_of(trained, name).has_value(); });
}
bool has_path(const TrainedModel& trained) {
  const auto lambda = vector_of(trained, "lambda");
  const auto b = matrix_of(trained, "coefficients");
  return lambda && lambda->size() > 1 && b && b->rows() == lambda->size();
}
/// So many columns of the table, all numbers, are all that the model looks at.
bool looks_at(const TrainedModel& trained, std::size_t columns) {
  return trained.design.columns().size() == columns && trained.design.features().size() >= columns &&
         trained.design.has_response();
}
bool predicts(const TrainedModel& trained, Task task) { return trained.model->task() == task; }
bool tells_two(const TrainedModel& trained) {
  return predicts(trained, Task::classification) && trained.model->class_count() == 2 &&
         (gives(trained, "probabilities") || gives(trained, "decision"));
}
/// Parameters have densities, given the rows.
bool believes(std::string_view method) {
  constexpr std::array<std::string_view, 5> kThese{"bayes_linear", "bayes_logistic", "conjugate", "gaussian_wishart",
                                                   "mcmc"};
  return std::ranges::find(kThese, method) != kThese.end();
}
bool has_coordinates(const TrainedModel& trained) {
  return gives(trained, "coordinates") && trained.model->output_width() >= 2;
}

/// What a method declares.
class Declared {
 public:
  explicit Declared(const Method& method) : method_(method), parts_(method.parts()), results_(method.results()) {}
  const Method& method() const { return method_; }
  bool is(std::string_view name) const { return method_.name() == name; }
  bool part(std::string_view name) const {
    return std::ranges::any_of(parts_, [&](const PartInfo& each) { return each.name == name; });
  }
  bool result(std::string_view name) const {
    return std::ranges::any_of(
        results_, [&](const FieldInfo& each) { return each.name == name && each.shown == lemma::Shown::result; });
  }
  bool task(Task task) const {
    const MethodAbout& about = method_.about();
    const bool supervised = task == Task::regression || task == Task::classification;
    return about.task == task || (supervised && about.either_response);
  }
  bool numbers() const { return task(Task::regression) && part("value"); }
  bool two_classes() const { return task(Task::classification) && (part("probabilities") || part("decision")); }
  bool clusters() const { return task(Task::clustering) && (part("cluster") || result("labels")); }

 private:
  const Method& method_;
  std::vector<PartInfo> parts_;
  std::vector<FieldInfo> results_;
};

struct Kind {
  ModelPicture told;
  bool (*may)(const Declared&);      // of a method: some of its models have it
  bool (*has)(const TrainedModel&);  // of a model
  Figure (*draw)(const Shown&);
  bool coloured = false;  // --color says by what
};
bool has_filters(const TrainedModel& m) {
  const CnnModel* model = model_cast<CnnModel>(m.model);
  return model && model->filters.rows() > 0;
}

constexpr std::array kKinds = {
    Kind{{"fit", "the curve along the only column, with its band where there is one, and the rows", true},
         [](const Declared& d) { return d.numbers() && !d.is("factorise"); },  // who and what: two columns
         [](const TrainedModel& m) { return predicts(m, Task::regression) && gives(m, "value") && looks_at(m, 1); },
         fitted_curve},
    Kind{{"regions", "which class is predicted where, of two columns, and the rows", true},
         [](const Declared& d) { return d.task(Task::classification) && d.part("class"); },
         [](const TrainedModel& m) { return predicts(m, Task::classification) && gives(m, "class") && looks_at(m, 2); },
         regions},
    Kind{{"residuals", "residuals against fitted values, their quantiles, spread and leverage: R's plot.lm", true},
         [](const Declared& d) { return d.numbers(); },
         [](const TrainedModel& m) { return predicts(m, Task::regression) && gives(m, "value"); },
         residuals},
    Kind{{"biplot", "rows as points and columns as arrows (--alpha)", true},
         [](const Declared& d) { return d.part("coordinates") && d.result("loadings") && d.result("sdev"); },
         [](const TrainedModel& m) {
           return has_coordinates(m) && matrix_of(m, "loadings").has_value() && has_any(m, {"sdev"});
         },
         biplot,
         true},
    Kind{{"scores", "rows in the first two coordinates, by class", true},
         [](const Declared& d) { return d.part("coordinates"); },
         has_coordinates,
         scores,
         true},
    Kind{{"roc", "true positives against false ones, at every threshold", true},
         [](const Declared& d) { return d.two_classes(); },
         tells_two,
         roc},
    Kind{{"precision_recall", "precision against recall, at every threshold", true},
         [](const Declared& d) { return d.two_classes(); },
         tells_two,
         precision_recall},
    Kind{{"lift", "positives found against rows taken", true},
         [](const Declared& d) { return d.two_classes(); },
         tells_two,
         lift},
    Kind{{"calibration", "how often it is so against how probable it was said to be", true},
         [](const Declared& d) { return d.two_classes() && d.part("probabilities"); },
         [](const TrainedModel& m) { return tells_two(m) && gives(m, "probabilities"); },
         calibration_curve},
    Kind{{"confusion", "true classes against predicted ones", true},
         [](const Declared& d) { return d.task(Task::classification) && d.part("class"); },
         [](const TrainedModel& m) { return predicts(m, Task::classification) && gives(m, "class"); },
         confusion_table},
    Kind{{"draws", "functions drawn from the posterior along the only column, and the rows", true},
         [](const Declared& d) { return d.numbers() && d.part("samples"); },
         [](const TrainedModel& m) { return predicts(m, Task::regression) && looks_at(m, 1) && gives(m, "samples"); },
         drawn_functions},
    Kind{{"variates", "the first pairs of canonical variates, of the columns and of the responses", true},
         [](const Declared& d) { return d.result("response_coefficients"); },
         [](const TrainedModel& m) {
           return matrix_of(m, "response_coefficients") && m.model->method().name() == "cca";
         },
         variates,
         true},
    Kind{{"sources", "each source along the rows", true},
         [](const Declared& d) { return d.part("coordinates") && d.result("mixing"); },
         [](const TrainedModel& m) { return gives(m, "coordinates") && matrix_of(m, "mixing"); },
         sources},
    Kind{{"prototypes", "the prototypes over pairs of columns, and the rows", true},
         [](const Declared& d) { return d.result("prototypes"); },
         [](const TrainedModel& m) { return m.model->method().name() == "prototypes" && m.model->width() >= 2; },
         prototypes},
    Kind{{"ellipses", "the components of a mixture over pairs of columns, and the rows", true},
         [](const Declared& d) { return d.is("gmm"); },
         [](const TrainedModel& m) { return has_ellipses(m); },
         ellipses},
    Kind{{"clusters", "every pair of columns, coloured by cluster", true},
         [](const Declared& d) { return d.clusters(); },
         has_clusters,
         clusters},
    Kind{{"silhouettes", "how much nearer each row is to its own cluster than to the next", true},
         [](const Declared& d) { return d.clusters(); },
         has_clusters,
         silhouette_bars},
    Kind{{"knee", "the scatter within clusters by their number, each fitted to the rows", true},
         [](const Declared& d) { return d.is("kmeans"); },
         [](const TrainedModel& m) { return m.model->method().name() == "kmeans"; },
         knee},
    Kind{{"density", "the density along one column, or its contours over two, and the rows", true},
         [](const Declared& d) { return d.part("log_density"); },
         [](const TrainedModel& m) {
           return gives(m, "log_density") && m.design.columns().size() <= 2 &&
                  m.design.features().size() == m.design.columns().size();
         },
         density_contours},
    Kind{{"effects", "partial dependence and accumulated local effects of each column", true},
         [](const Declared& d) { return d.numbers() || d.part("probabilities"); },
         [](const TrainedModel& m) {
           return (predicts(m, Task::regression) && gives(m, "value")) || gives(m, "probabilities");
         },
         effects},
    Kind{{"tree", "the nodes, what they ask, and the classes or means in them", false},
         [](const Declared& d) { return d.is("tree"); },
         [](const TrainedModel& m) { return model_cast<TreeModel>(m.model) != nullptr; },
         tree_nodes},
    Kind{{"cp", "cross-validated errors of the nested trees: rpart's plotcp", false},
         [](const Declared& d) { return d.result("cp_table"); },
         [](const TrainedModel& m) { return matrix_of(m, "cp_table").has_value(); },
         cp_curve},
    Kind{{"dendrogram", "the merges of a hierarchy, and where it is cut", false},
         [](const Declared& d) { return d.result("merges") && d.result("heights"); },
         [](const TrainedModel& m) { return matrix_of(m, "merges").has_value() && has_any(m, {"heights"}); },
         dendrogram},
    Kind{{"sweep", "conductance and sparsity of the cuts along the Fiedler vector", false},
         [](const Declared& d) { return d.result("sweep") && d.result("cheeger"); },
         [](const TrainedModel& m) { return matrix_of(m, "sweep").has_value() && has_any(m, {"cheeger"}); },
         sweep_cut},
    Kind{{"filters", "what the first convolution of a network looks for", false},
         [](const Declared& d) { return d.is("cnn"); },
         has_filters,
         filters},
    Kind{{"activations", "what the layers of a convolutional network make of the first row", true},
         [](const Declared& d) { return d.is("cnn"); },
         has_filters,
         activations},
    Kind{{"bandwidths", "the density along the only column with narrower and wider kernels", false},
         [](const Declared& d) { return d.is("kde"); },
         [](const TrainedModel& m) {
           const KdeModel* model = model_cast<KdeModel>(m.model);
           return model && model->width() == 1;
         },
         bandwidths},
    Kind{{"map", "where things lie", false},
         [](const Declared& d) { return d.task(Task::embedding) && d.result("coordinates"); },
         [](const TrainedModel& m) {
           const auto places = matrix_of(m, "coordinates");
           return predicts(m, Task::embedding) && places && places->cols() >= 2;
         },
         map,
         true},
    Kind{{"factors", "the first two factors of each thing", false},
         [](const Declared& d) { return d.is("factorise"); },
         has_factors,
         factors},
    Kind{{"shepard", "distances on the map against the dissimilarities", false},
         [](const Declared& d) { return d.result("shepard"); },
         [](const TrainedModel& m) { return matrix_of(m, "shepard").has_value(); },
         shepard},
    Kind{{"scree", "what each axis or component explains", false},
         [](const Declared& d) { return d.result("sdev") || d.result("eigenvalues") || d.result("svd"); },
         [](const TrainedModel& m) {
           return has_any(m, {"sdev", "eigenvalues", "svd"});
         },
         scree},
    Kind{{"loadings", "how the columns make up each component, as colours; as pictures where they are pixels", false},
         [](const Declared& d) { return declares_loadings(d.method()); },
         has_loadings,
         loadings},
    Kind{{"weights", "the weights of the first layer of a network; as pictures where the columns are pixels", false},
         [](const Declared& d) { return d.is("mlp"); },
         [](const TrainedModel& m) {
           return m.model->method().name() == "mlp" &&
                  m.model->width() == static_cast<Index>(m.design.features().size());
         },
         unit_weights},
    Kind{{"path", "coefficients over the logarithm of lambda", false},
         [](const Declared& d) { return d.result("lambda") && d.result("coefficients"); },
         has_path,
         path},
    Kind{{"importance", "of each column", false},
         [](const Declared& d) { return d.result("importance"); },
         [](const TrainedModel& m) { return has_any(m, {"importance"}); },
         importance},
    Kind{{"coefficients", "with their intervals where there are some", false},
         [](const Declared& d) { return d.result("coefficients"); },
         [](const TrainedModel& m) {
           const auto several = matrix_of(m, "coefficients");
           const bool fit = several && several->cols() == static_cast<Index>(m.design.features().size());
           return (has_any(m, {"coefficients"}) || fit) && !has_path(m);
         },
         coefficients},
    Kind{{"posterior", "the density of each parameter, given the rows", false},
         [](const Declared& d) { return believes(d.method().name()); },
         [](const TrainedModel& m) {  // of coefficients: one for each column, each with its deviation
           const std::string method = m.model->method().name();
           const bool linear = method == "bayes_linear" || method == "bayes_logistic";
           return believes(method) && (!linear || has_any(m, {"std_errors"}));
         },
         posterior},
    Kind{{"traces", "the draws of each chain, one after the other", false},
         [](const Declared& d) { return d.is("mcmc"); },
         [](const TrainedModel& m) { return m.model->method().name() == "mcmc"; },
         traces},
    Kind{{"convergence", "the error or objective by trees, rounds or iterations", false},
         [](const Declared& d) {
           const auto names = convergence_results(d.method());
           return std::ranges::any_of(names, [&](std::string_view name) { return d.result(name); });
         },
         [](const TrainedModel& m) {
           const auto names = convergence_results(last_method(m));
           return std::ranges::any_of(names, [&](std::string_view name) { return vector_of(m, name).has_value(); });
         },
         convergence},
    Kind{{"tuning", "the scores of all that was tried, of a model that 'lemma tune' chose", false},
         [](const Declared&) { return true; },
         [](const TrainedModel& m) { return !m.choice.is_null() && m.choice.find("tries"); },
         tuning}};

}  // namespace

std::optional<Vector> vector_of(const TrainedModel& trained, std::string_view name) {
  const Value results = trained.results();
  const Value* found = results.find(std::string(name));
  if (!found || !found->is_array() || found->as_array().shape.size() != 1) return {};
  const Vector out = found->as_vector(name);
  if (out.size() == 0) return {};
  return out;
}

std::optional<Matrix> matrix_of(const TrainedModel& trained, std::string_view name) {
  const Value results = trained.results();
  const Value* found = results.find(std::string(name));
  if (!found || !found->is_array() || found->as_array().shape.size() != 2) return {};
  const Matrix out = found->as_matrix(name);
  if (out.size() == 0) return {};
  return out;
}

const Method& last_method(const TrainedModel& trained) {
  const auto steps = steps_of(trained.model);
  return steps.empty() ? trained.model->method() : steps.back()->method();
}

std::vector<double> list_of(const Vector& values) { return {values.begin(), values.end()}; }

std::span<const ModelPicture> model_kinds() {
  static const auto told = [] {
    std::array<ModelPicture, kKinds.size()> out;
    std::transform(kKinds.begin(), kKinds.end(), out.begin(), [](const Kind& kind) { return kind.told; });
    return out;
  }();
  return told;
}

std::vector<ModelPicture> pictures_of(const Method& method) {
  const Declared declared(method);
  std::vector<ModelPicture> out;
  for (const Kind& kind : kKinds)
    if (kind.may(declared)) out.push_back(kind.told);
  return out;
}

std::vector<ModelPicture> pictures_of(const TrainedModel& trained) {
  std::vector<ModelPicture> out;
  for (const Kind& kind : kKinds)
    if (kind.has(trained)) out.push_back(kind.told);
  return out;
}

Figure draw(std::string_view kind, const TrainedModel& trained, const Table* rows, const PlotOptions& options) {
  std::vector<std::string> names;
  for (const ModelPicture& each : pictures_of(trained)) names.emplace_back(each.name);
  const auto found = std::ranges::find_if(kKinds, [&](const Kind& each) { return each.told.name == kind; });
  const std::string method = trained.model->method().name();
  if (found == kKinds.end() || !found->has(trained))
    throw Error(names.empty() ? fmt::format("there is no picture of this {}", method)
                              : fmt::format("this {} has no picture '{}'{}; it has {}", method, kind,
                                            did_you_mean(kind, names), join_words(names, 20)));
  require(rows || !found->told.of_rows, fmt::format("the picture '{}' shows what is said of rows: which DATA?", kind));
  require(!rows || rows->rows() > 0, "there are no rows to draw");
  require(options.facet.empty(), "--facet goes with pictures of data, not with those of a model");
  require(options.colour.empty() || found->coloured, fmt::format("--color does not go with the picture '{}'", kind));
  Figure out = found->draw({trained, rows, options});
  if (out.title.empty())
    out.title = method + (trained.design.formula_text().empty() ? "" : ": " + trained.design.formula_text());
  make_logarithmic(out, options);
  return dressed(std::move(out), options);
}

Figure overlaid(std::string_view kind, std::span<const NamedFigure> figures) {
  require(!figures.empty(), "there is no picture to lay over others");
  require(kind == "roc" || kind == "precision_recall" || kind == "lift",
          fmt::format("curves of several models are roc, precision_recall and lift, not {}", kind));
  Figure out = figures[0].figure;
  Panel& panel = out.panels[0];
  std::erase_if(panel.marks, [](const Mark& mark) {  // the diagonal stays
    const auto* line = std::get_if<Line>(&mark);
    return !line || !line->dashed;
  });
  out.description.clear();
  for (std::size_t k = 0; k < figures.size(); ++k) {
    for (const Mark& mark : figures[k].figure.panels.at(0).marks)
      if (const auto* line = std::get_if<Line>(&mark); line && !line->dashed) {
        Line curve = *line;
        curve.paint = series(static_cast<int>(k)), curve.tooltip = figures[k].name;
        panel.marks.emplace_back(std::move(curve));
      }
    out.legend.entries.push_back({figures[k].name, series(static_cast<int>(k)), LegendEntry::Key::line});
    out.description += (k > 0 ? " " : "") + figures[k].name + ": " + figures[k].figure.description;
  }
  out.width = 720;
  return out;
}

}  // namespace lemma::plot
