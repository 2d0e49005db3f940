// lemma/geometry/metric/parse.cpp: how a metric is written: a name with its arguments.
#include <lemma/geometry/metric.hpp>
#include <lemma/geometry/shared/arguments.hpp>

namespace lemma {
namespace {

/// What other systems call some of them.
std::string usual_name(const std::string& name) {
  if (name == "l2") return "euclidean";
  if (name == "l1" || name == "cityblock") return "manhattan";
  if (name == "maximum" || name == "linf") return "chebyshev";
  return name;
}

}  // namespace

Metric Metric::parse(std::string_view text) {
  ArgumentReader reader(text);
  reader.at_end();  // past the blanks
  const std::size_t place = reader.place();
  const std::string name = usual_name(reader.word());
  if (name.empty()) reader.fail("expected a metric, such as euclidean or minkowski(3)");
  Named metric;
  reader.guarded(place, [&] { Codec<Named>::read(metric, Value(name), "metric"); });
  Value arguments =
      reader.arguments(name, std::visit([]<class Atom>(const Atom&) { return param_names<Atom>(); }, metric));
  if (!reader.at_end()) reader.fail("expected the end");
  if (const Value* one = arguments.find("covariance"); one && one->is_array() && one->as_array().data.size() == 1)
    arguments.set("covariance", Matrix(Matrix::Constant(1, 1, one->as_array().data[0])));  // [2] looks like a list
  reader.guarded(place, [&] { std::visit([&](auto& atom) { assign(atom, arguments, name + ": "); }, metric); });
  return std::visit([](auto& atom) { return Metric(std::move(atom)); }, metric);
}

}  // namespace lemma
