/*
 * gather_finish.cuh: kernels that compute the new values of vertices from the sums of their lists.
 * semiring_sum.cu describes the method.
 */
#ifndef EMOGI_GATHER_FINISH_CUH
#define EMOGI_GATHER_FINISH_CUH

#include "cuda/algorithms/semiring_sum.cuh"

/*
 * Get the sum of a vertex's list over all segments, and whether the list is nonempty. The lanes
 * have the 32 vertices of a word.
 */
template <typename Value>
static __device__ __forceinline__ Value
list_sum(const Field &field, uint64_t v, bool *filled)
{
	Value		sum = 0;

	*filled = false;
	for (uint64_t w = v / 32; w < field.list_index.nwords; w += field.nwords)
	{
		const uint32_t word = field.list_index.filled[w];

		if (word >> lane_number() & 1)
		{
			sum += __ldcs((const Value *) field.sum + field.list_index.word_rank[w] +
						  __popc(word & lanes_below()));
			*filled = true;
		}
	}
	return sum;
}

/* Combine the changes of two sets of vertices; NaN is preserved. */
template <bool L1>
static __device__ __forceinline__ double
join_changes(double a, double b)
{
	return L1 ? a + b : a > b || a != a ? a : b;
}

/* Get the change of a value; 0 if both are NaN. */
static __device__ __forceinline__ double
change_of(double old, double value)
{
	return value == old || (value != value && old != old) ? 0 : fabs(value - old);
}

/*
 * Reduce over the block in a fixed order. The first thread gets the result. Called by the whole
 * block.
 */
template <bool L1>
static __device__ __forceinline__ Outcome
block_outcome(Outcome own)
{
	__shared__ Outcome warps[BLOCK_WARPS];

#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		own.change = join_changes<L1>(own.change, __shfl_xor_sync(FULL_WARP, own.change, step));
		own.dangling += __shfl_xor_sync(FULL_WARP, own.dangling, step);
	}
	__syncthreads();
	if (lane_number() == 0)
		warps[threadIdx.x / WARP_LANES] = own;
	__syncthreads();
	if (threadIdx.x == 0)
		for (uint32_t i = 1; i < BLOCK_WARPS; i++)
		{
			own.change = join_changes<L1>(own.change, warps[i].change);
			own.dangling += warps[i].dangling;
		}
	return own;
}

/*
 * Set the new value of every vertex, or 1/n at the START. Bytes: 8 of sums a list and 1/4 of the
 * ListIndex, 16 of values a vertex; PAGERANK 8 of degrees; CIRCUIT 8 of conductances.
 */
template <class Application, bool START>
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather_finish_kernel(Field field)
{
	Outcome		outcome = {0, 0};

	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const bool	there = v < field.nvertices;
		const uint64_t degree = there ? Application::degree(field, v) : 0;
		double		value = 1.0 / (double) field.nvertices;

		if (!START)
		{
			const double old = there ? Application::load(field, v, degree) : 0;
			bool		filled;
			const double sum = list_sum<double>(field, v, &filled);

			value = there ? Application::finish(field, v, old, sum, filled) : 0;
			outcome.change = join_changes<Application::L1>(outcome.change, change_of(old, value));
		}
		if (there)
			outcome.dangling += Application::store(field, v, degree, value);
	}
	outcome = block_outcome<Application::L1>(outcome);
	if (threadIdx.x == 0)
		field.part[blockIdx.x] = outcome;
}

/* Reduce the parts of the blocks, with one block. Bytes: 16 a part. */
template <bool L1>
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather_reduce_kernel(Field field, uint32_t nparts)
{
	Outcome		outcome = {0, 0};

	for (uint32_t i = threadIdx.x; i < nparts; i += BLOCK_THREADS)
	{
		outcome.change = join_changes<L1>(outcome.change, field.part[i].change);
		outcome.dangling += field.part[i].dangling;
	}
	outcome = block_outcome<L1>(outcome);
	if (threadIdx.x == 0)
		*field.outcome = outcome;
}

/* Write the ranks of PAGERANK over the sums. Bytes: 24 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather_collect_ranks_kernel(Field field)
{
	for_each(field.nvertices, [&](uint64_t v) {
		field.sum[v] = PageRank::load(field, v, PageRank::degree(field, v));
	});
}

/*
 * Store the gathered conductances. A vertex with a start value is fixed; the others start from 0.
 * Bytes: 24 a vertex, and the sums it reads.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
gather_start_fixed_kernel(Field field)
{
	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		bool		filled;
		const double sum = list_sum<double>(field, v, &filled);

		if (v < field.nvertices && field.value[v] == field.value[v])
			field.conductance[v] = (double) NAN;
		else if (v < field.nvertices)
		{
			field.conductance[v] = sum;
			field.value[v] = 0;
		}
	}
}

#endif							/* EMOGI_GATHER_FINISH_CUH */
