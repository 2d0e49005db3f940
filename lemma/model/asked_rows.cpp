// lemma/model/asked_rows.cpp
#include <lemma/model/asked_rows.hpp>
#include <lemma/model/threshold.hpp>

namespace lemma {
namespace {

/// A model says whether it can by what it says of no rows at all.
bool stays_sparse(const AnyModel& model, const Rows& rows, PredictOptions options, bool threshold) {
  const Csr* x = rows.sparse();
  if (!x || rows.has_offset || x->width != model->width()) return false;
  if (threshold && !options.asks(kProbabilitiesPart)) options.what.emplace_back(kProbabilitiesPart.name);
  Csr none;
  none.start = {0};
  none.width = x->width;
  return model->predict_sparse(none, options, {}).has_value();
}

}  // namespace

AskedRows::AskedRows(const AnyModel& model, const Rows& rows, PredictOptions options, std::optional<double> threshold)
    : model_(model),
      rows_(rows),
      options_(std::move(options)),
      threshold_(threshold),
      stays_sparse_(stays_sparse(model, rows, options_, threshold.has_value())) {}

AskedRows::Answer AskedRows::operator()(Index first, Index size, BlockBuffer& buffer) const {
  const Block block = stays_sparse_ ? rows_.outcome(first, size, buffer) : rows_.read(first, size, buffer);
  const auto ask = [&](const PredictOptions& options) {
    if (!stays_sparse_) return model_.predict(block.x, options);
    Execution here;
    here.threads = 1;  // others ask about other rows meanwhile
    return model_->predict_sparse(some_rows(*rows_.sparse(), first, size), options, here).value();
  };
  PredictOptions options = options_;
  options.offset = block.offset;
  return {threshold_ ? predict_at_threshold(model_, *threshold_, options, ask) : ask(options), block};
}

Index AskedRows::together() const { return stays_sparse_ ? block_rows(Index{0}) : block_rows(rows_); }

}  // namespace lemma
