// lemma/bayes/naive_bayes/sums.cpp: what is counted in one pass, and the estimates that follow from it.
#include <cmath>
#include <lemma/bayes/naive_bayes/parts.hpp>
#include <limits>

namespace lemma::naive_bayes {

Layout::Layout(const std::vector<std::string>& kinds, const Labels& level_counts) : levels(level_counts) {
  for (std::size_t j = 0; j < levels.size(); ++j) {
    kind.push_back(static_cast<ColumnKind>(choose("naive_bayes: kinds", kinds[j], choices_of<ColumnKind>())));
    place.push_back(is(static_cast<Index>(j), ColumnKind::density) ? densities++ : -1);
    start.push_back(all_levels);
    all_levels += levels[j];
  }
}

double Layout::value(Index j, double x) const {
  if (is(j, ColumnKind::bernoulli)) return std::isnan(x) ? x : x > 0 ? 1 : 0;
  return x;
}

Sums::Sums(const Layout& of, Index classes)
    : layout(&of),
      counts(Vector::Zero(classes)),
      known(Matrix::Zero(classes, of.columns())),
      mean(known),
      squares(known),
      levels(Matrix::Zero(classes, of.all_levels)),
      values(at(classes * of.densities)) {}

namespace {

void append(std::vector<Values>& to, const std::vector<Values>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i].insert(to[i].end(), from[i].begin(), from[i].end());
}

/// visit(class, column, value, weight) for each value that is there; levels are counted apart.
void for_each_value(const Layout& layout, const Block& block, Vector* counts, Matrix* known, Matrix* levels,
                    const auto& visit) {
  for (Index i = 0; i < block.rows(); ++i) {
    const int k = block.label[at(i)];
    const double w = block.weight_of(i);
    if (k < 0 || !(w > 0)) continue;
    if (counts) (*counts)(k) += w;
    for (Index j = 0; j < layout.columns(); ++j) {
      const double v = layout.value(j, block.x(i, j));
      if (std::isnan(v)) continue;
      if (known) (*known)(k, j) += w;
      if (!layout.is(j, ColumnKind::categorical)) visit(k, j, v, w);
      else if (levels && v >= 0 && v < layout.levels[at(j)])
        (*levels)(k, layout.start[at(j)] + static_cast<Index>(v)) += w;
    }
  }
}

}  // namespace

/// Means first, then squares about them.
void Sums::accumulate(const Block& block) {
  Sums here(*layout, counts.size());
  for_each_value(*layout, block, &here.counts, &here.known, &here.levels, [&](Index k, Index j, double v, double w) {
    here.mean(k, j) += w * v;
    if (layout->place[at(j)] >= 0) here.values[at(k * layout->densities + layout->place[at(j)])].emplace_back(v, w);
  });
  for (Index k = 0; k < here.mean.rows(); ++k)
    for (Index j = 0; j < here.mean.cols(); ++j)
      if (here.known(k, j) > 0) here.mean(k, j) /= here.known(k, j);
  for_each_value(*layout, block, nullptr, nullptr, nullptr, [&](Index k, Index j, double v, double w) {
    here.squares(k, j) += w * (v - here.mean(k, j)) * (v - here.mean(k, j));
  });
  merge(here);
}

void Sums::merge(const Sums& other) {
  counts += other.counts;
  levels += other.levels;
  append(values, other.values);
  for (Index k = 0; k < mean.rows(); ++k)
    for (Index j = 0; j < mean.cols(); ++j) {
      const double a = known(k, j), b = other.known(k, j), n = a + b;
      if (!(b > 0)) continue;
      const double apart = other.mean(k, j) - mean(k, j);
      known(k, j) = n;
      mean(k, j) = a > 0 ? mean(k, j) + b / n * apart : other.mean(k, j);
      squares(k, j) += other.squares(k, j) + (a > 0 ? a * b / n * apart * apart : 0);
    }
}

double divisor(VarianceDivisor variance, double weight) {
  return variance == VarianceDivisor::ml ? weight : weight - 1;
}

Sums sums_of(const NaiveBayesModel& model, const Layout& layout) {
  Sums out(layout, model.class_count());
  out.counts = model.counts;
  out.known = model.known;
  out.mean = model.means;
  out.levels = model.level_weights;
  out.values = values_of(model, layout);
  for (Index k = 0; k < out.known.rows(); ++k)
    for (Index j = 0; j < out.known.cols(); ++j) {
      const double by = std::max(divisor(model.spec.variance, model.known(k, j)), 0.0), share = model.means(k, j);
      if (layout.is(j, ColumnKind::gaussian)) out.squares(k, j) = by * model.variances(k, j);
      if (layout.is(j, ColumnKind::bernoulli)) out.squares(k, j) = model.known(k, j) * share * (1 - share);
    }
  return out;
}

