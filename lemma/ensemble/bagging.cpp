// lemma/ensemble/bagging.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/bagging.hpp>
#include <lemma/ensemble/shared/inside.hpp>
#include <lemma/model/look_again.hpp>
#include <limits>

namespace lemma {
namespace {

using namespace ensemble;

constexpr int kDrawings = 100;  // of a bag, until it has rows of every class

AnySpec usual_base() { return parse_method("tree(cp=0, folds=0)").completed(); }

/// The rows of each bag: a function of the rows, the seed and the spec alone.
class Bags {
 public:
  Bags(const Bagging& spec, std::string_view seed, const std::vector<Index>& order, const Vector& weight,
       std::span<const int> label, Index classes)
      : spec_(spec),
        seed_(seed_of_text(Bagging::name, std::string(seed))),
        urn_(order, weight),
        label_(label),
        classes_(classes) {}

  std::vector<Index> rows(Index b) const {
    const RandomStream own = RandomStream(seed_, 0).split(static_cast<std::uint64_t>(b));
    const auto size = std::max<Index>(1, std::llround(*spec_.share * static_cast<double>(urn_.copies())));
    for (int attempt = 0; attempt < kDrawings; ++attempt) {
      const RandomStream stream = own.split(static_cast<std::uint64_t>(attempt));
      auto drawn = spec_.replace ? urn_.with_replacement(size, stream) : urn_.without(Bagging::name, size, stream);
      if (has_all_classes(drawn)) return drawn;
    }
    throw Error(fmt::format("bagging: a class has so few rows that none of {} bags of {} held one", kDrawings, size));
  }

