// A program outside the repository: it knows Lemma only through what was installed.
#include <cstdio>
#include <lemma/core/error.hpp>
#include <lemma/data/embedded.hpp>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lemma::embedded::file_count; ++i) names.push_back(lemma::embedded::files[i].name);
  const std::string answer = lemma::nearest("irsi", names);
  std::printf("%zu data sets; irsi is %s\n", names.size(), answer.c_str());
  return answer == "iris" ? 0 : 1;
}
