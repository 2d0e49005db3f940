// lemma/select/tune/text.cpp: a choice as a document, and as text.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/select/tune/parts.hpp>

namespace lemma {
namespace {

const Score* find(const std::vector<Score>& scores, const std::string& name) {
  for (const auto& each : scores)
    if (each.name == name) return &each;
  return nullptr;
}

Value document(const Score& score) {
  Value out = Value::object();
  out.set("mean", score.mean);
  out.set("sd", score.sd);
  if (score.bounds) out.set("bounds", std::vector<double>{score.bounds->lower, score.bounds->upper});
  return out;
}

Value scores_of(const std::vector<Score>& scores, const std::vector<std::string>& names) {
  Value out = Value::object();
  for (const auto& name : names)
    if (const Score* found = find(scores, name)) out.set(name, document(*found));
  return out;
}

std::string with_interval(const Value& score) {
  std::string out = format_significant(score.at("mean").is_null() ? std::nan("") : score.at("mean").as_double(), 4);
  if (const Value* bounds = score.find("bounds"))
    out += fmt::format(" [{}, {}]", format_significant(bounds->as_vector()(0), 3),
                       format_significant(bounds->as_vector()(1), 3));
  return out;
}

}  // namespace

std::size_t tuning::most_expected(const Vector& mean, const Vector& sd, double best) {
  Index top = 0;
  double most = -1;
  for (Index i = 0; i < mean.size(); ++i) {
    const double z = (mean(i) - best) / sd(i);
    const double gain =
        sd(i) > 0 ? sd(i) * (z * normal_cdf(z) + std::exp(normal_log_density(z))) : std::max(0.0, mean(i) - best);
    if (gain > most) {
      most = gain;
      top = i;
    }
  }
  return static_cast<std::size_t>(top);
}

Value to_value(const TuneResult& result) {
  Value out = Value::object();
  out.set("search", name_of(result.search));
  out.set("plan", result.plan.text());
  out.set("metrics", result.metrics);
  out.set("higher_is_better", result.higher_is_better);
  Value::List tries;
  for (const auto& each : result.tries) {
    Value one = Value::object();
    one.set("params", each.params);
    one.set("text", each.text);
    if (each.share < 1) one.set("share", each.share);
    one.set("scores", scores_of(each.scores, result.metrics));
    tries.push_back(std::move(one));
  }
  out.set("tries", std::move(tries));
  out.set("best", result.best + 1);
  out.set("taken", result.taken + 1);
  out.set("one_se", result.one_se);
  out.set("method", result.method);
  if (result.honest) {
    Value honest = Value::object();
    honest.set("plan", result.honest->plan.text());
    honest.set("scores", scores_of(result.honest->scores, result.metrics));
    honest.set("choices", result.choices);
    out.set("honest", std::move(honest));
  }
  out.set("cancelled", result.cancelled);
  return out;
}

std::string text_of_choice(const Value& choice) {
  const auto metrics = choice.at("metrics").as_strings();
  const auto& tries = choice.at("tries").as_list();
  const auto taken = static_cast<std::size_t>(choice.at("taken").as_integer());
  std::vector<std::string> marks, texts, shares;
  bool partial = false;
  for (std::size_t i = 0; i < tries.size(); ++i) {
    marks.emplace_back(i + 1 == taken ? "*" : "");
    texts.push_back(tries[i].at("text").as_string());
    const Value* share = tries[i].find("share");
    shares.push_back(share ? format_significant(100 * share->as_double(), 2) + " %" : "all");
    partial = partial || share;
  }
  TextTable table;
  table.words("", marks).words("try", texts);
  if (partial) table.right("of the rows", shares);
  for (const auto& metric : metrics) {
    std::vector<std::string> cells;
    for (const auto& each : tries) {
      const Value* score = each.at("scores").find(metric);
      cells.push_back(score ? with_interval(*score) : "");
    }
    table.words(metric, cells);
  }
  const Value& top = tries.at(taken - 1);
  std::string out =
      fmt::format("{} by {}, {}:\n\n{}\n", tries.size() == 1 ? "1 try" : fmt::format("{} tries", tries.size()),
                  choice.at("search").as_string() == "gp" ? "Gaussian process" : choice.at("search").as_string(),
                  choice.at("plan").as_string(), table.str());
  out += fmt::format("Chosen: {}, {} {}{}.\n", choice.at("method").as_string(), metrics[0],
                     with_interval(top.at("scores").at(metrics[0])),
                     choice.at("one_se").as_bool() ? ", the first within one standard error of the best" : "");
  if (tries.size() > 1)
    out += wrap(fmt::format(
                    "This score is OPTIMISTIC: it is that of one chosen among {} by the rows that it is measured on.",
                    tries.size()),
                98) +
           "\n";
  if (const Value* honest = choice.find("honest")) {
    out += fmt::format("Honest, the search done anew without the rows that judge ({}): {} {}.\n",
                       honest->at("plan").as_string(), metrics[0], with_interval(honest->at("scores").at(metrics[0])));
  } else if (tries.size() > 1) {
    out += "What it is worth on new rows: --nested 5, --hold-out 0.2, or evaluate on rows kept apart.\n";
  }
  return out;
}

}  // namespace lemma
