// The peer of allreduce_bench: MPI_Allreduce over the same sizes, float32, sums; or over a list of tensors, in the same
// order on every rank, as MPI wants it. One JSON object a line, from rank 0.
//
//   mpirun --allow-run-as-root --oversubscribe --bind-to none --mca btl self,vader -np 8
//     openmpi_allreduce_mpi --bytes 8,4K,64M --budget 0.2
//   ... --tensors resnet50 --iterations 10
#include <mpi.h>

#include <cstdio>
#include <memory>

#include "allreduce/tensors.hpp"
#include "measurement.hpp"

namespace {

using namespace dfccl::bench;

constexpr const char* kUsage =
    "openmpi_allreduce_mpi [--bytes SIZES] [--budget SECONDS] | --tensors resnet50|BYTESxCOUNT,... [--iterations N]\n";

int rank, ranks;

uint64_t sumOverRanks(uint64_t mine) {
  uint64_t sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return sum;
}

void allReduce(const Tensor& in, Tensor& out) {
  MPI_Allreduce(in.data.get(), out.data.get(), static_cast<int>(in.count()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void measureSize(uint64_t bytes, double budgetSeconds) {
  Tensor in(bytes), out(bytes);
  in.fill(static_cast<uint32_t>(rank));
  const auto repeat = [&](int n) {
    for (int i = 0; i < n; ++i) allReduce(in, out);
  };
  // All ranks must agree on how often: rank 0's estimate decides.
  repeat(5);
  double once = 0;
  for (int n = 4; n <= 4096; n *= 4) {
    const double begin = nowMicros();
    repeat(n);
    once = (nowMicros() - begin) / n;
    int isEnough = once * n > 500;
    MPI_Bcast(&isEnough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (isEnough) break;
  }
  BatchPlan plan = planBatches(once, budgetSeconds);
  MPI_Bcast(&plan, sizeof plan, MPI_BYTE, 0, MPI_COMM_WORLD);
  std::vector<double> batches;
  for (int b = 0; b < plan.batches; ++b) {
    const double begin = nowMicros();
    repeat(plan.perBatch);
    batches.push_back((nowMicros() - begin) / plan.perBatch);
  }
  std::memset(out.data.get(), 0, bytes);
  repeat(1);
  const uint64_t wrong = sumOverRanks(out.wrong(static_cast<uint32_t>(ranks)));
  if (rank != 0) return;
  const Timing t = summarize(std::move(batches), long{plan.perBatch} * plan.batches);
  std::printf(
      "{\"engine\":\"openmpi\",\"ranks\":%d,\"bytes\":%llu,\"us\":%.3f,\"bestUs\":%.3f,\"repetitions\":%ld,\"wrong\":"
      "%llu}\n",
      ranks, static_cast<unsigned long long>(bytes), t.medianMicros, t.bestMicros, t.repetitions,
      static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
}

void measureTensors(const std::vector<uint64_t>& sizes, int iterations) {
  std::vector<std::unique_ptr<Tensor>> in, out;
  for (const uint64_t bytes : sizes) {
    in.push_back(std::make_unique<Tensor>(bytes));
    out.push_back(std::make_unique<Tensor>(bytes));
    in.back()->fill(static_cast<uint32_t>(rank));
  }
  std::vector<double> times;
  for (int i = 0; i <= iterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = nowMicros();
    for (size_t t = 0; t < sizes.size(); ++t) allReduce(*in[t], *out[t]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i != 0) times.push_back(nowMicros() - begin);  // the first warms up
  }
  uint64_t wrong = 0;
  for (const auto& tensor : out) wrong += tensor->wrong(static_cast<uint32_t>(ranks));
  wrong = sumOverRanks(wrong);
  if (rank != 0) return;
  const Timing t = summarize(std::move(times), iterations);
  std::printf(
      "{\"engine\":\"openmpi\",\"ranks\":%d,\"tensors\":%zu,\"us\":%.1f,\"bestUs\":%.1f,\"repetitions\":%ld,\"wrong\":"
      "%llu}\n",
      ranks, sizes.size(), t.medianMicros, t.bestMicros, t.repetitions, static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Arguments arguments(argc, argv, {"bytes", "budget", "tensors", "iterations"}, kUsage);
  if (arguments.has("tensors")) {
    measureTensors(parseTensors(arguments.text("tensors", "")), static_cast<int>(arguments.number("iterations", 10)));
  } else {
    for (const uint64_t bytes : parseSizes(arguments.text("bytes", "8,4K,64K,1M"))) {
      measureSize(bytes, arguments.number("budget", 0.2));
    }
  }
  MPI_Finalize();
}
