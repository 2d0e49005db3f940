// lemma/model/toy_methods_test.hpp: the smallest methods that meet the contract, for tests of the house itself.
#pragma once
#include <lemma/model/method.hpp>

namespace lemma {

/// z = factor · x: a transformer.
struct Stretch {
  double factor = 2;

  static constexpr std::string_view name = "stretch";
  static constexpr MethodAbout about{.family = "model",
                                     .task = Task::transformation,
                                     .summary = "multiplies every column",
                                     .objective = "z = factor x",
                                     .example = "lemma fit stretch iris",
                                     .scans = true,
                                     .takes_weights = true,
                                     .uses_response = false};
  static constexpr auto params() {
    return Listing{param("factor", &Stretch::factor, "what columns are multiplied by", above(0), Step::logarithmic)};
  }
};
static_assert(Described<Stretch>);

struct StretchModel : Evidence {
  Stretch spec;
  Index columns = 0;

  static constexpr auto fields() {
    return Listing{result("columns", &StretchModel::columns, "how many columns there are")};
  }
  Index width() const { return columns; }
  void check() const { require(columns > 0, "stretch: there are no columns"); }
  Index output_width() const { return columns; }
  Matrix transform(const MatrixView& x) const { return spec.factor * x; }
  Matrix inverse(const MatrixView& z) const { return z / spec.factor; }
  std::vector<std::string> output_names(const std::vector<std::string>& features) const {
    auto names = features;
    for (auto& each : names) each = "stretched " + each;
    return names;
  }
  AffineMap affine() const { return {Matrix(spec.factor * Matrix::Identity(columns, columns)), Vector::Zero(columns)}; }
  std::string summary(const Names&) const { return "stretched\n"; }
};
inline Certificate certify(const StretchModel&, const Rows&, const Execution&) {
  Certificate out;
  out.strength = Strength::consistent;
  out.message = "nothing was learned";
  return out;
}
inline StretchModel fit(const Valid<Stretch>& spec, const Rows& rows, const FitOptions& options) {
  StretchModel model;
  model.spec = *spec;
  model.columns = rows.width();
  model.certificate = certify(model, rows, options.execution());
  return model;
}

/// The mean of y plus the row sum of x times a slope that is given: a regressor, affine in x.
struct SumOf {
  double slope = 1;

  static constexpr std::string_view name = "sum_of";
  static constexpr MethodAbout about{.family = "model",
                                     .task = Task::regression,
                                     .summary = "a given slope along the row sum",
                                     .objective = "b = mean(y - slope sum(x))",
                                     .example = "lemma fit sum_of iris 'petal_width ~ .'",
                                     .scans = true,
                                     .takes_weights = true};
  static constexpr auto params() { return Listing{param("slope", &SumOf::slope, "of the row sum")}; }
};
static_assert(Described<SumOf>);

struct SumOfModel : Evidence {
  SumOf spec;
  double intercept = 0;
  Index columns = 0;

  static constexpr auto fields() {
    return Listing{result("intercept", &SumOfModel::intercept, "mean of what the slope leaves"),
                   state("columns", &SumOfModel::columns, "how many columns there are")};
  }
  Index width() const { return columns; }
  void check() const { require(columns > 0, "sum_of: there are no columns"); }
  Vector predict(const MatrixView& x) const { return (spec.slope * x.rowwise().sum()).array() + intercept; }
  AffineMap affine() const { return {Matrix::Constant(1, columns, spec.slope), Vector::Constant(1, intercept)}; }
  std::string summary(const Names&) const { return "sum\n"; }
};

/// Σ w (y − slope Σ x) and Σ w.
struct LeftOver {
  double slope = 1, sum = 0, weight = 0;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      sum += w * (block.y[static_cast<std::size_t>(i)] - slope * block.x.row(i).sum());
      weight += w;
    }
  }
  void merge(const LeftOver& other) {
    sum += other.sum;
    weight += other.weight;
  }
};
inline Certificate certify(const SumOfModel& model, const Rows& rows, const Execution& execution) {
  const auto left = scan(rows, LeftOver{model.spec.slope}, execution);
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "distance from the mean";
  out.value = std::abs(left.sum / left.weight - model.intercept);
  out.tolerance = 1e-9;
  out.message = "the intercept is the mean";
  return out;
}
inline SumOfModel fit(const Valid<SumOf>& spec, const Rows& rows, const FitOptions& options) {
  const auto left = scan(rows, LeftOver{spec->slope}, options.execution());
  SumOfModel model;
  model.spec = *spec;
  model.intercept = left.sum / left.weight;
  model.columns = rows.width();
  model.certificate = certify(model, rows, options.execution());
  return model;
}

