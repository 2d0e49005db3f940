// lemma/core/environment.cpp
#include <unistd.h>

#include <atomic>
#include <lemma/core/environment.hpp>
#include <list>
#include <string_view>

namespace lemma {
namespace {

struct Kept {
  std::list<std::string> texts;
  std::vector<char*> list;
};

void put_in_force(char** list) { std::atomic_ref<char**>(environ).store(list); }

}  // namespace

OtherEnvironment::OtherEnvironment(const std::vector<Variable>& variables) : old_(environ) {
  static std::list<Kept> all;
  Kept& kept = all.emplace_back();
  for (const auto& [name, value] : variables) kept.list.push_back(kept.texts.emplace_back(name + "=" + value).data());
  for (char** each = old_; each && *each; ++each) {
    const std::string_view text(*each);
    bool is_other = false;
    for (const auto& [name, value] : variables) is_other = is_other || text.starts_with(name + "=");
    if (!is_other) kept.list.push_back(*each);
  }
  kept.list.push_back(nullptr);
  put_in_force(kept.list.data());
}

OtherEnvironment::~OtherEnvironment() { put_in_force(old_); }

}  // namespace lemma
