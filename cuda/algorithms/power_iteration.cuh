/*
 * power_iteration.cuh: kernels of power iterations. power_iteration.cu describes the method and
 * launches them.
 */
#ifndef EMOGI_POWER_ITERATION_CUH
#define EMOGI_POWER_ITERATION_CUH

#include "cuda/algorithms/gather_finish.cuh"

/* Reductions over all vertices: sums or maxima. */
typedef struct Reductions
{
	double		of[3];
} Reductions;

/* Get the index of a vertex's value. */
static __device__ __forceinline__ uint64_t
value_index(const uint32_t *label, uint64_t v)
{
	return label != NULL ? label[v] : v;
}

/* Combine the results of two sets of vertices. The maximum of NaN and a number is the number. */
template <bool ADDS>
static __device__ __forceinline__ double
combine(double a, double b)
{
	return ADDS ? a + b : b > a ? b : a;
}

/* Reduce over the block in a fixed order, and write the result. Called by the whole block. */
template <bool ADDS>
static __device__ __forceinline__ void
write_reductions(Reductions own, Reductions *to)
{
	__shared__ Reductions warps[BLOCK_WARPS];

#pragma unroll
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
			own.of[i] = combine<ADDS>(own.of[i], __shfl_xor_sync(FULL_WARP, own.of[i], step));
	__syncthreads();
	if (lane_number() == 0)
		warps[threadIdx.x / WARP_LANES] = own;
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	for (uint32_t w = 1; w < BLOCK_WARPS; w++)
		for (uint32_t i = 0; i < 3; i++)
			own.of[i] = combine<ADDS>(own.of[i], warps[w].of[i]);
	*to = own;
}

/* Reduce the parts of the blocks, with one block. Bytes: 24 a part. */
template <bool ADDS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_reduce_kernel(const Reductions *part, uint32_t nparts, Reductions *to)
{
	Reductions	found = {};

	for (uint32_t k = threadIdx.x; k < nparts; k += BLOCK_THREADS)
#pragma unroll
		for (uint32_t i = 0; i < 3; i++)
			found.of[i] = combine<ADDS>(found.of[i], part[k].of[i]);
	write_reductions<ADDS>(found, to);
}

/* Fill an array with a value. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_fill_kernel(double *array, uint64_t nvertices, double value)
{
	for_each(nvertices, [&](uint64_t v) {
		array[v] = value;
	});
}

/*
 * KATZ: add the walks that are one edge longer. Found: most, largest and shrinks of EmogiKatzFound.
 * Bytes: 40 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_add_walks_kernel(Field field, double alpha, double *total, Reductions *part)
{
	Reductions	found = {};

	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		bool		filled;
		const double added = list_sum<double>(field, v, &filled);

		if (v < field.nvertices)
		{
			const uint64_t i = value_index(field.label, v);
			const double all = __ldcs(&total[v]) + added;
			const double share = alpha * added;

			found.of[0] = combine<false>(found.of[0], added);
			found.of[1] = combine<false>(found.of[1], all);
			found.of[2] = combine<false>(found.of[2], share < field.source[i] ? 1.0 : 0.0);
			__stcs(&total[v], all);
			field.source[i] = share;
		}
	}
	write_reductions<false>(found, &part[blockIdx.x]);
}

/* KATZ: sum the squares of total / largest. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_square_kernel(const double *total, uint64_t nvertices, double largest, Reductions *part)
{
	Reductions	found = {};

	for_each(nvertices, [&](uint64_t v) {
		found.of[0] += total[v] / largest * (total[v] / largest);
	});
	write_reductions<true>(found, &part[blockIdx.x]);
}

/* KATZ: scale the sums. Bytes: 16 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_scale_kernel(double *total, uint64_t nvertices, double factor)
{
	for_each(nvertices, [&](uint64_t v) {
		total[v] *= factor;
	});
}

/*
 * Compute the norm of the new values. EIGENVECTOR: the sum of squares of (old value + scale * list
 * sum). HITS: the sum of the list sums. Bytes: 8 of sums a list; EIGENVECTOR 8 of values a vertex.
 */
template <bool EIGEN>
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_measure_kernel(Field field, double scale, Reductions *part)
{
	Reductions	found = {};

	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		bool		filled;
		double		sum = list_sum<double>(field, v, &filled);

		if (EIGEN && v < field.nvertices)
			sum = field.source[value_index(field.label, v)] + scale * sum;
		found.of[0] += EIGEN ? sum * sum : sum;
	}
	write_reductions<true>(found, &part[blockIdx.x]);
}

/*
 * Divide the new values by their norm, and write them to `to`, by `label`. Found: the change, for
 * EIGENVECTOR the maximum, for HITS the sum. Bytes: 8 of sums a list, 16 of values a vertex.
 */
template <bool EIGEN>
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_divide_kernel(Field field, double scale, const Reductions *measured, double *to,
					 const uint32_t *label, Reductions *part)
{
	const double by = EIGEN ? sqrt(measured->of[0]) : measured->of[0];
	Reductions	found = {};

	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		bool		filled;
		const double sum = list_sum<double>(field, v, &filled);

		if (v < field.nvertices)
		{
			const uint64_t i = value_index(label, v);
			const double old = to[i];
			const double value = EIGEN ? (old + scale * sum) / by : by > 0.0 ? sum / by : 0.0;

			found.of[0] = combine<!EIGEN>(found.of[0], fabs(value - old));
			to[i] = value;
		}
	}
	write_reductions<!EIGEN>(found, &part[blockIdx.x]);
}

/* Write values in the order of vertices. Bytes: 20 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
powers_collect_kernel(Field field, double *to)
{
	for_each(field.nvertices, [&](uint64_t v) {
		to[v] = field.source[field.label[v]];
	});
}

#endif							/* EMOGI_POWER_ITERATION_CUH */
