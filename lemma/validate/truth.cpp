// lemma/validate/truth.cpp
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/text.hpp>
#include <lemma/core/value.hpp>
#include <lemma/validate/truth/parts.hpp>

namespace lemma {

bool Truth::probabilities(const double* x, double* p) const {
  if (!joint_density(x, p)) return false;
  double sum = 0;
  for (std::size_t k = 0; k < classes.size(); ++k) sum += p[k];
  for (std::size_t k = 0; k < classes.size(); ++k)
    p[k] = sum > 0 ? p[k] / sum : 1 / static_cast<double>(classes.size());
  return true;
}
bool Truth::moments(const double*, double&, double&) const { return false; }
bool Truth::joint_density(const double*, double*) const { return false; }
std::optional<Truth::Box> Truth::box() const { return {}; }

namespace truths_of {

Call::Call(const std::string& text) : text_(text) {
  const auto open = text.find('(');
  name_ = text.substr(0, open);
  while (!name_.empty() && name_.back() == ' ') name_.pop_back();
  if (open == std::string::npos) return;
  if (!text.ends_with(')')) throw Error(fmt::format("'{}': the bracket is not closed", text));
  std::string rest = text.substr(open + 1, text.size() - open - 2), key;
  std::erase(rest, ' ');
  std::erase(rest, '[');
  std::erase(rest, ']');
  for (std::size_t from = 0; from < rest.size();) {
    const auto to = std::min(rest.find(',', from), rest.size());
    std::string piece = rest.substr(from, to - from);
    from = to + 1;
    if (const auto equals = piece.find('='); equals != std::string::npos) {
      key = piece.substr(0, equals);
      piece = piece.substr(equals + 1);
      if (!given_.emplace(key, std::vector<double>()).second)
        throw Error(fmt::format("'{}': {} is given twice", text, key));
    } else if (key.empty()) {
      throw Error(fmt::format("'{}': '{}' has no name; write noise=0.2", text, piece));
    }
    double number = 0;
    const auto [stop, status] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
    if (status != std::errc() || stop != piece.data() + piece.size() || !std::isfinite(number))
      throw Error(fmt::format("'{}': '{}' of {} must be a number", text, piece, key));
    given_[key].push_back(number);
  }
}

double Call::number(const std::string& key, double usual, double least, double most) {
  const auto found = numbers(key, {usual});
  if (found.size() != 1) throw Error(fmt::format("'{}': {} is one number", text_, key));
  if (!(found[0] >= least && found[0] <= most))
    throw Error(fmt::format("'{}': {} is {}, must be between {} and {}", text_, key, found[0], least, most));
  return found[0];
}

std::vector<double> Call::numbers(const std::string& key, std::vector<double> usual) {
  asked_.push_back(key);
  const auto found = given_.find(key);
  return found == given_.end() ? usual : found->second;
}

void Call::done() const {
  for (const auto& [key, numbers] : given_)
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
      throw Error(fmt::format("{} has no parameter '{}'{}; it has {}", name_, key, did_you_mean(key, asked_),
                              asked_.empty() ? "none" : join_words(asked_)));
}

}  // namespace truths_of

std::vector<TruthInfo> truths() {
  return {
      {"gaussians", "distance=2, dimensions=2, prior=0.5", "two Gaussian classes with unit covariance, so far apart"},
      {"ripley", "", "two classes, each of two Gaussians in the plane (Ripley 1996); Bayes error 8 %"},
      {"moons", "noise=0.1", "two half circles that reach into each other"},
      {"circles", "noise=0.1, factor=0.5", "a circle inside a circle"},
      {"spirals", "noise=0.1, turns=1.5", "two spirals around each other"},
      {"checkerboard", "cells=4, flip=0", "classes by the colour of the square; a share of them turned round"},
      {"swiss_roll", "noise=0", "a rolled-up sheet in three dimensions; the response is the place along it"},
      {"friedman1", "noise=1, dimensions=10", "10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 (Friedman 1991)"},
      {"friedman2", "noise=125", "the impedance of a circuit"},
      {"friedman3", "noise=0.1", "its phase"},
      {"linear", "coefficients=1,-2,0.5, intercept=0, noise=1", "a plane and Gaussian noise; columns are N(0, 1)"},
      {"logistic", "coefficients=1,-2,0.5, intercept=0", "two classes, the log odds a plane"},
      {"poisson", "coefficients=0.5,-0.3, intercept=1", "counts, the logarithm of their mean a plane"},
      {"sine", "noise=0.3", "sin(2 pi x) and noise, x uniform on [0, 1]"},
      {"step", "noise=0.3", "1 where x > 1/2, else 0, and noise"},
      {"polynomial", "coefficients=0,1,-1, noise=0.1", "b0 + b1 x + b2 x^2 + ..., x uniform on [-1, 1]"},
  };
}

std::shared_ptr<const Truth> truth_named(const std::string& text) {
  if (text.ends_with(".json")) {
    const auto bytes = read_file(text);
    try {
      return mixture_truth(from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), text);
    } catch (const Error& error) { throw Error(fmt::format("{}: {}", text, error.what())); }
  }
  truths_of::Call call(text);
  std::shared_ptr<Truth> out = truths_of::shape_truth(call);
  if (!out) out = truths_of::function_truth(call);
  if (!out) {
    std::vector<std::string> names;
    for (const auto& each : truths()) names.push_back(each.name);
    throw Error(fmt::format("there is no truth '{}'{}; there are {}, or a .json file with mixtures", call.name(),
                            did_you_mean(call.name(), names), join_words(names, 30)));
  }
  call.done();
  out->name = text;
  return out;
}

Table draw_table(const Truth& truth, Index count, std::uint64_t seed, Index first) {
  require(count >= 0, "the number of rows is negative");
  const std::size_t p = truth.features.size();
  std::vector<std::vector<double>> x(p, std::vector<double>(at(count)));
  std::vector<double> y(at(count));
  const RandomStream all(seed, 0x7275);  // a stream of its own for generated rows
  std::vector<double> row(p);
  for (Index i = 0; i < count; ++i) {
    RandomStream stream = all.split(static_cast<std::uint64_t>(first + i));
    y[at(i)] = truth.draw(stream, row.data());
    for (std::size_t j = 0; j < p; ++j) x[j][at(i)] = row[j];
  }
  std::vector<Column> columns;
  for (std::size_t j = 0; j < p; ++j) columns.push_back(numeric(truth.features[j], std::move(x[j])));
  if (truth.of_classes()) {
    Categories codes;
    codes.levels = truth.classes;
    for (const double each : y) codes.codes.push_back(static_cast<std::int32_t>(each));
    columns.push_back({truth.response, std::move(codes)});
  } else {
    columns.push_back(numeric(truth.response, std::move(y)));
  }
  return Table(std::move(columns), truth.name);
}

}  // namespace lemma
