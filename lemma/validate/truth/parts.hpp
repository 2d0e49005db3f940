// lemma/validate/truth/parts.hpp: what the files of truth share. Inner header.
#pragma once
#include <lemma/validate/truth.hpp>
#include <map>

namespace lemma::truths_of {

/// 'moons(noise=0.2)': the name and its numbers. Each number that is asked for is known by that; others are an Error.
class Call {
 public:
  explicit Call(const std::string& text);
  const std::string& name() const { return name_; }
  double number(const std::string& key, double usual, double least, double most);
  std::vector<double> numbers(const std::string& key, std::vector<double> usual);
  /// Error when a parameter was given that nobody asked for.
  void done() const;

 private:
  std::string text_, name_;
  std::map<std::string, std::vector<double>> given_;
  std::vector<std::string> asked_;
};

/// Those with classes along curves or cells, and those with numbers; nothing when there is no such name.
std::shared_ptr<Truth> shape_truth(Call& call);
std::shared_ptr<Truth> function_truth(Call& call);

}  // namespace lemma::truths_of
