// lemma/core/environment.hpp: variables of the environment for a while, beside threads that read it.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace lemma {

/// While it lives, getenv() finds these values. setenv() would move or free what getenv() is just reading in another thread;
/// here a second list of variables takes the place of the first, which stays as it is. Lists are kept for good, since somebody
/// may be reading one that is no longer in force: for a few loads of libraries, not for loops. One at a time.
class OtherEnvironment {
 public:
  using Variable = std::pair<std::string, std::string>;
  explicit OtherEnvironment(const std::vector<Variable>& variables);
  ~OtherEnvironment();
  OtherEnvironment(const OtherEnvironment&) = delete;
  OtherEnvironment& operator=(const OtherEnvironment&) = delete;

 private:
  char** old_;
};

}  // namespace lemma
