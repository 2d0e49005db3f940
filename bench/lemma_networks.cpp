// bench/lemma_networks.cpp: Lemma's side of the workloads about networks.
#include "lemma_job.hpp"

namespace lemma::bench {
namespace {

struct Digits {
  Matrix x, later;
  Labels y, later_y;
  MemoryRows rows;

  explicit Digits(const Job& task, Index count = 60'000)
      : x(task.matrix("mlp_X.npy").topRows(count)),
        later(task.matrix("mlp_Xt.npy")),
        y(labels(task.matrix("mlp_y.npy").topRows(count))),
        later_y(labels(task.matrix("mlp_yt.npy"))),
        rows(x) {
    rows.labels(y, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
  }
  static Labels labels(const Matrix& column) { return {column.data(), column.data() + column.rows()}; }
};

/// The share of new rows that is wrong.
double error_of(const auto& model, const Digits& data) {
  const Labels said = model.classify(data.later);
  double wrong = 0;
  for (std::size_t i = 0; i < said.size(); ++i) wrong += said[i] != data.later_y[i];
  return wrong / static_cast<double>(said.size());
}

Mlp dense() {
  Mlp out;
  out.layers = {256};
  out.activation = neural::Activation::relu;
  out.solver = neural::Solver::adam;
  out.step = 0.001;
  out.batch = 128;
  out.epochs = 1;
  out.decay = 0;
  out.standardize = false;
  return out;
}

Value mlp(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Digits data(task);
  const auto model = timed(out, [&] { return fit(Valid<Mlp>(dense()), data.rows, task.options); });
  quality.set("test_error", error_of(model, data));
  out.set("quality", quality);
  return out;
}

Value mlp_predict(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Digits data(task);
  const auto model = fit(Valid<Mlp>(dense()), data.rows, task.options);
  const Matrix said = timed(out, [&] {
    Matrix p(data.x.rows(), 10);  // as the tool does: in blocks of rows
    parallel_for((data.x.rows() + 1023) / 1024, task.execution(), [&](Index b) {
      const Index first = b * 1024, count = std::min<Index>(1024, data.x.rows() - first);
      p.middleRows(first, count) = model.probabilities(data.x.middleRows(first, count));
    });
    return p;
  });
  quality.set("largest", said.rowwise().maxCoeff().mean());
  out.set("quality", quality);
  return out;
}

Value cnn(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Digits data(task, 10'000);
  Cnn spec;
  spec.layers = "conv(8, 3x3) relu pool(2x2) conv(16, 3x3) relu pool(2x2) dense(64) relu";
  spec.image = "28x28";
  spec.solver = neural::Solver::adam;
  spec.step = 0.001;
  spec.batch = 128;
  spec.epochs = 3;
  spec.decay = 0;
  spec.standardize = false;
  const auto model = timed(out, [&] { return fit(Valid<Cnn>(spec), data.rows, task.options); });
  quality.set("test_error", error_of(model, data));
  out.set("quality", quality);
  return out;
}

Value list_of(const std::vector<Index>& rows) {
  Vector out(std::ssize(rows));
  for (Index i = 0; i < out.size(); ++i) out(i) = static_cast<double>(rows[static_cast<std::size_t>(i)]);
  return out;
}

/// For bench/epochs.py: what a training by batches begins with, in which order it takes the rows, and the loss of each epoch.
Value epochs(const Job&) {
  using namespace neural;
  Value out = Value::object();
  Examples all{normal_matrix(1000, 12, 5, 1), Matrix::Zero(1000, 3), Vector::Ones(1000)},
      none{Matrix(0, 12), Matrix(0, 3), Vector(0)};
  for (Index i = 0; i < 1000; ++i) all.targets(i, all.x(i, 0) * all.x(i, 1) > 0.3 ? 2 : all.x(i, 2) > 0 ? 1 : 0) = 1;
  const Network net = dense_network({12, 20, 8, 3}, Activation::relu, Loss::cross_entropy);
  const Vector start = net.initial(Init::he, RandomStream(3));
  const RandomStream order(7, 1);
  out.set("x", all.x);
  out.set("targets", all.targets);
  out.set("start", start);
  Value orders = Value::object(), losses = Value::object();
  for (int epoch = 0; epoch < 10; ++epoch) {
    RandomStream shuffled = order.split(static_cast<std::uint64_t>(epoch));
    orders.set(std::to_string(epoch), list_of(permutation(shuffled, 1000)));
  }
  for (const Precision precision : {Precision::full, Precision::single}) {
    Value of_precision = Value::object();
    for (const Solver solver : {Solver::sgd, Solver::nesterov, Solver::adam, Solver::rmsprop}) {
      const TrainingOptions how{
          .solver = solver, .epochs = 10, .batch = 64, .step = 0.01, .fade = 0.1, .momentum = 0.9};
      const neural::Objective objective(net, all, 0.5, {}, nullptr, precision);
      of_precision.set(name_of(solver),
                       train_by_batches(objective, none, start, how, order, RandomStream(7, 2)).training);
    }
    losses.set(name_of(precision), of_precision);
  }
  out.set("orders", orders);
  out.set("losses", losses);
  return out;
}

}  // namespace

Workloads network_workloads() { return {{"mlp", mlp}, {"mlp_predict", mlp_predict}, {"cnn", cnn}, {"epochs", epochs}}; }

}  // namespace lemma::bench
