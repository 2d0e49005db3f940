// lemma/tree/boost/predict.cpp: what a boosted model says of rows: a block of them through one tree at a time.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/tree/boost.hpp>
#include <lemma/tree/boost/linear.hpp>
#include <lemma/tree/shared/shap.hpp>

namespace lemma {
namespace {

constexpr Index kBlock = 512;  // rows whose columns, and one tree, stay in the cache

/// visit(first row, rows, tree or step, what it adds to the score of each)
void for_each_step(const BoostModel& model, const MatrixView& x, const auto& visit) {
  std::vector<std::int32_t> place(at(kBlock));
  std::vector<double> adds(at(kBlock));
  const bool lines = model.spec.base == BoostBase::linear;
  const Index steps = model.used_rounds * model.outputs();
  for (Index first = 0; first < x.rows(); first += kBlock) {
    const Index count = std::min(kBlock, x.rows() - first);
    const auto block = x.middleRows(first, count);
    for (Index t = 0; t < steps; ++t) {
      if (lines) {
        for (Index i = 0; i < count; ++i) adds[at(i)] = boost::line_at(model, t, boost::row_of(block, i));
      } else {
        model.trees.leaves_of(block, t, place);
        for (Index i = 0; i < count; ++i) adds[at(i)] = model.values(model.trees[place[at(i)]].column);
      }
      visit(first, count, t, adds);
    }
  }
}

}  // namespace

Matrix BoostModel::scores(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out = start.transpose().replicate(x.rows(), 1);
  for_each_step(*this, x, [&](Index first, Index count, Index t, const std::vector<double>& adds) {
    double* to = out.data() + first * outputs() + t % outputs();
    for (Index i = 0; i < count; ++i, to += outputs()) *to += adds[at(i)];
  });
  return out;
}

Vector BoostModel::predict(const MatrixView& x) const {
  require(classes == 0, "boost: the model was fitted to classes");
  const boost::Loss rule = loss();
  return scores(x).col(0).unaryExpr([&](double f) { return rule.mean_of(f); });
}

namespace {

/// Probabilities of all classes from the scores of a row.
void probabilities_of(const boost::Loss& loss, const double* scores, double* out) {
  if (loss.outputs() > 1) return boost::softmax(scores, loss.classes, out);
  out[1] = loss.mean_of(scores[0]);
  out[0] = loss.mean_of(-scores[0]);
  const double sum = out[0] + out[1];
  out[0] /= sum;
  out[1] /= sum;
}

}  // namespace

Matrix BoostModel::probabilities(const MatrixView& x) const {
  require(classes > 0, "boost: the model was fitted to numbers");
  const Matrix f = scores(x);
  Matrix out(x.rows(), classes);
  for (Index i = 0; i < x.rows(); ++i) probabilities_of(loss(), &f(i, 0), &out(i, 0));
  return out;
}

Labels BoostModel::classify(const MatrixView& x) const {
  require(classes > 0, "boost: the model was fitted to numbers");
  const Matrix f = scores(x);
  Labels out(at(x.rows()));
  for (Index i = 0; i < x.rows(); ++i)
    out[at(i)] =
        outputs() == 1 ? f(i, 0) > 0 : static_cast<int>(std::max_element(&f(i, 0), &f(i, 0) + outputs()) - &f(i, 0));
  return out;
}

NamedMatrix BoostModel::staged(const MatrixView& x) const {
  require_width(*this, x.cols());
  const boost::Loss rule = loss();
  const Index each = classes > 2 ? classes : 1;  // of two classes the probability of the second
  NamedMatrix out{Matrix(x.rows(), used_rounds * each), {}};
  for (Index r = 0; r < used_rounds; ++r)
    for (Index k = 0; k < each; ++k)
      out.columns.push_back(each == 1 ? fmt::format("staged_{}", r + 1) : fmt::format("staged_{}_{}", r + 1, k + 1));
  Matrix f = start.transpose().replicate(x.rows(), 1);
  std::vector<double> p(at(std::max<Index>(classes, 1)));
  for_each_step(*this, x, [&](Index first, Index count, Index t, const std::vector<double>& adds) {
    for (Index i = 0; i < count; ++i) f(first + i, t % outputs()) += adds[at(i)];
    if (t % outputs() + 1 < outputs()) return;
    const Index round = t / outputs();
    for (Index i = first; i < first + count; ++i) {
      if (classes == 0) p[0] = rule.mean_of(f(i, 0));
      else probabilities_of(rule, &f(i, 0), p.data());
      for (Index k = 0; k < each; ++k) out.values(i, round * each + k) = classes == 2 ? p[1] : p[at(k)];
    }
  });
  return out;
}

Matrix BoostModel::shap(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out = Matrix::Zero(x.rows(), outputs() * width());
  if (spec.base == BoostBase::linear) {
    boost::add_shap(*this, x, out);
    return out;
  }
  const TreeShap explained(trees, values, cover);
  for (Index t = 0; t < trees.trees(); ++t)
    for (Index i = 0; i < x.rows(); ++i) explained.add(t, boost::row_of(x, i), &out(i, t % outputs() * width()));
  return out;
}

Matrix BoostModel::shap_base(const MatrixView& x) const {
  require_width(*this, x.cols());
  Vector base = start;
  if (spec.base == BoostBase::linear) {
    base += boost::shap_base(*this);
  } else {
    const TreeShap explained(trees, values, cover);
    for (Index t = 0; t < trees.trees(); ++t) base(t % outputs()) += explained.base(t);
  }
  return base.transpose().replicate(x.rows(), 1);
}

Matrix BoostModel::leaf(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix out(x.rows(), spec.base == BoostBase::tree ? trees.trees() : 0);
  for (Index t = 0, before = 0; t < out.cols(); ++t) {
    for (Index i = 0; i < x.rows(); ++i)
      out(i, t) =
          static_cast<double>(static_cast<Index>(trees[trees.leaf_of(boost::row_of(x, i), t)].column) - before + 1);
    const Index end = t + 1 < trees.trees() ? trees.roots[at(t + 1)] : trees.size();
    before += (end - trees.roots[at(t)] + 1) / 2;
  }
  return out;
}

}  // namespace lemma
