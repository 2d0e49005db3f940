// lemma/density/anomaly.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hash.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/anomaly.hpp>
#include <lemma/density/shared/inside.hpp>
#include <lemma/model/look_again.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr std::uint64_t kSeedOfFolds = 1;  // of methods inside: a second look must find the same

/// The fold of each row, −1 where it does not count: different rows in the order of their hashes, dealt in turn.
Labels folds_of(const Matrix& x, const Vector& weight, int folds) {
  std::vector<std::uint64_t> hash(at(x.rows())), known;
  for (Index i = 0; i < x.rows(); ++i) {
    hash[at(i)] = hash_numbers({x.row(i).data(), at(x.cols())});
    if (weight(i) > 0) known.push_back(hash[at(i)]);
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (known.size() < 2)
    throw Error("anomaly: all rows are equal, and there is no other row to judge one by; give different rows");
  Labels out(hash.size(), -1);
  for (std::size_t i = 0; i < hash.size(); ++i) {
    if (!(weight(static_cast<Index>(i)) > 0)) continue;
    const auto rank = std::lower_bound(known.begin(), known.end(), hash[i]) - known.begin();
    out[i] = static_cast<int>(rank % folds);
  }
  return out;
}

/// Of each row the log density by the fit to the folds that it is not in; rows that do not count are left out.
struct HeldOut {
  std::vector<std::pair<double, double>> density;  // and the weight of the row, ascending
  double mass = 0;
};

HeldOut held_out(const AnySpec& inside, int folds, const Rows& rows, const Matrix& x, const Vector& weight,
                 const Execution& execution) {
  const Labels fold = folds_of(x, weight, folds);
  HeldOut out;
  for (int f = 0; f < folds; ++f) {
    std::vector<Index> learned, judged;
    for (Index i = 0; i < x.rows(); ++i)
      if (fold[at(i)] >= 0) (fold[at(i)] == f ? judged : learned).push_back(i);
    if (judged.empty()) continue;
    if (execution.cancelled()) throw Cancelled();
    Quietly quiet(execution.progress);
    FitOptions options;
    options.seed = kSeedOfFolds;
    options.threads = execution.threads;
    options.progress = &quiet;
    const density::PlainRows part(rows, x, weight, learned), others(rows, x, weight, judged);
    const AnyModel model = inside.fit(part, options);
    if (execution.cancelled()) throw Cancelled();
    const Vector said = density::log_densities(model, others.x());
    for (std::size_t k = 0; k < judged.size(); ++k) {
      if (!std::isfinite(said(static_cast<Index>(k))))
        throw Error(
            fmt::format("anomaly: {} says nothing of row {} by the others", inside.method().name(), judged[k] + 1));
      out.density.emplace_back(said(static_cast<Index>(k)), weight(judged[k]));
      out.mass += weight(judged[k]);
    }
    execution.report(static_cast<double>(f + 1) / folds, fmt::format("fold {} of {}", f + 1, folds));
  }
  std::sort(out.density.begin(), out.density.end());
  return out;
}

/// k = ⌊α (n + 1)⌋, but for the last digit of the product; of too few rows 1.
double rank_of(double false_alarm, double mass) {
  return std::max(1.0, std::floor(false_alarm * (mass + 1) * (1 + 1e-14)));
}

double threshold_of(const HeldOut& rows, double false_alarm) {
  const double rank = rank_of(false_alarm, rows.mass);
  double seen = 0;
  for (const auto& [density, weight] : rows.density) {
    seen += weight;
    if (seen >= rank) return density;
  }
  return rows.density.back().first;
}

double outliers_of(const AnomalyModel& model, const Matrix& x, const Vector& weight) {
  const Vector flagged = model.outlier(x);
  double out = 0;
  for (Index i = 0; i < x.rows(); ++i) out += weight(i) * flagged(i);
  return out;
}

/// By how many rows γ is off: fewer than k densities lie below it, and at least k at or below it.
Certificate certificate_of(const AnomalyModel& model, const HeldOut& rows, const Certificate& inside, double outliers) {
  const std::string method = model.base->method().name();
  if (inside.fails()) {
    Certificate out = inside;
    out.message = fmt::format("{} inside does not hold: {}", method, inside.message);
    return out;
  }
  const double rank = rank_of(model.spec.false_alarm, rows.mass);
  const double digit = 1e-9 * std::max(1.0, std::abs(model.threshold));
  double below = 0, at_most = 0, nearest = std::numeric_limits<double>::infinity();
  for (const auto& [density, weight] : rows.density) {
    if (density < model.threshold - digit) below += weight;
    if (density <= model.threshold + digit) at_most += weight;
    nearest = std::min(nearest, std::abs(density - model.threshold));
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "rows at the wrong side of the threshold";
  const double off = std::max({below - (rank - 1), rank - at_most, 0.0});
  out.value = nearest <= digit ? off : std::max(off, 1.0);
  if (std::abs(outliers - model.outliers) > 1e-9 * (1 + outliers)) out.value = std::max(out.value, 1.0);
  out.tolerance = 1e-9 * rows.mass;
  out.iterations = inside.iterations;
  out.stopped = "closed form";
  out.message =
      out.holds()
          ? fmt::format("The threshold is the {}. least of the densities of {} rows that {} had not seen; {}",
                        format_significant(rank, 10), format_significant(rows.mass, 10), method,
                        inside.claims() ? fmt::format("{} fitted to all rows has its own certificate, which "
                                                      "holds.",
                                                      method)
                                        : fmt::format("{} fitted to all rows claims nothing by itself.", method))
          : fmt::format(
                "The threshold is not the {}. least of the densities of rows that {} had not seen, or "
                "the outliers are not {} (off by {} rows).",
                format_significant(rank, 10), method, format_significant(outliers, 10),
                format_significant(out.value, 3));
  return out;
}

}  // namespace

AnySpec Anomaly::inside() const { return density::inside_of(base); }
Needs Anomaly::needs(Needs usual) const { return density::needs_inside(inside(), usual); }
void Anomaly::check() const {
  if (base) density::require_density(name, *base, false);
}

void AnomalyModel::check() const {
  density::require_density(Anomaly::name, spec.inside(), false);
  const auto parts = base->parts();
  require(
      std::any_of(parts.begin(), parts.end(), [](const PartInfo& part) { return part.name == kLogDensityPart.name; }),
      "anomaly: what stands inside is no density");
  require(std::isfinite(threshold) && std::isfinite(outliers) && outliers >= 0, "anomaly: a number is not usable");
}

Vector AnomalyModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  return density::log_densities(base, x);
}

