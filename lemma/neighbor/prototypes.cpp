// lemma/neighbor/prototypes.cpp: the fit, what prototypes say of rows, and the certificate.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/bound_metric.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/neighbor/prototypes/make.hpp>

namespace lemma {
namespace prototypes {
namespace {

Vector numbers(const Labels& labels) {
  Vector out(std::ssize(labels));
  for (Index i = 0; i < out.size(); ++i) out(i) = labels[at(i)];
  return out;
}
Labels labels_of(const PrototypesModel& model) {
  Labels out;
  for (const double each : model.classes) out.push_back(static_cast<int>(each));
  return out;
}

double plain(const Matrix& a, Index i, const Matrix& b, Index j) {
  double sum = 0;
  for (Index c = 0; c < a.cols(); ++c) sum += (a(i, c) - b(j, c)) * (a(i, c) - b(j, c));
  return sum;
}

/// What is wrong with prototypes that should be rows: how many of them, or of the rows.
struct Wrong {
  double value = 0;
  std::string about;
  void add(const std::string& what) {
    if (value++ == 0) about = what;
  }
};

Wrong wrong_condensed(const PrototypesModel& m, const Data& data) {
  const Labels label = labels_of(m);
  Wrong out;
  std::vector<bool> begun(at(data.classes), false);
  for (Index k = 0; k < m.prototypes.rows(); ++k) {
    bool is_row = false;
    for (Index i = 0; i < data.rows() && !is_row; ++i)
      is_row = data.label[at(i)] == label[at(k)] && data.x.row(i) == m.prototypes.row(k);
    if (!is_row) out.add(fmt::format("prototype {} is no row of its class", k + 1));
    Index nearest = -1;
    for (Index l = 0; l < k; ++l)
      if (nearest < 0 || plain(m.prototypes, k, m.prototypes, l) < plain(m.prototypes, k, m.prototypes, nearest))
        nearest = l;
    const bool needed = !begun[at(label[at(k)])] || label[at(nearest)] != label[at(k)];
    if (!needed) out.add(fmt::format("prototype {} is got right by those before it", k + 1));
    begun[at(label[at(k)])] = true;
  }
  for (Index i = 0; i < data.rows(); ++i) {
    ask();
    Index nearest = 0;
    for (Index k = 1; k < m.prototypes.rows(); ++k)
      if (plain(data.x, i, m.prototypes, k) < plain(data.x, i, m.prototypes, nearest)) nearest = k;
    if (label[at(nearest)] == data.label[at(i)]) continue;
    bool torn = false;  // of equal rows of several classes one class alone can be right
    for (Index j = 0; j < data.rows() && !torn; ++j)
      torn = data.label[at(j)] != data.label[at(i)] && data.x.row(j) == data.x.row(i);
    if (!torn) out.add("a row is nearer to a prototype of another class");
  }
  return out;
}

Wrong wrong_edited(const PrototypesModel& m, const Data& data) {
  const BoundMetric metric(Metric{}, data.x.cols());
  const Matrix mapped = metric.mapped(data.x, {});
  const Labels label = labels_of(m);
  Wrong out;
  Index next = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    ask();
    std::vector<std::pair<double, Index>> all;
    for (Index j = 0; j < data.rows(); ++j)
      if (j != i) all.emplace_back(metric.between(&mapped(i, 0), &mapped(j, 0)), j);
    const std::ptrdiff_t k = std::min<std::ptrdiff_t>(m.spec.k, std::ssize(all));
    std::partial_sort(all.begin(), all.begin() + k, all.end());
    std::vector<int> votes(at(data.classes), 0);
    for (std::ptrdiff_t j = 0; j < k; ++j) ++votes[at(data.label[at(all[at(j)].second)])];
    if (votes[at(data.label[at(i)])] < *std::max_element(votes.begin(), votes.end())) continue;
    const bool found =
        next < m.prototypes.rows() && label[at(next)] == data.label[at(i)] && m.prototypes.row(next) == data.x.row(i);
    if (!found) out.add(fmt::format("prototype {} is not the next row that is not outvoted", next + 1));
    ++next;
  }
  if (next != m.prototypes.rows()) out.add("there are not as many prototypes as rows that are not outvoted");
  return out;
}

/// How far centres are from the means of the rows of their class that are nearest to them, in the spread of the rows.
double centre_movement(const Matrix& points, const Labels& label, const Data& data) {
  Matrix sum = Matrix::Zero(points.rows(), points.cols());
  Vector count = Vector::Zero(points.rows());
  const Vector mean = data.x.colwise().mean();
  const double spread =
      std::sqrt((data.x.rowwise() - mean.transpose()).squaredNorm() / static_cast<double>(data.rows()));
  for (Index i = 0; i < data.rows(); ++i) {
    Index nearest = -1;
    for (Index k = 0; k < points.rows(); ++k)
      if (label[at(k)] == data.label[at(i)] &&
          (nearest < 0 || plain(data.x, i, points, k) < plain(data.x, i, points, nearest)))
        nearest = k;
    if (nearest < 0) return NAN;
    sum.row(nearest) += data.x.row(i) - points.row(nearest);
    count(nearest) += 1;
  }
  double most = 0;
  for (Index k = 0; k < points.rows(); ++k) {
    if (count(k) == 0) return NAN;
    most = std::max(most, sum.row(k).norm() / count(k));
  }
  return most == 0 ? 0 : most / spread;
}

/// Whether each class has as many centres as were asked for, or as it has different rows.
bool is_complete(const PrototypesModel& m, const Data& data) {
  std::vector<Index> different(at(data.classes), 0);
  for (Index i = 0; i < data.rows(); ++i)
    if (!is_copy(data, i)) ++different[at(data.label[at(i)])];
  Vector count = Vector::Zero(data.classes);
  for (const int each : labels_of(m)) count(each) += 1;
  for (Index c = 0; c < data.classes; ++c)
    if (count(c) != static_cast<double>(std::min<Index>(m.spec.each, different[at(c)]))) return false;
  return true;
}

std::string claim_of(PrototypesBy by) {
  switch (by) {
    case PrototypesBy::condensed:
      return "Each prototype is a row of its class that those before it get wrong, and together they get every row "
             "right "
             "that has no equal row of another class.";
    case PrototypesBy::edited: return "The prototypes are the rows that their nearest others do not outvote.";
    case PrototypesBy::kmeans:
      return "Each prototype is the mean of the rows of its class that are nearest to it, up to {:.1e} of their spread "
             "(allowed {:.0e}).";
    default:
      return "The centres it began at are the means of the rows of their class that are nearest to them, and the steps "
             "taken again from there end at the prototypes, up to {:.1e} of their spread (allowed {:.0e}). There is no "
             "optimum to prove: LVQ has no objective.";
  }
}

}  // namespace
}  // namespace prototypes

