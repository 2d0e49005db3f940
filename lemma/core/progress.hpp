// lemma/core/progress.hpp: how long work tells its caller where it is, and learns that it should stop.
#pragma once
#include <string_view>

namespace lemma {

/// Both functions may be called from any thread. Long work asks `cancelled` at least a few times a second and then
/// gives back what it has.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void report(double fraction, std::string_view message) = 0;
  virtual bool cancelled() const = 0;
};

inline bool cancelled(const Progress* progress) { return progress && progress->cancelled(); }
inline void report(Progress* progress, double fraction, std::string_view message) {
  if (progress) progress->report(fraction, message);
}

}  // namespace lemma
