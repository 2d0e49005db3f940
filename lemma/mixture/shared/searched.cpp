// lemma/mixture/shared/searched.cpp
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/mixture/shared/searched.hpp>
#include <lemma/model/claim.hpp>
#include <limits>

namespace lemma::mixture {
namespace {

constexpr double kDead = 1e-9;  // a component with a smaller share has died
constexpr std::string_view kKind = "movement in one more EM step";

}  // namespace

Vector vector_of(const std::vector<double>& v) {
  return Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
}

void require_numbers(std::string_view method, const std::vector<double>& components) {
  if (components.empty()) throw Error(fmt::format("{}: components names no number; give at least one", method));
  for (const double each : components)
    if (each != std::floor(each) || each > 1e6)
      throw Error(fmt::format("{}: components is {:g}, must be a whole number", method, each));
}

Labels likeliest_component(const Matrix& memberships) {
  Labels out(static_cast<std::size_t>(memberships.rows()), -1);
  for (Index i = 0; i < memberships.rows(); ++i) {
    if (!memberships.row(i).allFinite()) continue;
    Index most = 0;
    memberships.row(i).maxCoeff(&most);
    out[static_cast<std::size_t>(i)] = static_cast<int>(most);
  }
  return out;
}

Index drawn_component(const Vector& weights, RandomStream& random) {
  double left = random.uniform();
  Index c = 0;
  while (c + 1 < weights.size() && left >= weights(c)) left -= weights(c++);
  return c;
}

Certificate unverified(int iterations, double movement) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = kKind;
  out.value = std::numeric_limits<double>::quiet_NaN();
  out.iterations = iterations;
  out.stopped = "cancelled";
  out.message =
      fmt::format("Cancelled after {}; the last step moved by {}, and nothing was checked. 'lemma verify' looks again.",
                  count_of(iterations, "iteration"), format_significant(movement, 2));
  return out;
}

Certificate fixed_point(const Look& look, double tolerance, int iterations, Index limit) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = kKind;
  out.tolerance = std::min(kLoosestClaim, std::max(1e-8, claimed(tolerance)) + look.rounding);
  out.value = look.same ? look.movement : std::max(look.movement, out.tolerance * 2 + look.off);
  out.iterations = iterations;
  out.stopped = out.holds() ? "converged" : iterations >= limit ? "iteration limit" : "not converged";
  const std::string moves =
      fmt::format("one more step moves {} by {} (allowed {})", look.moving, residue_text(look.movement, out.tolerance),
                  format_significant(out.tolerance, 2));
  if (out.holds()) out.message = fmt::format("The likelihood never fell, and its end is a fixed point: {}.", moves);
  else if (!look.same)
    out.message = fmt::format("{} are not those of these rows (off by {}); {}.", look.of_what,
                              format_significant(look.off, 2), moves);
  else
    out.message =
        fmt::format("Not a fixed point: {}. Raise max_iterations ({}), take --solver squarem, or a smaller tolerance.",
                    moves, limit);
  return out;
}

std::string tried_text(const Vector& tried, const Vector& bic) {
  if (tried.size() < 2) return {};
  std::vector<std::string> number;
  for (const double each : tried) number.push_back(fmt::format("{:g}", each));
  return "\nNumbers of components tried:\n" +
         TextTable().right("components", number).numbers("BIC", {bic.begin(), bic.end()}, 7).str();
}

std::string criteria_text(double log_likelihood, int parameters, double aic, double bic, double icl) {
  return fmt::format("\nlog-likelihood {}   {}   AIC {}   BIC {}   ICL {}\n", format_significant(log_likelihood, 7),
                     count_of(parameters, "parameter"), format_significant(aic, 7), format_significant(bic, 7),
                     format_significant(icl, 7));
}

std::string means_text(const Vector& weights, const std::vector<std::pair<std::string, Vector>>& more,
                       const Matrix& means, const std::vector<std::string>& features) {
  constexpr Index kMost = 50;
  const Index shown = std::min(means.rows(), kMost);
  const auto first = [shown](const Vector& v) { return std::vector<double>(v.begin(), v.begin() + shown); };
  std::vector<std::string> component;
  for (Index c = 0; c < shown; ++c) component.push_back(fmt::format("{}", c + 1));
  TextTable table;
  table.right("component", component).numbers("weight", first(weights), 4);
  for (const auto& [name, numbers] : more) table.numbers(name, first(numbers), 4);
  for (Index j = 0; j < means.cols(); ++j)
    table.numbers(at(j) < features.size() ? features[at(j)] : fmt::format("x{}", j + 1), first(means.col(j)), 4);
  std::string out = table.str({.width = 100});
  if (shown < means.rows()) out += fmt::format("... and {} more\n", means.rows() - shown);
  return out;
}

void warn_of_dead(const Vector& weights, std::vector<std::string>& warnings) {
  for (Index k = 0; k < weights.size(); ++k)
    if (weights(k) < kDead)
      warnings.push_back(fmt::format("component {} has died: no row belongs to it; take fewer components", k + 1));
}

}  // namespace lemma::mixture
