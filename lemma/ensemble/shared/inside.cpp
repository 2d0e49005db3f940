// lemma/ensemble/shared/inside.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/ensemble/shared/inside.hpp>
#include <numeric>

namespace lemma::ensemble {
namespace {

constexpr Index kTogether = 4096;  // rows that one thread asks a model about at a time

MatrixView all_of(const Rows& rows, Matrix& space, const Execution& execution) {
  if (const MatrixView* there = rows.matrix()) return *there;
  space = gather(rows, execution);
  return space;
}

/// a before b, where missing comes last: −1, 0, 1.
int compare(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) - std::isnan(b);
  return (a > b) - (a < b);
}

}  // namespace

TrainingRows::TrainingRows(std::string_view method, const Rows& source, const Execution& execution)
    : rows(source), x(all_of(source, space_, execution)), weight(Vector::Ones(source.count())) {
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  label.assign(outcome.label.begin(), outcome.label.end());
  y = Eigen::Map<const Vector>(outcome.y.data(), static_cast<Index>(outcome.y.size()));
  for (Index i = 0; i < count(); ++i) {
    const double w = weight(i) = outcome.weight_of(i);
    if (!(w >= 0 && std::isfinite(w)))
      throw Error(fmt::format("{}: the weight is {} in row {}; it must be finite and at least 0", method, w, i + 1));
    if (w > 0) counting.push_back(i);
    if (!of_classes() && y.size() > 0 && w > 0 && !std::isfinite(y(i)))
      throw Error(fmt::format("{}: '{}' is {} in row {}; every response must be finite", method, rows.target,
                              std::isnan(y(i)) ? "missing" : "infinite", i + 1));
  }
  require(!counting.empty(), fmt::format("{}: the weights add up to 0; no row has a weight above 0", method));
  mass = weight.sum();
}

std::vector<Index> own_order(const MatrixView& x, std::span<const int> label, std::span<const double> y,
                             std::vector<Index> counting) {
  std::sort(counting.begin(), counting.end(), [&](Index a, Index b) {
    for (Index j = 0; j < x.cols(); ++j)
      if (const int c = compare(x(a, j), x(b, j)); c != 0) return c < 0;
    if (!label.empty() && label[at(a)] != label[at(b)]) return label[at(a)] < label[at(b)];
    if (!y.empty() && y[at(a)] != y[at(b)]) return y[at(a)] < y[at(b)];
    return a < b;
  });
  return counting;
}

std::vector<Index> own_order(const TrainingRows& rows) {
  return own_order(rows.x, rows.label, {rows.y.data(), at(rows.y.size())}, rows.counting);
}

Urn::Urn(std::vector<Index> order, const Vector& weight) : order_(std::move(order)) {
  double sum = 0;
  end_.reserve(order_.size());
  for (const Index i : order_) end_.push_back(sum += weight(i));
}

Index Urn::copies() const { return std::max<Index>(1, static_cast<Index>(std::llround(end_.back()))); }

Index Urn::row_at(double position) const {
  const auto found = std::upper_bound(end_.begin(), end_.end(), position);
  return order_[std::min(static_cast<std::size_t>(found - end_.begin()), order_.size() - 1)];
}

std::vector<Index> Urn::with_replacement(Index size, RandomStream stream) const {
  std::vector<double> positions(at(size));
  for (double& each : positions) each = stream.uniform() * end_.back();
  std::sort(positions.begin(), positions.end());
  std::vector<Index> out;
  out.reserve(positions.size());
  for (const double each : positions) out.push_back(row_at(each));
  return out;
}

std::vector<Index> Urn::without(std::string_view method, Index size, RandomStream stream) const {
  for (const double each : end_)
    require(each == std::floor(each),
            fmt::format("{}: rows are drawn without replacement, which takes whole numbers as weights", method));
  std::vector<Index> numbers = sample_without_replacement(stream, copies(), size);
  std::sort(numbers.begin(), numbers.end());
  for (Index& each : numbers) each = row_at(static_cast<double>(each) + 0.5);
  return numbers;
}