void PrototypesModel::check() const {
  const Index m = prototypes.rows();
  require(m > 0 && width() > 0 && classes.size() == m && all_finite(prototypes),
          "prototypes: the prototypes are not usable");
  require(counts.size() >= 2 && counts.allFinite(), "prototypes: there are not two classes");
  for (const double each : classes)
    require(each == std::floor(each) && each >= 0 && each < static_cast<double>(counts.size()),
            "prototypes: a prototype has no class");
  require(held_out.size() == 2 && held_out.allFinite() && std::isfinite(kept) && std::isfinite(error),
          "prototypes: an error is not finite");
  require(start.cols() == width() && start.rows() == (lemma::prototypes::by_lvq(spec) ? m : 0) && all_finite(start),
          "prototypes: the start does not fit the prototypes");
}

Labels PrototypesModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  return lemma::prototypes::nearest_classes(x, prototypes, lemma::prototypes::labels_of(*this));
}

Vector PrototypesModel::prototype(const MatrixView& x) const {
  require_width(*this, x.cols());
  Labels which(at(x.rows()));
  std::vector<double> distance(which.size());
  simd::nearest(x, prototypes, which, distance);
  return lemma::prototypes::numbers(which).array() + 1;
}

std::string PrototypesModel::summary(const Names& names) const {
  TextTable table;
  for (Index c = 0; c < counts.size(); ++c)
    table.right(at(c) < names.classes.size() ? names.classes[at(c)] : fmt::format("class {}", c + 1),
                {format_significant(counts(c))});
  return fmt::format("{} by {}, {} of the rows\n\nPrototypes of each class:\n{}\n",
                     count_of(prototypes.rows(), "prototype"), name_of(spec.by), format_significant(kept, 3),
                     table.str()) +
         fmt::format("Share of errors on the rows: {}\n", format_significant(error, 4)) +
         fmt::format("On held-out rows: {} by prototypes of the others, {} by the nearest of all the others\n",
                     format_significant(held_out(0), 4), format_significant(held_out(1), 4));
}

