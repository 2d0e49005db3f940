// lemma/neural/shared/checkpoint.hpp: a file from which a fit that was ended goes on with the same bits.
#pragma once
#include <lemma/neural/shared/trained.hpp>

namespace lemma::neural {

/// Starts that are done, and where the one at work stands.
struct SoFar {
  std::vector<double> ends, errors;
  Course kept;  // of the best of them
  std::optional<Snapshot> snapshot;
};

/// It belongs to one plan on one set of rows by one seed, and tells them by a fingerprint. More epochs may be asked of it than before
/// where there is one start.
class Checkpoint {
 public:
  /// `given`: weights that the first start was told to begin with, or none.
  Checkpoint(const Plan& plan, const Prepared& data, std::int64_t seed, const Vector& given);
  /// Nothing done, where there is no such file; Error where it is another's or is damaged, naming it.
  SoFar read() const;
  void write(const SoFar& so_far, const Snapshot& snapshot) const;

 private:
  std::string path_;
  std::string_view method_;
  std::uint64_t fingerprint_;
  Index weights_;
  long long epochs_;
  std::size_t restarts_;
};

}  // namespace lemma::neural
