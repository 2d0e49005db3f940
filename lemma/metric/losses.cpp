// lemma/metric/losses.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/losses.hpp>

namespace lemma {
namespace {

void require_pairs(const VectorView& y, const VectorView& predicted) {
  if (y.size() != predicted.size())
    throw Error(fmt::format("there are {} predictions for {}", predicted.size(), count_of(y.size(), "row")));
  detail::require_numbers(y, "the response");
  detail::require_numbers(predicted, "the prediction");
}

void require_level(double level, std::string_view what) {
  if (!(level > 0 && level < 1)) throw Error(fmt::format("the {} is {}, must be above 0 and below 1", what, level));
}

double number_in(const std::string& words, const std::string& text) {
  double number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || stop != text.data() + text.size() || !std::isfinite(number))
    throw Error(fmt::format("'{}': '{}' must be a number", words, text));
  return number;
}

}  // namespace

Vector pinball_losses(const VectorView& y, const VectorView& quantile, double level) {
  require_pairs(y, quantile);
  require_level(level, "level of a quantile");
  Vector out(y.size());
  for (Index i = 0; i < y.size(); ++i) {
    const double e = y(i) - quantile(i);
    out(i) = e >= 0 ? level * e : (level - 1) * e;
  }
  return out;
}

Vector unit_deviances(const VectorView& y, const VectorView& mean, GlmFamily family, double theta) {
  require_pairs(y, mean);
  GlmLaw law{family, GlmLaw::canonical(family)};
  law.theta = theta;
  if (family == GlmFamily::negative_binomial && !(theta > 0))
    throw Error(fmt::format("theta of negative_binomial is {}, must be above 0", theta));
  Vector out(y.size());
  for (Index i = 0; i < y.size(); ++i) {
    if (!law.admits(y(i)))
      throw Error(fmt::format("{} has no response {}, as in row {}", name_of(family), y(i), i + 1));
    if (!law.valid_mean(mean(i)))
      throw Error(fmt::format("{} has no mean {}, as is predicted for row {}", name_of(family), mean(i), i + 1));
    out(i) = law.at(y(i), law.eta(mean(i))).deviance;
  }
  return out;
}

Coverage coverage(const VectorView& y, const VectorView& lower, const VectorView& upper, double level,
                  const VectorView& weights) {
  require_pairs(y, lower);
  require_pairs(y, upper);
  require_level(level, "level of an interval");
  const Vector w = detail::frequencies(y.size(), weights);
  for (Index i = 0; i < y.size(); ++i)
    if (lower(i) > upper(i))
      throw Error(fmt::format("the interval of row {} ends at {} before it begins at {}", i + 1, upper(i), lower(i)));
  Vector inside(y.size()), outside(y.size());
  for (Index i = 0; i < y.size(); ++i) {
    outside(i) = std::max({lower(i) - y(i), y(i) - upper(i), 0.0});
    inside(i) = y(i) >= lower(i) && y(i) <= upper(i) ? 1 : 0;
  }
  Coverage out;
  out.share = detail::mean(inside, w);
  out.bounds = wilson(out.share, w.sum());
  out.mean_width = detail::mean(upper - lower, w);
  out.interval_score = out.mean_width + 2 / (1 - level) * detail::mean(outside, w);
  return out;
}

AskedMeasure asked_measure(const std::string& words) {
  const auto equals = words.find('=');
  const std::string name = words.substr(0, equals), rest = equals == std::string::npos ? "" : words.substr(equals + 1);
  AskedMeasure out;
  out.kind = static_cast<AskedMeasure::Kind>(
      choose("--also", name, {"pinball", "deviance", "coverage", "ece", "brier_parts"}));
  const auto level = [&](double usual) {
    const double given = rest.empty() ? usual : number_in(words, rest);
    require_level(given, name == "pinball" ? "level of pinball" : "level of coverage");
    return given;
  };
  switch (out.kind) {
    case AskedMeasure::Kind::pinball: out.number = level(0.5); break;
    case AskedMeasure::Kind::coverage: out.number = level(0.95); break;
    case AskedMeasure::Kind::deviance: {
      const auto bracket = rest.find('(');
      const std::string family = rest.empty() ? "gaussian" : rest.substr(0, bracket);
      out.family = static_cast<GlmFamily>(choose("--also deviance", family, choices_of<GlmFamily>()));
      out.number = 1;
      if (bracket != std::string::npos) {
        if (!rest.ends_with(')')) throw Error(fmt::format("'{}': the bracket is not closed", words));
        out.number = number_in(words, rest.substr(bracket + 1, rest.size() - bracket - 2));
      }
      break;
    }
    case AskedMeasure::Kind::ece:
    case AskedMeasure::Kind::brier_parts:
      out.number = rest.empty() ? 10 : number_in(words, rest);
      if (!(out.number >= 1 && out.number <= 1e6 && out.number == std::floor(out.number)))
        throw Error(fmt::format("'{}': the number of bins must be a whole number from 1 to 1,000,000", words));
      break;
  }
  return out;
}

}  // namespace lemma
