// fuzz/model_fuzz.cpp: hostile model files, behind the checksum. What loads must predict a row and be written again.
#include <lemma/catalog.hpp>
#include <lemma/core/error.hpp>
#include <lemma/model/store.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lemma;
  try {
    const TrainedModel model = decode_body({data, size}, catalog(), "model");
    const Index width = model.model->width();
    if (width > 4096) return 0;
    model.model.predict(Matrix::Constant(1, width, 0.5));
    model.model->summary(model.names());
    encode(model);
  } catch (const Error&) {  // the file's fault, and it was told
  }
  return 0;
}
