// lemma/core/quietly.hpp: a cancel reaches work that stands beside other work, and only the one around them tells how far it is.
#pragma once
#include <lemma/core/progress.hpp>

namespace lemma {

/// Passes questions on and keeps reports to itself.
class Quietly final : public Progress {
 public:
  explicit Quietly(const Progress* outer) : outer_(outer) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override { return lemma::cancelled(outer_); }

 private:
  const Progress* outer_;
};

}  // namespace lemma