ChosenRows::ChosenRows(const TrainingRows& from, std::span<const Index> which)
    : x_(static_cast<Index>(which.size()), from.x.cols()), rows_(x_) {
  for (std::size_t i = 0; i < which.size(); ++i) {
    x_.row(static_cast<Index>(i)) = from.x.row(which[i]);
    if (from.of_classes()) label_.push_back(from.label[at(which[i])]);
    else y_.push_back(from.y(which[i]));
  }
  if (from.of_classes()) rows_.labels(label_, from.rows.classes);
  else rows_.response(y_);
  rows_.features = from.rows.features;
  rows_.levels = from.rows.levels;
  rows_.target = from.rows.target;
}

Needs needs_inside(const AnySpec& inside, Needs usual) {
  const Needs own = inside.method().needs(inside.params());
  usual.codes = own.codes;
  usual.missing = own.missing;
  usual.letters = own.letters;
  usual.unseen = own.unseen;
  return usual;
}

Needs needs_inside(std::span<const AnySpec> inside, Needs usual) {
  bool first = true;
  for (const AnySpec& each : inside) {
    const Needs own = each.method().needs(each.params());
    usual.codes = own.codes && (first || usual.codes);
    usual.missing = own.missing && (first || usual.missing);
    usual.letters = first ? own.letters : own.letters == usual.letters ? own.letters : 0;
    if (first || own.unseen == Unseen::error) usual.unseen = own.unseen;
    first = false;
  }
  return usual;
}

std::uint64_t seed_inside(std::uint64_t seed, std::uint64_t part) { return RandomStream(seed, part + 1).bits(); }

FitOptions options_inside(const FitOptions& options, Quietly& quiet, std::uint64_t part) {
  FitOptions out;
  out.seed = seed_inside(options.seed, part);
  out.threads = options.threads;
  out.progress = &quiet;
  return out;
}

void for_columns(Index columns, Index rows, const Execution& execution, const std::function<void(Index)>& body) {
  constexpr Index kWorthIt = 1 << 15;  // numbers
  if (columns * rows >= kWorthIt) return parallel_for(columns, execution, body);
  if (execution.cancelled()) throw Cancelled();
  for (Index j = 0; j < columns; ++j) body(j);
}

Prediction said(const AnyModel& model, const MatrixView& x, std::string_view part, const Execution& execution) {
  PredictOptions options;
  options.what = {std::string(part)};
  if (x.rows() <= kTogether) return model.predict(x, options);
  std::vector<Prediction> parts(at((x.rows() + kTogether - 1) / kTogether));
  parallel_for(static_cast<Index>(parts.size()), execution, [&](Index i) {
    const Index first = i * kTogether;
    parts[at(i)] = model.predict(x.middleRows(first, std::min(kTogether, x.rows() - first)), options);
  });
  return stack(parts);
}

bool gives(const AnyModel& model, std::string_view part) {
  const auto parts = model->parts();
  return std::any_of(parts.begin(), parts.end(), [&](const PartInfo& each) { return each.name == part; });
}

Labels likeliest(const Matrix& of_classes) {
  Labels out(at(of_classes.rows()));
  for (Index i = 0; i < of_classes.rows(); ++i) {
    Index best;
    of_classes.row(i).maxCoeff(&best);
    out[at(i)] = static_cast<int>(best);
  }
  return out;
}

void require_fits(std::string_view method, const AnyModel& model, Index width, Index classes) {
  const Task task = model->task();
  require(task == (classes > 0 ? Task::classification : Task::regression),
          fmt::format("{}: the model of {} inside does not predict {}", method, model->method().name(),
                      classes > 0 ? "classes" : "numbers"));
  require(
      model->width() == width && model->class_count() == classes && model->response_classes().empty(),
      fmt::format("{}: the model of {} inside was fitted to other columns or classes", method, model->method().name()));
}

std::string first_failure(std::span<const AnyModel> models, const std::function<Certificate(std::size_t)>& look,
                          const Execution& execution) {
  for (std::size_t t = 0; t < models.size(); ++t) {
    if (execution.cancelled()) throw Cancelled();
    const Certificate found = look(t);
    if (found.fails())
      return fmt::format("model {} ({}) does not hold by itself: {}", t + 1, models[t]->method().name(), found.message);
  }
  return {};
}

std::string text_of_seed(std::uint64_t seed) { return std::to_string(seed); }

std::uint64_t seed_of_text(std::string_view method, const std::string& text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  require(error == std::errc() && end == text.data() + text.size(),
          fmt::format("{}: the seed '{}' is no whole number", method, text));
  return out;
}

}  // namespace lemma::ensemble
