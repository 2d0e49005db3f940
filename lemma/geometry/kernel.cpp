// lemma/geometry/kernel.cpp
#include <cmath>
#include <fmt/format.h>
#include <lemma/geometry/kernel.hpp>
#include <lemma/geometry/points.hpp>
#include <lemma/geometry/shared/arguments.hpp>

namespace lemma {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

void append(std::vector<Kernel>& parts, Kernel kernel, auto of_same_kind) {
  if (const auto* same = of_same_kind(kernel)) parts.insert(parts.end(), same->begin(), same->end());
  else parts.push_back(std::move(kernel));
}
const std::vector<Kernel>* terms_of(const Kernel& kernel) {
  const auto* sum = std::get_if<Kernel::Sum>(&kernel.node());
  return sum ? &sum->terms : nullptr;
}
const std::vector<Kernel>* factors_of(const Kernel& kernel) {
  const auto* product = std::get_if<Kernel::Product>(&kernel.node());
  return product ? &product->factors : nullptr;
}

/// 1 / spread, where a spread of nothing (all rows equal) leaves 1.
double rate_for(double spread) { return spread > 0 && std::isfinite(1 / spread) ? 1 / spread : 1; }

}  // namespace

Kernel::Kernel() : node_(Named(Rbf{})) {}
Kernel::Kernel(CustomKernel own) : node_(std::move(own)) {}
Kernel::Kernel(Sum sum) : node_(std::move(sum)) {}
Kernel::Kernel(Product product) : node_(std::move(product)) {}
Kernel::Kernel(const Kernel&) = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(const Kernel&) = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

void Rbf::check() const {
  const int given = gamma.has_value() + sigma.has_value() + !lengths.empty() + (metric.size() > 0);
  if (given > 1) throw Error("rbf takes one of gamma, sigma, lengths and metric, and was given more");
  if (metric.size() > 0 && metric.rows() != metric.cols())
    throw Error(fmt::format("rbf: metric has {} rows and {} columns, must be square", metric.rows(), metric.cols()));
}

std::optional<double> Rbf::rate() const { return sigma ? 1 / (2 * *sigma * *sigma) : gamma; }

void Matern::check() const {
  if (length && !lengths.empty()) throw Error("matern takes length or lengths, and was given both");
}

std::string Kernel::text() const {
  return std::visit(Overloaded{[](const Named& named) { return text_of_atom(named); },
                               [](const CustomKernel& own) { return fmt::format("custom({})", own.name); },
                               [](const Sum& sum) {
                                 std::string out;
                                 for (const Kernel& term : sum.terms) out += (out.empty() ? "" : " + ") + term.text();
                                 return out;
                               },
                               [](const Product& product) {
                                 std::string out;
                                 for (const Kernel& factor : product.factors) {
                                   const auto* number = factor.get<ConstantKernel>();
                                   const std::string text = number             ? fmt::format("{}", number->value)
                                                            : terms_of(factor) ? "(" + factor.text() + ")"
                                                                               : factor.text();
                                   out += (out.empty() ? "" : "*") + text;
                                 }
                                 return out;
                               }},
                    node_);
}

bool Kernel::any_of(const std::function<bool(const Kernel&)>& holds) const {
  if (holds(*this)) return true;
  const auto* parts = terms_of(*this) ? terms_of(*this) : factors_of(*this);
  if (parts)
    for (const Kernel& part : *parts)
      if (part.any_of(holds)) return true;
  return false;
}

Kernel Kernel::changed(const std::function<Kernel(const Named&)>& change) const {
  const auto each = [&](std::vector<Kernel> parts) {
    for (Kernel& part : parts) part = part.changed(change);
    return parts;
  };
  return std::visit(
      Overloaded{[&](const Named& named) { return change(named); }, [](const CustomKernel& own) { return Kernel(own); },
                 [&](const Sum& sum) { return Kernel(Sum{each(sum.terms)}); },
                 [&](const Product& product) { return Kernel(Product{each(product.factors)}); }},
      node_);
}

Kernel Kernel::resolved(const Points& points, std::span<const double> weights) const {
  const bool chosen = any_of([](const Kernel& part) {
    const auto* rbf = part.get<Rbf>();
    const auto* poly = part.get<Poly>();
    const auto* laplace = part.get<Laplace>();
    const auto* matern = part.get<Matern>();
    const auto* tanh = part.get<Tanh>();
    return (rbf && !rbf->rate() && rbf->lengths.empty() && rbf->metric.size() == 0) || (poly && !poly->gamma) ||
           (laplace && !laplace->gamma) || (matern && !matern->length && matern->lengths.empty()) ||
           (tanh && !tanh->gamma);
  });
  if (!chosen) return *this;
  const Vector variances = points.variances(weights);
  const double total = variances.sum(), deviations = variances.cwiseSqrt().sum();
  return changed([&](const Named& named) -> Kernel {
    return std::visit(Overloaded{[&](Rbf rbf) -> Kernel {
                                   if (!rbf.rate() && rbf.lengths.empty() && rbf.metric.size() == 0)
                                     rbf.gamma = rate_for(total);
                                   return rbf;
                                 },
                                 [&](Poly poly) -> Kernel {
                                   if (!poly.gamma) poly.gamma = rate_for(total);
                                   return poly;
                                 },
                                 [&](Laplace laplace) -> Kernel {
                                   if (!laplace.gamma) laplace.gamma = rate_for(deviations);
                                   return laplace;
                                 },
                                 [&](Matern matern) -> Kernel {
                                   if (!matern.length && matern.lengths.empty())
                                     matern.length = total > 0 ? std::sqrt(total / 2) : 1;
                                   return matern;
                                 },
                                 [&](Tanh tanh) -> Kernel {
                                   if (!tanh.gamma) tanh.gamma = rate_for(total);
                                   return tanh;
                                 },
                                 [](const auto& other) -> Kernel { return other; }},
                      named);
  });
}

