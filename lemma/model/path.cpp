// lemma/model/path.cpp
#include <cmath>
#include <lemma/model/path.hpp>

namespace lemma {

void Codec<PathNumbers>::read(PathNumbers& field, const Value& value, const std::string& where) {
  if (value.is_number() || value.is_null()) field.of = Vector::Constant(1, value.as_double());
  else field.of = value.as_vector(where);
}

void Codec<PathMatrix>::read(PathMatrix& field, const Value& value, const std::string& where) {
  if (value.is_array() && value.as_array(where).shape.size() == 1) field.of = value.as_vector(where).transpose();
  else field.of = value.as_matrix(where);
}

std::vector<double> lambda_path(double largest, int count, double ratio) {
  std::vector<double> path;
  for (int k = 0; k < count; ++k)
    path.push_back(k == 0 ? largest : largest * std::pow(ratio, static_cast<double>(k) / (count - 1)));
  return path;
}

}  // namespace lemma