/// The first rows that come: what is left of the training rows. It says nothing of others.
struct Upto {
  int count = 2;

  static constexpr std::string_view name = "first";
  static constexpr auto params() { return Listing{param("count", &Upto::count, "how many rows", at_least(1))}; }
};
static_assert(Described<Upto>);

/// The place of each row by the sum of its columns, the smallest first: about the training rows alone.
struct Places {
  static constexpr std::string_view name = "places";
  static constexpr MethodAbout about{.family = "model",
                                     .task = Task::embedding,
                                     .summary = "the rows by the sum of their columns",
                                     .objective = "place_i = number of rows with a smaller sum, from 1",
                                     .example = "lemma fit places iris '~ . - species'",
                                     .keeps_rows = true,
                                     .uses_response = false};
  static constexpr auto params() { return Listing{}; }
};
static_assert(Described<Places>);

struct PlacesModel : Evidence {
  Places spec;
  Vector places;
  Vector order;  // rows by their places
  Index columns = 0;

  static constexpr auto fields() {
    using M = PlacesModel;
    return Listing{result("places", &M::places, "of each row", {.across = Axis::row}),
                   result("order", &M::order, "the rows by their places, numbers from 1", kRowNumbers),
                   state("columns", &M::columns, "how many columns there are")};
  }
  static constexpr auto actions() {
    return Listing{action("first", "whether a row is among the first", &PlacesModel::first),
                   action("shorten", "the first rows alone", &PlacesModel::shorten)};
  }
  Index width() const { return columns; }
  void check() const { require(columns > 0 && order.size() <= places.size(), "places: the rows do not fit together"); }
  std::string summary(const Names&) const { return "places\n"; }
  Prediction first(const Valid<Upto>& upto) const {
    Labels among;
    for (const double place : places) among.push_back(place <= upto->count ? 0 : 1);
    Prediction out;
    return out.add(kClusterPart, among).add({"place", "of the row"}, places);
  }
  PlacesModel shorten(const Valid<Upto>& upto) const {
    PlacesModel out = *this;
    out.order = order.head(std::min<Index>(upto->count, order.size()));
    return out;
  }
};
inline Certificate certify(const PlacesModel&, const Rows&, const Execution&) {
  Certificate out;
  out.strength = Strength::none;
  out.message = "a toy";
  return out;
}
inline PlacesModel fit(const Valid<Places>& spec, const Rows& rows, const FitOptions& options) {
  const Vector sums = gather(rows, options.execution()).rowwise().sum();
  PlacesModel model;
  model.spec = *spec;
  model.columns = rows.width();
  model.places.resize(sums.size());
  model.order.resize(sums.size());
  for (Index i = 0; i < sums.size(); ++i) {
    model.places(i) = static_cast<double>((sums.array() < sums(i)).count()) + 1;
    model.order(static_cast<Index>(model.places(i)) - 1) = static_cast<double>(i) + 1;
  }
  model.certificate = certify(model, rows, options.execution());
  return model;
}