 private:
  bool has_all_classes(const std::vector<Index>& drawn) const {
    std::vector<bool> seen(at(classes_), false);
    for (const Index i : drawn)
      if (classes_ > 0) seen[at(label_[at(i)])] = true;
    return std::all_of(seen.begin(), seen.end(), [](bool each) { return each; });
  }
  const Bagging& spec_;
  std::uint64_t seed_;
  Urn urn_;
  std::span<const int> label_;
  Index classes_;
};

Bags bags_of(const BaggingModel& model, const TrainingRows& rows) {
  return {model.spec, model.seed, own_order(rows), rows.weight, rows.label, rows.classes()};
}

/// What one model adds to the sum: a column for each class, or one of numbers.
Matrix addend(const BaggingModel& model, Index b, const MatrixView& x, const Execution& execution = {}) {
  const AnyModel& one = model.models[at(b)];
  if (model.classes == 0) return said(one, x, kValuePart.name, execution).value();
  if (*model.spec.vote == BaggingVote::probability)
    return said(one, x, kProbabilitiesPart.name, execution).probabilities();
  const Labels label = said(one, x, kClassPart.name, execution).label();
  Matrix out = Matrix::Zero(x.rows(), model.classes);
  for (Index i = 0; i < x.rows(); ++i) out(i, label[at(i)]) = 1;
  return out;
}

Matrix mean_of(const BaggingModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  Matrix sum = Matrix::Zero(x.rows(), std::max<Index>(1, model.classes));
  for (Index b = 0; b < std::ssize(model.models); ++b) sum += addend(model, b, x);
  return sum / static_cast<double>(model.models.size());
}

Index greatest(const Matrix& of, Index row) {
  Index best;
  of.row(row).maxCoeff(&best);
  return best;
}

/// Which rows are in bag b.
std::vector<bool> inside_of(const Bags& bags, Index b, Index rows) {
  std::vector<bool> in(at(rows), false);
  for (const Index i : bags.rows(b)) in[at(i)] = true;
  return in;
}

struct OutOfBag {
  Matrix sum;    // of those that have not seen the row
  Vector times;  // how many they are
};
OutOfBag out_of_bag(const BaggingModel& model, const Bags& bags, const MatrixView& x, const Execution& execution) {
  OutOfBag out{Matrix::Zero(x.rows(), std::max<Index>(1, model.classes)), Vector::Zero(x.rows())};
  for (Index b = 0; b < std::ssize(model.models); ++b) {
    if (execution.cancelled()) throw Cancelled();
    const auto in = inside_of(bags, b, x.rows());
    const Matrix one = addend(model, b, x, execution);
    for (Index i = 0; i < x.rows(); ++i)
      if (!in[at(i)]) {
        out.sum.row(i) += one.row(i);
        ++out.times(i);
      }
  }
  return out;
}

double loss(const TrainingRows& rows, Index i, const Matrix& sum, double times) {
  if (rows.of_classes()) return greatest(sum, i) == rows.label[at(i)] ? 0 : 1;
  const double off = sum(i, 0) / times - rows.y(i);
  return off * off;
}

struct Outside {
  std::optional<double> mean;
  double outside = 0;
};
Outside error_of(const TrainingRows& rows, const OutOfBag& said) {
  double sum = 0, weight = 0;
  for (const Index i : rows.counting)
    if (said.times(i) > 0) {
      sum += rows.weight(i) * loss(rows, i, said.sum, said.times(i));
      weight += rows.weight(i);
    }
  Outside out;
  if (weight > 0) out.mean = sum / weight;
  out.outside = weight / rows.mass;
  return out;
}

/// The same by another route: each row is asked about by itself, of those models whose bag does not hold it.
Outside error_row_by_row(const BaggingModel& model, const Bags& bags, const TrainingRows& rows,
                         const Execution& execution) {
  std::vector<std::vector<bool>> in;
  for (Index b = 0; b < std::ssize(model.models); ++b) in.push_back(inside_of(bags, b, rows.count()));
  constexpr Index kTogether = 256;
  const Index pieces = (std::ssize(rows.counting) + kTogether - 1) / kTogether;
  std::vector<std::array<double, 2>> parts(at(pieces), {0, 0});
  parallel_for(pieces, execution, [&](Index piece) {
    for (Index p = piece * kTogether; p < std::min<Index>(std::ssize(rows.counting), (piece + 1) * kTogether); ++p) {
      const Index i = rows.counting[at(p)];
      Matrix sum = Matrix::Zero(1, std::max<Index>(1, model.classes));
      double times = 0;
      for (Index b = 0; b < std::ssize(model.models); ++b)
        if (!in[at(b)][at(i)]) {
          sum += addend(model, b, rows.x.middleRows(i, 1));
          ++times;
        }
      if (times == 0) continue;
      const double off = rows.of_classes() ? (greatest(sum, 0) == rows.label[at(i)] ? 0 : 1)
                                           : std::pow(sum(0, 0) / times - rows.y(i), 2);
      parts[at(piece)][0] += rows.weight(i) * off;
      parts[at(piece)][1] += rows.weight(i);
    }
  });
  double sum = 0, weight = 0;
  for (const auto& each : parts) {
    sum += each[0];
    weight += each[1];
  }
  Outside out;
  if (weight > 0) out.mean = sum / weight;
  out.outside = weight / rows.mass;
  return out;
}

Certificate certify_bags(const BaggingModel& model, const Rows& source, bool look, const Execution& execution) {
  const TrainingRows rows(Bagging::name, source, execution);
  const Bags bags = bags_of(model, rows);
  const auto look_at = [&](std::size_t b) {
    if (!look) return model.models[b]->certificate();
    return look_again(model.models[b], *model.spec.base, ChosenRows(rows, bags.rows(static_cast<Index>(b))),
                      execution.part(0, 0));
  };
  std::string failure = first_failure(model.models, look_at, execution);
  if (rows.count() != model.rows)
    failure = fmt::format("it was fitted to {} rows, and there are {}", model.rows, rows.count());
  if (std::ssize(model.models) != model.spec.rounds)
    failure = fmt::format("it has {} models, not {}", model.models.size(), model.spec.rounds);
  double apart = 1;
  if (failure.empty()) {
    const Outside found = error_row_by_row(model, bags, rows, execution);
    apart = std::abs(found.outside - model.outside);
    if (found.mean.has_value() != model.oob_error.has_value()) apart = 1;
    else if (found.mean)
      apart = std::max(apart, std::abs(*found.mean - *model.oob_error) / std::max(*found.mean, 1e-300));
    if (found.mean && *found.mean == 0 && *model.oob_error == 0) apart = std::abs(found.outside - model.outside);
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "bags drawn again";
  out.value = std::isnan(apart) ? 1 : apart;
  out.tolerance = 1e-9;
  out.iterations = std::ssize(model.models);
  out.stopped = "all rounds";
  if (!failure.empty()) out.message = fmt::format("The models are not those of these bags: {}.", failure);
  else
    out.message = fmt::format(
        "Each of {} holds for its bag, drawn again; {} {:.1e} from what is told (allowed {:.0e}).",
        count_of(std::ssize(model.models), "model"),
        model.oob_error ? "the error out of the bag, row by row, is" : "no row is outside;", out.value, out.tolerance);
  return out;
}

}  // namespace

void Bagging::check() const {
  require(replace || share.value_or(0.632) < 1,
          "bagging: without replacement share must be below 1, or all bags are alike");
  if (!base) return;
  const MethodAbout& inside = base->method().about();
  require(inside.uses_response && (inside.task == Task::classification || inside.task == Task::regression),
          fmt::format("bagging: base is {}, which predicts neither classes nor numbers", base->text()));
}

Needs Bagging::needs(Needs usual) const {
  const AnySpec inside = base ? *base : usual_base();
  const Needs own = inside.method().needs(inside.params());
  usual.classes = own.classes;
  usual.numbers = own.numbers;
  return needs_inside(inside, usual);
}

void BaggingModel::check() const {
  require(spec.base && spec.share && spec.vote, "bagging: a parameter was not chosen");
  require(!models.empty() && features >= 1 && classes >= 0 && classes != 1 && rows >= 1,
          "bagging: there are no models");
  require(outside >= 0 && outside <= 1 + 1e-12 && (!oob_error || (*oob_error >= 0 && std::isfinite(*oob_error))),
          "bagging: the error out of the bag is not usable");
  for (const AnyModel& each : models) {
    require_fits(Bagging::name, each, features, classes);
    require(classes == 0 || *spec.vote == BaggingVote::vote || gives(each, kProbabilitiesPart.name),
            "bagging: a model has no probabilities");
  }
  seed_of_text(Bagging::name, seed);
}

Vector BaggingModel::predict(const MatrixView& x) const {
  require(classes == 0, "bagging: it was fitted to classes; ask it to classify");
  return mean_of(*this, x).col(0);
}

Labels BaggingModel::classify(const MatrixView& x) const { return likeliest(probabilities(x)); }

Matrix BaggingModel::probabilities(const MatrixView& x) const {
  require(classes > 0, "bagging: it was fitted to numbers; ask it to predict");
  return mean_of(*this, x);
}

std::vector<NamedColumn> BaggingModel::diagnostics(const Block& block) const {
  require(block.rows() == rows,
          fmt::format("bagging: rows out of the bag are known of all {} rows of the fit together, "
                      "and {} are given",
                      rows, block.rows()));
  Vector weight(rows);
  std::vector<Index> counting;
  for (Index i = 0; i < rows; ++i) {
    weight(i) = block.weight_of(i);
    if (!(weight(i) > 0)) continue;
    const bool known = classes == 0 ? !block.y.empty() : !block.label.empty() && block.label[at(i)] >= 0;
    require(known,
            fmt::format("bagging: row {} has no response that the model knows, so that the bags of the fit cannot "
                        "be drawn again",
                        i + 1));
    counting.push_back(i);
  }
  require(!counting.empty(), "bagging: no row has a weight, so that the bags of the fit cannot be drawn again");
  const Bags bags(spec, seed, own_order(block.x, block.label, block.y, counting), weight, block.label, classes);
  OutOfBag found = out_of_bag(*this, bags, block.x, {});
  std::vector<NamedColumn> out;
  for (Index k = 0; k < found.sum.cols(); ++k) {
    Vector mean(rows);
    for (Index i = 0; i < rows; ++i)
      mean(i) = found.times(i) > 0 ? found.sum(i, k) / found.times(i) : std::numeric_limits<double>::quiet_NaN();
    out.push_back({classes > 0 ? fmt::format("oob_{}", k + 1) : "oob", mean});
  }
  out.push_back({"oob_models", found.times});
  return out;
}

std::string BaggingModel::summary(const Names&) const {
  std::string out =
      fmt::format("{} of {} on bags of {:g} of the rows, drawn {} replacement\n", count_of(std::ssize(models), "model"),
                  spec.base->text(), *spec.share, spec.replace ? "with" : "without");
  if (classes > 0)
    out += *spec.vote == BaggingVote::vote ? "Each has one vote.\n" : "Their probabilities are averaged.\n";
  if (oob_error)
    out += fmt::format("{} out of the bag: {}\n", classes > 0 ? "Share of wrong classes" : "Mean squared error",
                       format_significant(*oob_error, 4));
  else out += "No row is out of a bag.\n";
  return out;
}

BaggingModel fit(const Valid<Bagging>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const TrainingRows data(Bagging::name, rows, execution);
  BaggingModel model;
  model.spec = *spec;
  if (!model.spec.base) model.spec.base = usual_base();
  if (!model.spec.share) model.spec.share = spec->replace ? 1.0 : 0.632;
  model.features = rows.width();
  model.classes = data.classes();
  model.rows = data.count();
  model.seed = text_of_seed(options.seed);
  const Bags bags = bags_of(model, data);
  Quietly quiet(options.progress);
  model.models.resize(at(spec->rounds));
  std::vector<char> whole(at(spec->rounds), 0);
  const auto fit_bag = [&](Index b) {
    const ChosenRows bag(data, bags.rows(b));
    try {
      model.models[at(b)] = model.spec.base->fit(bag, options_inside(options, quiet, static_cast<std::uint64_t>(b)));
    } catch (const Error& error) { throw Error(fmt::format("bagging: bag {}: {}", b + 1, error.what())); }
    require_fits(Bagging::name, model.models[at(b)], model.features, model.classes);
    if (quiet.cancelled()) throw Cancelled();  // it may have ended early
    whole[at(b)] = 1;
  };
  try {
    parallel_for(spec->rounds, execution.part(0, 0.8, "fitting bags"), fit_bag);
  } catch (const Cancelled&) {  // the first bags, as far as each has its model
    const auto done = std::find(whole.begin(), whole.end(), 0) - whole.begin();
    if (done == 0) throw;
    model.models.resize(static_cast<std::size_t>(done));
    model.spec.rounds = static_cast<int>(done);
  }
  const bool cut = model.spec.rounds < spec->rounds;
  const Execution rest = cut ? unheard(execution) : execution;
  const Hearing to_the_end(rest);
  if (!model.spec.vote) {
    const bool all = std::all_of(model.models.begin(), model.models.end(),
                                 [](const AnyModel& each) { return gives(each, kProbabilitiesPart.name); });
    model.spec.vote = model.classes > 0 && !all ? BaggingVote::vote : BaggingVote::probability;
  }
  if (model.classes > 0 && *model.spec.vote == BaggingVote::probability)
    require(gives(model.models.front(), kProbabilitiesPart.name),
            fmt::format("bagging: {} has no probabilities; use --vote vote", model.spec.base->text()));
  const Outside error = error_of(data, out_of_bag(model, bags, data.x, rest.part(0, 0)));
  model.oob_error = error.mean;
  model.outside = error.outside;
  if (cut) model.certificate = cut_short(model.spec.rounds, spec->rounds, "rounds");
  else model.certificate = certify_bags(model, rows, false, execution.part(0.9, 1, "certificate"));
  return model;
}

Certificate certify(const BaggingModel& model, const Rows& rows, const Execution& execution) {
  return certify_bags(model, rows, true, execution);
}

template const Method& method_of<Bagging>();

}  // namespace lemma