namespace {

struct ColumnMoment {
  double mean, variance;
};
/// Mean and variance (divisor n) of a column over the values of all classes.
ColumnMoment over_all_classes(const NaiveBayesModel& model, Index j) {
  const double n = model.known.col(j).sum();
  if (!(n > 0)) return {0, 0};
  const double mean = model.known.col(j).dot(model.means.col(j)) / n;
  double squares = 0;
  for (Index k = 0; k < model.class_count(); ++k) {
    const double apart = model.means(k, j) - mean;
    squares += std::max(divisor(model.spec.variance, model.known(k, j)), 0.0) * model.variances(k, j) +
               model.known(k, j) * apart * apart;
  }
  return {mean, squares / n};
}

}  // namespace

void finish(NaiveBayesModel& model, const Layout& layout) {
  const double alpha = model.spec.smoothing;
  const Index classes = model.class_count(), p = layout.columns();
  model.prior = prior_of(model.spec.prior, model.counts);
  model.parameters = model.deviations = Matrix::Zero(classes, p);
  model.level_probabilities = Matrix::Zero(classes, layout.all_levels);
  const std::vector<Values> values = values_of(model, layout);
  // Of each class, all counts of such columns, those given beforehand too; for complement those of the other classes.
  Vector counted = Vector::Zero(classes), counted_elsewhere = counted;
  for (Index j = 0; j < p; ++j) {
    if (!layout.is(j, ColumnKind::multinomial) && !layout.is(j, ColumnKind::complement)) continue;
    const Vector sums = model.known.col(j).cwiseProduct(model.means.col(j));
    if (layout.is(j, ColumnKind::multinomial)) counted += sums + Vector::Constant(classes, alpha);
    else counted_elsewhere += Vector::Constant(classes, sums.sum() + alpha) - sums;
  }
  for (Index j = 0; j < p; ++j) {
    const ColumnMoment all = over_all_classes(model, j);
    const double everywhere = all.mean * model.known.col(j).sum();
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::abs(all.mean);
    const double spread = all.variance > rounding * rounding ? all.variance : 1;  // of a constant: it tells nothing
    for (Index k = 0; k < classes; ++k) {
      const double n = model.known(k, j), sum = n * model.means(k, j);
      double& parameter = model.parameters(k, j);
      switch (layout.kind[at(j)]) {
        case ColumnKind::gaussian:
          parameter = model.means(k, j);
          model.deviations(k, j) = std::sqrt(model.variances(k, j) + model.spec.floor * spread);
          break;
        case ColumnKind::density:
          parameter = model.means(k, j);
          model.deviations(k, j) = bandwidth_of(values[at(k * layout.densities + layout.place[at(j)])]);
          break;
        case ColumnKind::bernoulli: parameter = (sum + alpha) / (n + 2 * alpha); break;
        case ColumnKind::poisson: parameter = (sum + alpha * all.mean) / (n + alpha); break;
        case ColumnKind::multinomial: parameter = (sum + alpha) / counted(k); break;
        case ColumnKind::complement:
          parameter = (std::max(everywhere - sum, 0.0) + alpha) / counted_elsewhere(k);
          break;
        case ColumnKind::categorical:
          for (Index l = 0; l < layout.levels[at(j)]; ++l) {
            const Index at_level = layout.start[at(j)] + l;
            model.level_probabilities(k, at_level) =
                (model.level_weights(k, at_level) + alpha) / (n + alpha * static_cast<double>(layout.levels[at(j)]));
          }
          break;
      }
    }
  }
}

// ---- A second look ----

Look::Look(const NaiveBayesModel& of, const Layout& by)
    : model(&of),
      layout(&by),
      counts(Vector::Zero(of.class_count())),
      known(Matrix::Zero(of.class_count(), by.columns())),
      shift(known),
      squares(known),
      levels(Matrix::Zero(of.class_count(), by.all_levels)),
      values(at(of.class_count() * by.densities)) {}

void Look::accumulate(const Block& block) {
  for_each_value(*layout, block, &counts, &known, &levels, [&](Index k, Index j, double v, double w) {
    const double d = v - model->means(k, j);
    shift(k, j) += w * d;
    squares(k, j) += w * d * d;
    if (layout->place[at(j)] >= 0) values[at(k * layout->densities + layout->place[at(j)])].emplace_back(v, w);
  });
}

void Look::merge(const Look& other) {
  counts += other.counts;
  known += other.known;
  shift += other.shift;
  squares += other.squares;
  levels += other.levels;
  append(values, other.values);
}

void Look::add(const Sums& past) {
  counts += past.counts;
  known += past.known;
  levels += past.levels;
  append(values, past.values);
  for (Index k = 0; k < shift.rows(); ++k)
    for (Index j = 0; j < shift.cols(); ++j) {
      const double d = past.mean(k, j) - model->means(k, j), n = past.known(k, j);
      shift(k, j) += n * d;
      squares(k, j) += past.squares(k, j) + n * d * d;
    }
}

}  // namespace lemma::naive_bayes