PrototypesModel fit(const Valid<Prototypes>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const prototypes::Data data = prototypes::gathered(rows, execution.part(0, 0.1));
  if (spec->by == PrototypesBy::edited && spec->k >= data.rows())
    throw Error(
        fmt::format("prototypes: k is {}, and there are {}: k must be below that, as a row has no vote on itself",
                    spec->k, count_of(data.rows(), "row")));
  const Hearing hearing(execution);
  const prototypes::Made found = prototypes::made(*spec, data, execution.part(0.1, 0.3, "prototypes"));
  PrototypesModel model;
  model.spec = *spec;
  model.prototypes = found.points;
  model.start = found.start;
  require(all_finite(model.prototypes), "prototypes: the prototypes ran away from the rows; take a smaller rate");
  model.classes = prototypes::numbers(found.label);
  model.counts = Vector::Zero(data.classes);
  for (const int each : found.label) model.counts(each) += 1;
  model.kept = static_cast<double>(found.points.rows()) / static_cast<double>(data.rows());
  model.error = prototypes::share_wrong(data, found);
  model.held_out = prototypes::held_out_errors(*spec, data, execution.part(0.3, 0.8, "holding rows out"));
  for (Index c = 0; c < data.classes; ++c)
    if (model.counts(c) == 0)
      model.warnings.push_back(
          fmt::format("class '{}' has no prototype left: it is never predicted", rows.classes[at(c)]));
  model.certificate = certify(model, rows, execution.part(0.8, 1));
  return model;
}

Certificate certify(const PrototypesModel& model, const Rows& rows, const Execution& execution) {
  using namespace prototypes;
  const Data data = gathered(rows, execution.part(0, 0.2));
  const Hearing hearing(execution);
  const Labels label = labels_of(model);
  Certificate out;
  out.strength = Strength::consistent;
  out.stopped = "closed form";
  const bool of_rows = model.spec.by == PrototypesBy::condensed || model.spec.by == PrototypesBy::edited;
  if (of_rows) {
    const Wrong wrong =
        model.spec.by == PrototypesBy::condensed ? wrong_condensed(model, data) : wrong_edited(model, data);
    out.kind = "rows and prototypes that contradict the rule";
    out.value = wrong.value;
    out.message = wrong.value == 0 ? claim_of(model.spec.by) : "The rule is broken: " + wrong.about + ".";
  } else {
    const bool lvq = by_lvq(model.spec);
    out.kind = "distance from where the rows put the prototypes";
    out.tolerance = 1e-9;
    out.value = centre_movement(lvq ? model.start : model.prototypes, label, data);
    if (lvq) {
      const Matrix again = learned(model.spec, data, model.start, label);
      const Vector mean = data.x.colwise().mean();
      const double spread = (data.x.rowwise() - mean.transpose()).norm() / std::sqrt(static_cast<double>(data.rows()));
      const double off = (again - model.prototypes).cwiseAbs().maxCoeff();
      out.value = std::isnan(out.value) ? out.value : std::max(out.value, off == 0 ? 0 : off / spread);
    }
    out.message = fmt::format(fmt::runtime(claim_of(model.spec.by)), out.value, out.tolerance);
    if (!is_complete(model, data)) {
      out.value = 1;
      out.message = fmt::format("A class has not the {} that were asked for.", count_of(model.spec.each, "prototype"));
    }
  }
  if (!out.holds()) return out;
  Comparison same;
  const Vector errors = held_out_errors(model.spec, data, execution.part(0.5, 1));
  for (Index i = 0; i < 2; ++i) same.entry("held_out", i, model.held_out(i), errors(i), 1);
  same.number("error", model.error, share_wrong(data, {model.prototypes, label, {}}), 1);
  same.number("kept", model.kept, static_cast<double>(model.prototypes.rows()) / static_cast<double>(data.rows()), 1);
  Vector counts = Vector::Zero(data.classes);
  for (const int each : label) counts(each) += 1;
  for (Index c = 0; c < data.classes; ++c) same.entry("counts", c, model.counts(c), counts(c), 1);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<Prototypes>();

}  // namespace lemma
