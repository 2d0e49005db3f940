// lemma/core/random.cpp
#include <Random123/philox.h>
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <numeric>
#include <unordered_map>

namespace lemma {
namespace {

/// Counters {n, 0, 0, domain} are used: drawing and splitting never meet.
constexpr std::uint64_t kDrawing = 0, kSplitting = 1;

double open_uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }  // (0, 1)

double polynomial(const double (&coefficients)[8], double x) {  // from the constant upwards
  double sum = coefficients[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

/// Φ⁻¹ for the tails, from r = √(−log min(p, 1−p)).
double tail_quantile(double r) {
  static constexpr double near_top[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                        3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double near_bottom[] = {1.0,
                                           2.05319162663775882187e0,
                                           1.67638483018380384940e0,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  static constexpr double far_top[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                       2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double far_bottom[] = {1.0,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};
  return r <= 5 ? polynomial(near_top, r - 1.6) / polynomial(near_bottom, r - 1.6)
                : polynomial(far_top, r - 5) / polynomial(far_bottom, r - 5);
}

}  // namespace

std::array<std::uint64_t, 4> philox(const std::array<std::uint64_t, 4>& counter,
                                    const std::array<std::uint64_t, 2>& key) {
  const r123::Philox4x64::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x64::key_type k = {{key[0], key[1]}};
  const auto out = r123::Philox4x64()(c, k);
  return {out[0], out[1], out[2], out[3]};
}

double normal_quantile(double p) {
  static constexpr double top[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                   1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                   3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double bottom[] = {1.0,
                                      4.2313330701600911252e1,
                                      6.8718700749205790830e2,
                                      5.3941960214247511077e3,
                                      2.1213794301586595867e4,
                                      3.9307895800092710610e4,
                                      2.8729085735721942674e4,
                                      5.2264952788528545610e3};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(top, r) / polynomial(bottom, r);
  }
  return std::copysign(tail_quantile(std::sqrt(-std::log(q < 0 ? p : 1 - p))), q);
}

RandomStream RandomStream::split(std::uint64_t id) const {
  const auto key = philox({id, 0, 0, kSplitting}, key_);
  return RandomStream(key[0], key[1]);
}

void RandomStream::refill() {
  block_ = philox({counter_++, 0, 0, kDrawing}, key_);
  used_ = 0;
}

double RandomStream::normal() { return normal_quantile(open_uniform(bits())); }

/// The high half of bits·n, drawn again in the rare case that would favour some numbers (Lemire 2019).
Index RandomStream::below(Index n) {
  if (n < 1) throw Error(fmt::format("a random number below {} was asked for; it must be at least 1", n));
  __extension__ using Wide = unsigned __int128;
  const auto range = static_cast<std::uint64_t>(n);
  Wide product = static_cast<Wide>(bits()) * range;
  if (static_cast<std::uint64_t>(product) < range) {
    const std::uint64_t biased = (0 - range) % range;  // 2⁶⁴ mod n
    while (static_cast<std::uint64_t>(product) < biased) product = static_cast<Wide>(bits()) * range;
  }
  return static_cast<Index>(product >> 64);
}

std::vector<Index> permutation(RandomStream& stream, Index n) {
  std::vector<Index> order(static_cast<std::size_t>(std::max<Index>(n, 0)));
  std::iota(order.begin(), order.end(), Index{0});
  stream.shuffle(std::span(order));
  return order;
}

/// The first k steps of a shuffle of 0 … n−1, of which only the displaced places are kept.
std::vector<Index> sample_without_replacement(RandomStream& stream, Index n, Index k) {
  if (k < 0 || k > n) throw Error(fmt::format("{} of {} cannot be drawn without replacement", k, n));
  std::unordered_map<Index, Index> displaced;
  displaced.reserve(static_cast<std::size_t>(k));
  const auto at = [&](Index place) {
    const auto found = displaced.find(place);
    return found == displaced.end() ? place : found->second;
  };
  std::vector<Index> chosen;
  chosen.reserve(static_cast<std::size_t>(k));
  for (Index i = 0; i < k; ++i) {
    const Index place = i + stream.below(n - i);
    chosen.push_back(at(place));
    displaced[place] = at(i);
  }
  return chosen;
}

Matrix normal_matrix(Index rows, Index cols, std::uint64_t seed, std::uint64_t stream, const Execution& execution) {
  Matrix out(rows, cols);
  constexpr Index kCounters = 4096;  // handled together; each gives four numbers
  const Index size = out.size(), counters = (size + 3) / 4;
  parallel_for((counters + kCounters - 1) / kCounters, execution, [&](Index piece) {
    for (Index c = piece * kCounters; c < std::min(counters, (piece + 1) * kCounters); ++c) {
      const auto bits = philox({static_cast<std::uint64_t>(c), 0, 0, kDrawing}, {seed, stream});
      for (Index i = 4 * c; i < std::min(size, 4 * c + 4); ++i)
        out.data()[i] = normal_quantile(open_uniform(bits[static_cast<std::size_t>(i - 4 * c)]));
    }
  });
  return out;
}

}  // namespace lemma