int Kernel::letters() const {
  int out = 0;
  any_of([&](const Kernel& part) {
    if (const auto* spectrum = part.get<Spectrum>()) out = spectrum->k;
    return out > 0;
  });
  return out;
}

bool Kernel::is_positive() const {
  return !any_of([](const Kernel& part) {
    return part.get<Tanh>() || part.get<Precomputed>() || std::holds_alternative<CustomKernel>(part.node());
  });
}

void Kernel::check(const std::string& where) const {
  std::visit(Overloaded{[&](const Named& named) { Codec<Named>::check(named, {}, where); },
                        [&](const CustomKernel& own) {
                          if (own.name.empty()) throw Error(where + ": a kernel of your own needs a name");
                        },
                        [&](const Sum& sum) {
                          for (const Kernel& term : sum.terms) term.check(where);
                        },
                        [&](const Product& product) {
                          for (const Kernel& factor : product.factors) factor.check(where);
                        }},
             node_);
  const bool alone = std::holds_alternative<Named>(node_);
  if (!alone && contains<Precomputed>())
    throw Error(where + ": precomputed stands alone; add or scale the matrices before");
}

Kernel operator+(Kernel a, Kernel b) {
  Kernel::Sum sum;
  append(sum.terms, std::move(a), terms_of);
  append(sum.terms, std::move(b), terms_of);
  return sum;
}
Kernel operator*(Kernel a, Kernel b) {
  Kernel::Product product;
  append(product.factors, std::move(a), factors_of);
  append(product.factors, std::move(b), factors_of);
  return product;
}
Kernel operator*(double factor, Kernel kernel) { return Kernel(ConstantKernel{factor}) * std::move(kernel); }

Value Codec<Kernel>::write(const Kernel& kernel) {
  if (const auto* named = std::get_if<Kernel::Named>(&kernel.node())) return Codec<Kernel::Named>::write(*named);
  return kernel.text();
}

void Codec<Kernel>::read(Kernel& field, const Value& value, const std::string& where) {
  if (value.is_string() || (value.is_object() && value.as_object().size() == 1 && value.find("kind"))) {
    const std::string& text = (value.is_string() ? value : value.at("kind")).as_string(where);
    try {
      field = Kernel::parse(text);
    } catch (const Error& error) { throw Error(where + ": " + error.what()); }
    return;
  }
  // Parameters of a named kernel; without a name, of the one it is.
  const auto* now = std::get_if<Kernel::Named>(&field.node());
  Kernel::Named named = now ? *now : Kernel::Named(Rbf{});
  if (const Value* kind = value.is_object() ? value.find("kind") : nullptr; kind && kind->is_string()) {
    const auto kinds = Codec<Kernel::Named>::kinds();
    if (std::find(kinds.begin(), kinds.end(), kind->as_string()) == kinds.end()) {
      Value rest = value;  // kernel 'rbf(0.1)' with kernel.gamma beside it: the written one is where they go
      const Kernel written = Kernel::parse(kind->as_string());
      const auto* one = std::get_if<Kernel::Named>(&written.node());
      if (!one)
        throw Error(where + ": the parameters of a combination stand inside it, such as rbf(0.1) + 0.5*poly(2)");
      named = *one;
      rest.set("kind",
               std::visit([](const auto& atom) { return Value(std::remove_cvref_t<decltype(atom)>::name); }, named));
      Codec<Kernel::Named>::read(named, rest, where);
      field = std::visit([](const auto& atom) { return Kernel(atom); }, named);
      return;
    }
  }
  Codec<Kernel::Named>::read(named, value, where);
  field = std::visit([](const auto& atom) { return Kernel(atom); }, named);
}

void detail::Describe<Kernel>::kind(ParamInfo& info) {
  Describe<Kernel::Named>::kind(info);
  info.kind = ParamInfo::Kind::name_or_text;
}

void detail::Describe<Kernel>::parts(const std::string& name, std::vector<ParamInfo>& out) {
  Describe<Kernel::Named>::parts(name, out);
}

}  // namespace lemma