/// The middle of each response, whatever the columns: the mean of numbers, the most frequent of classes.
struct Middles {
  static constexpr std::string_view name = "middles";
  static constexpr MethodAbout about{.family = "model",
                                     .task = Task::regression,
                                     .summary = "the mean or the most frequent class of each response",
                                     .objective = "m_k = mean(y_k)",
                                     .example = "lemma fit middles iris 'cbind(petal_width, species) ~ .'",
                                     .scans = true,
                                     .takes_weights = true,
                                     .takes_several = true,
                                     .either_response = true};
  static constexpr auto params() { return Listing{}; }
};
static_assert(Described<Middles>);

struct MiddlesModel : Evidence {
  Middles spec;
  Vector middles;
  Labels classes;  // of each response; 0: numbers
  Index columns = 0;

  static constexpr auto fields() {
    using M = MiddlesModel;
    return Listing{result("middles", &M::middles, "of each response"),
                   state("classes", &M::classes, "how many each response has"),
                   state("columns", &M::columns, "how many columns there are")};
  }
  static constexpr auto parts() { return Listing{part(kValuesPart, &MiddlesModel::values)}; }
  Index width() const { return columns; }
  std::vector<Index> response_classes() const {
    return classes.size() < 2 ? std::vector<Index>{} : std::vector<Index>(classes.begin(), classes.end());
  }
  void check() const {
    require(columns > 0 && middles.size() == static_cast<Index>(classes.size()), "middles: there is not one for each");
  }
  Matrix values(const MatrixView& x) const { return middles.transpose().replicate(x.rows(), 1); }
  std::string summary(const Names& names) const {
    std::string out;
    for (const auto& response : names.responses) out += response + "\n";
    return out;
  }
};

/// Σ w y of each number, Σ w of each class, row by row of the responses.
struct MiddleSums {
  explicit MiddleSums(const std::vector<ResponseColumn>& responses) {
    for (const auto& each : responses)
      sums.push_back(Vector::Zero(std::max<Index>(1, static_cast<Index>(each.classes.size()))));
  }
  std::vector<Vector> sums;
  double weight = 0;
  void accumulate(const Block& block) {
    const auto several = block.several();
    for (Index i = 0; i < block.rows(); ++i) {
      weight += block.weight_of(i);
      for (std::size_t k = 0; k < sums.size(); ++k) {
        const double value = several(i, static_cast<Index>(k));
        if (sums[k].size() == 1) sums[k](0) += block.weight_of(i) * value;
        else sums[k](static_cast<Index>(value)) += block.weight_of(i);
      }
    }
  }
  void merge(const MiddleSums& other) {
    weight += other.weight;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += other.sums[k];
  }
  Vector middles() const {
    Vector out(static_cast<Index>(sums.size()));
    for (std::size_t k = 0; k < sums.size(); ++k) {
      Index most = 0;
      sums[k].maxCoeff(&most);
      out(static_cast<Index>(k)) = sums[k].size() == 1 ? sums[k](0) / weight : static_cast<double>(most);
    }
    return out;
  }
};
inline Certificate certify(const MiddlesModel& model, const Rows& rows, const Execution& execution) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "distance from the middles";
  out.value = (scan(rows, MiddleSums(rows.responses), execution).middles() - model.middles).cwiseAbs().maxCoeff();
  out.tolerance = 1e-9;
  out.message = "the middles are those of the rows";
  return out;
}
inline MiddlesModel fit(const Valid<Middles>& spec, const Rows& rows, const FitOptions& options) {
  require(!rows.responses.empty(), "middles: this toy takes several responses");
  MiddlesModel model;
  model.spec = *spec;
  model.columns = rows.width();
  model.middles = scan(rows, MiddleSums(rows.responses), options.execution()).middles();
  for (const auto& each : rows.responses) model.classes.push_back(static_cast<int>(each.classes.size()));
  model.certificate = certify(model, rows, options.execution());
  return model;
}

}  // namespace lemma
