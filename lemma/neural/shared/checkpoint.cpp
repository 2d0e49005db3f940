// lemma/neural/shared/checkpoint.cpp
#include <filesystem>
#include <fmt/core.h>
#include <lemma/core/cbor.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/neural/shared/checkpoint.hpp>

namespace lemma::neural {
namespace {

constexpr std::string_view kMagic = "lemma checkpoint 1";

/// All that the bits of a fit by batches follow from, but how many epochs there are.
std::uint64_t fingerprint_of(const Plan& plan, const Prepared& data, std::int64_t seed, const Vector& given) {
  std::vector<double> all{static_cast<double>(plan.net.loss), static_cast<double>(seed),
                          static_cast<double>(plan.channels)};
  const auto add = [&](auto... each) { (all.push_back(static_cast<double>(each)), ...); };
  for (const Layer& l : plan.net.layers)
    add(l.kind, l.in.height, l.in.width, l.in.channels, l.out.height, l.out.width, l.out.channels, l.activation,
        l.height, l.width, l.down, l.right, l.above, l.left);
  const Settings& s = plan.settings;
  add(*s.solver, *s.init, s.decay, s.batch, *s.step, s.fade, s.momentum, s.dropout, s.noise, s.validation, s.patience,
      s.restarts, s.gradcheck, s.restarts > 1 ? s.epochs : 0);
  if (s.precision == Precision::single) add(*s.precision);
  all.insert(all.end(), s.rates.begin(), s.rates.end());
  all.insert(all.end(), given.begin(), given.end());
  std::uint64_t out = hash_numbers(all, hash_text(plan.method));
  for (const Examples* each : {&data.train, &data.held_out})
    for (const auto& [numbers, count] :
         {std::pair{each->x.data(), each->x.size()}, std::pair{each->targets.data(), each->targets.size()},
          std::pair{each->weight.data(), each->weight.size()}})
      out = hash_numbers({numbers, at(count)}, out);
  return out;
}

Value numbers(const std::vector<double>& v) { return Value(vector_of(v)); }
std::vector<double> numbers(const Value& value, std::string_view where) {
  const Vector v = value.as_vector(where);
  return {v.begin(), v.end()};
}

Value value_of(const Course& course) {
  return Value::Object{{"weights", Value(course.weights)},
                       {"training", numbers(course.training)},
                       {"held_out", numbers(course.held_out)},
                       {"best", static_cast<std::int64_t>(course.best)},
                       {"stopped", static_cast<std::int64_t>(course.stopped)},
                       {"diverged", course.diverged}};
}
std::int64_t whole(const Value& value, std::int64_t most) {
  const double number = value.as_double();
  require(number >= 0 && number <= static_cast<double>(most), "a number of it is out of range");
  return static_cast<std::int64_t>(number);
}
Course course_from(const Value& value) {
  Course out;
  out.weights = value.at("weights").as_vector("weights");
  out.training = numbers(value.at("training"), "training");
  out.held_out = numbers(value.at("held_out"), "held_out");
  out.best = whole(value.at("best"), std::ssize(out.training));
  out.stopped = static_cast<Stop>(whole(value.at("stopped"), std::ssize(names_of(Stop{})) - 1));
  out.diverged = value.at("diverged").as_bool();
  return out;
}

}  // namespace

Checkpoint::Checkpoint(const Plan& plan, const Prepared& data, std::int64_t seed, const Vector& given)
    : path_(*plan.settings.checkpoint),
      method_(plan.method),
      fingerprint_(fingerprint_of(plan, data, seed, given)),
      weights_(plan.net.weight_count()),
      epochs_(plan.settings.epochs),
      restarts_(static_cast<std::size_t>(plan.settings.restarts)) {
  require(!path_.empty(), fmt::format("{}: checkpoint names no file", method_));
}

SoFar Checkpoint::read() const {
  if (!std::filesystem::exists(path_)) return {};
  const std::vector<std::uint8_t> bytes = read_file(path_);
  SoFar out;
  std::string fingerprint;
  try {
    const Value all = from_cbor(bytes.data(), bytes.size());
    require(all.at("what").as_string() == kMagic, "it is none");
    fingerprint = all.at("of").as_string();
    out.ends = numbers(all.at("ends"), "ends");
    out.errors = numbers(all.at("errors"), "errors");
    out.kept = course_from(all.at("kept"));
    Snapshot now;
    const Value& told = all.at("now");
    now.epoch = whole(told.at("epoch"), std::numeric_limits<int>::max());
    now.steps = static_cast<std::uint64_t>(whole(told.at("steps"), std::int64_t{1} << 53));
    now.weights = told.at("weights").as_vector("weights");
    now.first = told.at("first").as_vector("first");
    now.second = told.at("second").as_vector("second");
    now.least = told.at("least").is_null() ? Snapshot{}.least : told.at("least").as_double();
    now.course = course_from(told.at("course"));
    out.snapshot = std::move(now);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: '{}' is no checkpoint that can be read ({}); name another file, or remove it", method_,
                            path_, error.what()));
  }
  if (fingerprint != fmt::format("{:016x}", fingerprint_))
    throw Error(
        fmt::format("{}: '{}' is the checkpoint of another fit (other rows, layers, settings or seed); name another "
                    "file, or remove it",
                    method_, path_));
  const Snapshot& now = *out.snapshot;
  const auto fits = [&](const Course& course) {
    return course.weights.size() == weights_ && course.weights.allFinite();
  };
  require(now.weights.size() == weights_ && now.weights.allFinite() && now.first.size() == weights_ &&
              now.first.allFinite() && now.second.allFinite() &&
              (now.second.size() == 0 || now.second.size() == weights_) && fits(now.course) &&
              (out.ends.empty() || fits(out.kept)) && out.ends.size() < restarts_ &&
              now.epoch == std::ssize(now.course.training),
          fmt::format("{}: the checkpoint '{}' is damaged; remove it", method_, path_));
  if (now.epoch > epochs_)
    throw Error(
        fmt::format("{}: the checkpoint '{}' has {} epochs behind it, and {} are asked for; name another file, or "
                    "ask for more",
                    method_, path_, now.epoch, epochs_));
  return out;
}

void Checkpoint::write(const SoFar& so_far, const Snapshot& now) const {
  const Value least = std::isfinite(now.least) ? Value(now.least) : Value();
  const Value all = Value::Object{{"what", kMagic},
                                  {"of", fmt::format("{:016x}", fingerprint_)},
                                  {"ends", numbers(so_far.ends)},
                                  {"errors", numbers(so_far.errors)},
                                  {"kept", value_of(so_far.kept)},
                                  {"now", Value::Object{{"epoch", static_cast<std::int64_t>(now.epoch)},
                                                        {"steps", static_cast<std::int64_t>(now.steps)},
                                                        {"weights", Value(now.weights)},
                                                        {"first", Value(now.first)},
                                                        {"second", Value(now.second)},
                                                        {"least", least},
                                                        {"course", value_of(now.course)}}}};
  write_file(path_, to_cbor(all));
}

}  // namespace lemma::neural