Vector AnomalyModel::outlier(const MatrixView& x) const {
  Vector out = log_density(x);
  for (double& each : out)
    if (!std::isnan(each)) each = each <= threshold ? 1 : 0;
  return out;
}

std::string AnomalyModel::summary(const Names& names) const {
  return fmt::format(
             "Outliers by {}: log density at most {} (false alarm {:g}, from {} folds of held-out rows)\n{} of the "
             "rows "
             "of the fit are\n\n",
             spec.inside().text(), format_significant(threshold, 6), spec.false_alarm, spec.folds,
             format_significant(outliers, 7)) +
         base->summary(names);
}

AnomalyModel fit(const Valid<Anomaly>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const AnySpec inside = spec->inside();
  density::require_density(Anomaly::name, inside, false);
  AnomalyModel model;
  model.spec = *spec;
  model.spec.base = inside;
  const Matrix x = gather(rows, execution.part(0, 0.02));
  const Vector weight = density::weights_of(rows, execution.part(0.02, 0.03));
  std::vector<Index> all(at(x.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  const density::PlainRows plain(rows, x, weight, all);
  Quietly quiet(options.progress);
  FitOptions silent = options;
  silent.progress = &quiet;
  model.base = inside.fit(plain, silent);
  for (const auto& warning : model.base->warnings()) model.warnings.push_back(inside.method().name() + ": " + warning);
  const HeldOut rest = held_out(inside, spec->folds, rows, x, weight, execution.part(0.2, 0.98));
  model.threshold = threshold_of(rest, spec->false_alarm);
  if (spec->false_alarm * (rest.mass + 1) < 1)
    model.warnings.push_back(
        fmt::format("{} rows are too few for a false alarm of {:g}: the threshold is the least of "
                    "their densities, which a row like them is below with a probability of {}",
                    format_significant(rest.mass, 6), spec->false_alarm, format_significant(1 / (rest.mass + 1), 2)));
  model.outliers = outliers_of(model, x, weight);
  model.certificate = certificate_of(model, rest, model.base->certificate(), model.outliers);
  return model;
}

Certificate certify(const AnomalyModel& model, const Rows& rows, const Execution& execution) {
  const AnySpec inside = model.spec.inside();
  const Matrix x = gather(rows, execution.part(0, 0.02));
  const Vector weight = density::weights_of(rows, execution.part(0.02, 0.03));
  std::vector<Index> all(at(x.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  const density::PlainRows plain(rows, x, weight, all);
  const Certificate own = look_again(model.base, inside, plain, execution.part(0.03, 0.2));
  const HeldOut rest = held_out(inside, model.spec.folds, rows, x, weight, execution.part(0.2, 1));
  return certificate_of(model, rest, own, outliers_of(model, x, weight));
}

template const Method& method_of<Anomaly>();

}  // namespace lemma
