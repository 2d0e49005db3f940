// lemma/linear/shared/margin_planes.cpp
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/linear/shared/margin_planes.hpp>

namespace lemma {

void MarginPlanes::check_planes(std::string_view method, bool with_intercept,
                                const std::vector<const PathNumbers*>& more) const {
  const auto must = [&](bool holds, const char* otherwise) {
    require(holds, fmt::format("{}: {}", method, otherwise));
  };
  must(planes() >= 1 && width() >= 1 && coefficients.of.allFinite(), "the coefficients are not usable");
  std::vector<const PathNumbers*> all{&intercept};
  all.insert(all.end(), more.begin(), more.end());
  for (const PathNumbers* each : all)
    must(each->size() == planes() && each->of.allFinite(), "the numbers of the planes are not usable");
  must(planes() == functions_for(class_count()), "two classes need one plane");
  must(class_factors.size() == class_count() && class_factors.allFinite(), "there must be a factor for each class");
  must(with_intercept || (intercept.of.array() == 0).all(), "there is an intercept where none was fitted");
}

}  // namespace lemma
