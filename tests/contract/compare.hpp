// tests/contract/compare.hpp: models and predictions as bytes and as numbers.
#pragma once
#include <lemma/model/store.hpp>
#include <tests/contract/judge.hpp>

namespace lemma::contract {

using Bytes = std::vector<std::uint8_t>;

/// A hierarchy or a map of the training rows says nothing of others; then there is no part of a prediction to look at.
inline bool says_nothing_of_rows(const TrainedModel& trained) { return trained.model->parts().empty(); }

inline bool offers(const TrainedModel& trained, const PartInfo& part) {
  const auto offered = trained.model->parts();
  return std::any_of(offered.begin(), offered.end(), [&](const PartInfo& each) { return each.name == part.name; });
}

/// All that the model can say of a row: parts that have an option of their own too.
inline PredictOptions everything(const TrainedModel& trained) {
  PredictOptions out;
  out.what = {"all"};
  if (offers(trained, kIntervalPart)) out.interval = IntervalKind::confidence;
  out.deviations = offers(trained, kDeviationsPart);
  return out;
}
inline Value all_said(const TrainedModel& trained, const Table& table) {
  if (says_nothing_of_rows(trained)) return Value::object();
  return to_value(trained.predict(table, everything(trained)));
}
/// And what it draws at all the rows together.
inline Value all_said_and_drawn(const TrainedModel& trained, const Table& table) {
  if (says_nothing_of_rows(trained)) return Value::object();
  PredictOptions options = everything(trained);
  if (offers(trained, kSamplesPart)) options.samples = SampleOptions{.count = 2, .seed = 7};
  return to_value(trained.predict(table, options));
}

/// What was learned, without where the rows came from.
inline Value to_document(const TrainedModel& trained) {
  Value out = Value::object();
  out.set("params", trained.model->params());
  out.set("state", trained.model->save());
  out.set("design", trained.design.save());
  out.set("certificate", to_value(trained.model->certificate()));
  out.set("warnings", trained.model->warnings());
  return out;
}

inline bool same_bits(const Value& a, const Value& b) { return to_cbor(a) == to_cbor(b); }

/// visit(path, numbers) for every number and array of numbers in a document.
inline void for_each_number(const Value& value, const std::string& path, const auto& visit) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (value.is_number()) visit(path, std::vector<double>{value.as_double()});
  else if (value.is_array()) visit(path, value.as_array().data);
  else if (value.is_object())
    for (const auto& [key, item] : value.as_object()) for_each_number(item, below(key), visit);
  else if (value.is_list())
    for (std::size_t i = 0; i < value.as_list().size(); ++i)
      for_each_number(value.as_list()[i], below(std::to_string(i)), visit);
}

/// Numbers that are not finite. `missing_allowed`: NaN (null in JSON) is an answer too.
inline Complaints not_finite(const Value& document, const std::string& about, bool missing_allowed) {
  Complaints out;
  for_each_number(document, "", [&](const std::string& path, const std::vector<double>& numbers) {
    for (const double number : numbers)
      if (std::isinf(number) || (std::isnan(number) && !missing_allowed)) {
        out.push_back({about, fmt::format("{} holds {}", path, number)});
        return;
      }
  });
  return out;
}

/// Are two documents of the same shape the same up to `tolerance` beside the largest number of each field (or beside 1)?
inline Complaints not_close(const Value& a, const Value& b, double tolerance, const std::string& about) {
  std::vector<std::pair<std::string, std::vector<double>>> left, right;
  for_each_number(a, "", [&](const std::string& path, const auto& numbers) { left.emplace_back(path, numbers); });
  for_each_number(b, "", [&](const std::string& path, const auto& numbers) { right.emplace_back(path, numbers); });
  if (left.size() != right.size()) return {{about, "the two results have different fields"}};
  Complaints out;
  for (std::size_t f = 0; f < left.size(); ++f) {
    const auto& [path, x] = left[f];
    const auto& y = right[f].second;
    if (path != right[f].first || x.size() != y.size()) {
      out.push_back({about + ": " + path, "differs in size"});
      continue;
    }
    double largest = 1, worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) && std::isnan(y[i])) continue;
      largest = std::max(largest, std::abs(x[i]));
      worst =
          std::isnan(x[i] - y[i]) ? std::numeric_limits<double>::infinity() : std::max(worst, std::abs(x[i] - y[i]));
    }
    if (!(worst <= tolerance * largest))
      out.push_back({about + ": " + path, fmt::format("differs by {:.3g}", worst / largest)});
  }
  return out;
}

}  // namespace lemma::contract
