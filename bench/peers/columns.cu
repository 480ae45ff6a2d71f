// The same work by the CUDA driver and CUB, on the same rows: medians of 30, by CUDA events.
// Build where it runs: nvcc -O3 -arch=sm_90 columns.cu -o columns
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <cub/cub.cuh>

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

double median_milliseconds(const std::function<void()>& work) {
  cudaEvent_t begin;
  cudaEvent_t end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  for (int i = 0; i < 3; ++i) work();
  std::vector<float> times;
  for (int i = 0; i < 30; ++i) {
    check(cudaEventRecord(begin), "record");
    work();
    check(cudaEventRecord(end), "record");
    check(cudaEventSynchronize(end), "synchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
    times.push_back(milliseconds);
  }
  std::nth_element(times.begin(), times.begin() + 15, times.end());
  return times[15];
}

void report(const char* name, double milliseconds, double bytes) {
  std::printf("%-28s %8.4f ms %8.1f GB/s\n", name, milliseconds, bytes / milliseconds * 1e-6);
}

/// CUB's two calls: ask for scratch, then work.
template <class Call>
void time_cub(const char* name, double bytes, const Call& call) {
  std::size_t scratch_bytes = 0;
  check(call(nullptr, scratch_bytes), name);
  void* scratch = nullptr;
  check(cudaMalloc(&scratch, scratch_bytes), "scratch");
  report(name, median_milliseconds([&] { check(call(scratch, scratch_bytes), name); }), bytes);
  cudaFree(scratch);
}

__global__ void add(const float4* a, const float4* b, float4* out, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 x = a[i];
  const float4 y = b[i];
  out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::size_t rows = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : std::size_t{1} << 28;
  std::mt19937_64 engine(1);
  std::vector<std::uint32_t> words(rows);
  std::vector<float> floats(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    words[i] = static_cast<std::uint32_t>(engine());
    floats[i] = static_cast<float>(static_cast<std::int32_t>(words[i])) * 0x1p-31F;
  }
  std::uint32_t* word_column = nullptr;
  float* float_column = nullptr;
  float* other_column = nullptr;
  std::uint32_t* output = nullptr;
  check(cudaMalloc(&word_column, rows * 4), "memory");
  check(cudaMalloc(&float_column, rows * 4), "memory");
  check(cudaMalloc(&other_column, rows * 4), "memory");
  check(cudaMalloc(&output, rows * 4), "memory");
  check(cudaMemcpy(word_column, words.data(), rows * 4, cudaMemcpyHostToDevice), "upload");
  check(cudaMemcpy(float_column, floats.data(), rows * 4, cudaMemcpyHostToDevice), "upload");
  check(cudaMemcpy(other_column, floats.data(), rows * 4, cudaMemcpyHostToDevice), "upload");

  const double column = 4.0 * static_cast<double>(rows);
  report("cuda copy", median_milliseconds([&] { cudaMemcpyAsync(output, word_column, rows * 4, cudaMemcpyDeviceToDevice); }),
         2 * column);
  report("cuda add",
         median_milliseconds([&] {
           add<<<static_cast<unsigned>((rows / 4 + 255) / 256), 256>>>(
               reinterpret_cast<const float4*>(float_column), reinterpret_cast<const float4*>(other_column),
               reinterpret_cast<float4*>(output), rows / 4);
         }),
         3 * column);
  auto* float_output = reinterpret_cast<float*>(output);
  time_cub("cub sum float32", column, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, float_column, float_output, static_cast<std::int64_t>(rows));
  });
  time_cub("cub sum uint32", column, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, word_column, output, static_cast<std::int64_t>(rows));
  });
  time_cub("cub inclusive sum uint32", 2 * column, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, word_column, output, static_cast<std::int64_t>(rows));
  });
  time_cub("cub histogram uint32 256", column, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, word_column, output, 257, 0U, 0xffffffffU, static_cast<std::int64_t>(rows));
  });
  time_cub("cub histogram float32 256", column, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, float_column, output, 257, -1.0F, 1.0F, static_cast<std::int64_t>(rows));
  });
  check(cudaDeviceSynchronize(), "finish");
  return 0;
}
