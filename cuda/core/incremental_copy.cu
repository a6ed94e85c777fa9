/*
 * incremental_copy.cu: construction of a merged graph's device arrays from those of its base graph,
 * element by element as contract/derivation.h specifies.
 *
 * Blocks process tiles of a new array. For each tile they find the edits and breaks that apply to
 * its first and to its last element; these are mostly equal, and each element searches only between
 * them. Old vertex numbers, which are the values of targets, are in no order: for them a table
 * gives, for each block of numbers, the break that applies to its first number.
 *
 * Data derived from an array (prefixes, parts, reordered targets) is not updated here: a run makes
 * it from the copies, as it would from copies that it transferred itself.
 *
 * Bytes, for m edges of w bytes: 2wm; if vertices are renumbered, also 8 random bytes per edge,
 * from a table that fits in the L2 cache. For n vertices: 16n. Over the link: 40 per edit, 16 per
 * break.
 */
#include "cuda/core/incremental_copy.cuh"
#include "cuda/placement/placement_internal.cuh"
#include "cuda/access/traverse.cuh"

#include "contract/derivation.h"

/* whole lines of any type; the searches are per tile, so it must not be small */
#define TILE_ELEMENTS UINT64_C(8192)
#define BLOCKS_PER_UNIT 8
/* minimum number of blocks, if there are as many old numbers: a table of 256 KB */
#define NUMBER_BLOCKS (UINT64_C(1) << 16)
#define NUMBER_BLOCKS_PER_BREAK 16	/* so that few numbers share a block with a break */
#define MAX_DERIVED 6			/* offsets, targets, weights, for both orientations */

/* An orientation's edits, in device memory. */
typedef struct Edits
{
	const EmogiEdit *edit;		/* [count + 1] */
	uint64_t	count;
} Edits;

/* The breaks in the vertex numbering, in device memory. */
typedef struct Breaks
{
	const EmogiBreak *numbers;	/* [count + 1] */
	uint64_t	count;
	/*
	 * [blocks + 1], the break that applies to number i << bits; NULL = vertices keep their numbers
	 */
	const uint32_t *at_block;
	uint32_t	bits;
} Breaks;

/* ---- kernels ---- */

/* Fill the table of breaks by block of old numbers. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
derive_numbers_kernel(Breaks breaks, uint32_t *at_block, uint64_t nblocks)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i <= nblocks;
		 i += nthreads)
		at_block[i] = (uint32_t) emogi_derivation_break_of_old(breaks.numbers, 0, breaks.count,
															   i << breaks.bits);
}

/* Build offsets. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
derive_offsets_kernel(uint64_t *to, const uint64_t *from, uint64_t count, Edits edits,
					  Breaks breaks)
{
	for (uint64_t tile = blockIdx.x * TILE_ELEMENTS; tile < count;
		 tile += gridDim.x * TILE_ELEMENTS)
	{
		const uint64_t end = count - tile < TILE_ELEMENTS ? count : tile + TILE_ELEMENTS;
		const uint64_t first_edit = emogi_derivation_edit_before(edits.edit, 0, edits.count, tile);
		const uint64_t last_edit = emogi_derivation_edit_before(edits.edit, first_edit, edits.count,
																end - 1);
		const uint64_t first_break = emogi_derivation_break_of_new(breaks.numbers, 0, breaks.count,
																   tile);
		const uint64_t last_break = emogi_derivation_break_of_new(breaks.numbers, first_break,
																  breaks.count, end - 1);

		for (uint64_t v = tile + threadIdx.x; v < end; v += BLOCK_THREADS)
		{
			const uint64_t e = emogi_derivation_edit_before(edits.edit, first_edit, last_edit, v);
			const uint64_t b = emogi_derivation_break_of_new(breaks.numbers, first_break,
															 last_break, v);

			to[v] = __ldg(&from[emogi_derivation_old(&breaks.numbers[b], v)]) + edits.edit[e].shift;
		}
	}
}

/* How elements of the new array are computed: targets, or weights of a type. */
struct Targets
{
	Breaks		breaks;

	__device__ __forceinline__ uint32_t
	keep(uint32_t target) const
	{
		uint32_t	first;
		uint32_t	last;

		if (breaks.at_block == NULL)
			return target;
		first = __ldg(&breaks.at_block[target >> breaks.bits]);
		last = __ldg(&breaks.at_block[(target >> breaks.bits) + 1]);
		return emogi_derivation_number(&breaks.numbers[emogi_derivation_break_of_old(breaks.numbers,
																					 first, last,
																					 target)],
									   target);
	}

	__device__ __forceinline__ uint32_t
	insert(const EmogiEdit *edit) const
	{
		return edit->target;
	}
};

template <typename Weight>
struct Weights
{
	__device__ __forceinline__ Weight
	keep(Weight weight) const
	{
		return weight;
	}

	__device__ __forceinline__ Weight
	insert(const EmogiEdit *edit) const
	{
		return (Weight) edit->weight;	/* exactly representable in the type */
	}
};

/*
 * Build an array of edge values (targets or weights), and clear the rest of its last line, up to
 * `room`.
 */
template <typename Entry, class Map>
static __global__ void __launch_bounds__(BLOCK_THREADS)
derive_entries_kernel(Entry *to, const Entry *from, uint64_t count, uint64_t room, Edits edits,
					  Map map)
{
	for (uint64_t tile = blockIdx.x * TILE_ELEMENTS; tile < count;
		 tile += gridDim.x * TILE_ELEMENTS)
	{
		const uint64_t end = count - tile < TILE_ELEMENTS ? count : tile + TILE_ELEMENTS;
		const uint64_t first = emogi_derivation_edit_at(edits.edit, 0, edits.count, tile);
		const uint64_t last = emogi_derivation_edit_at(edits.edit, first, edits.count, end - 1);
		const uint64_t shift = edits.edit[first].shift;

		if (first == last && !emogi_derivation_is_inserted(&edits.edit[first], tile))
		{
#pragma unroll 8
			for (uint64_t i = tile + threadIdx.x; i < end; i += BLOCK_THREADS)
				to[i] = map.keep(__ldg(&from[i - shift]));
		}
		else
		{
			for (uint64_t i = tile + threadIdx.x; i < end; i += BLOCK_THREADS)
			{
				const EmogiEdit *edit =
					&edits.edit[emogi_derivation_edit_at(edits.edit, first, last, i)];

				to[i] = emogi_derivation_is_inserted(edit, i) ? map.insert(edit) :
					map.keep(__ldg(&from[i - edit->shift]));
			}
		}
		if (end == count && count + threadIdx.x < room)
			to[count + threadIdx.x] = 0;
	}
}

/* ---- plan ---- */

typedef enum DerivedKind
{
	DERIVED_OFFSETS,
	DERIVED_TARGETS,
	DERIVED_WEIGHTS
} DerivedKind;

/* An array to build. */
typedef struct Derived
{
	DerivedKind kind;
	int			side;			/* 0 = forward, 1 = backward */
	const void *from;			/* the base graph's copy */
	const void *array;			/* the new array in host memory, which is the copy's key */
	uint64_t	count;			/* elements */
	uint64_t	bytes;			/* whole lines for targets and weights */
	void	   *to;
} Derived;

typedef struct CopyPlan
{
	EmogiEngineState *state;
	EmogiControl *control;
	const EmogiGraph *old;
	const EmogiGraph *graph;
	const EmogiDerivation *derivation;
	DeviceMemory memory;		/* what crosses the link, then the arrays */
	int			narrays;
	Derived		arrays[MAX_DERIVED];
	Edits		edits[2];
	Breaks		breaks;
} CopyPlan;

/* Add an array to the plan if its base copy is cached. */
static void
add_array(CopyPlan *plan, DerivedKind kind, int side, const void *old, uint64_t old_bytes,
		  const void *array, uint64_t count, uint64_t bytes)
{
	const void *from = emogi_device_cache_use_other(plan->state, plan->old->id, old, old_bytes);

	if (from != NULL)
		plan->arrays[plan->narrays++] = Derived{kind, side, from, array, count, bytes, NULL};
}

/* Add those arrays of an orientation whose base copies are cached. */
static void
add_side(CopyPlan *plan, int side, const EmogiAdjacency *old, const EmogiAdjacency *lists)
{
	const EmogiGraph *graph = plan->graph;

	if (plan->derivation->edits[side] == NULL || old->offsets == NULL || lists->offsets == NULL)
		return;
	add_array(plan, DERIVED_OFFSETS, side, old->offsets, offset_bytes(plan->old), lists->offsets,
			  graph->nvertices + 1, offset_bytes(graph));
	if (old->nedges == 0 || lists->nedges == 0)
		return;
	add_array(plan, DERIVED_TARGETS, side, old->targets, target_bytes(old), lists->targets,
			  lists->nedges, target_bytes(lists));
	if (graph->weight_type == EMOGI_WEIGHT_NONE || graph->weight_type != plan->old->weight_type)
		return;
	add_array(plan, DERIVED_WEIGHTS, side, old->weights, weight_bytes(plan->old, old),
			  lists->weights, lists->nedges, weight_bytes(graph, lists));
}

/* Return whether targets are in the plan. */
static bool
makes_targets(const CopyPlan *plan)
{
	for (int i = 0; i < plan->narrays; i++)
		if (plan->arrays[i].kind == DERIVED_TARGETS)
			return true;
	return false;
}

/*
 * Choose the size of the blocks of numbers in the table; return the number of blocks, 0 if no table
 * is needed.
 */
static uint64_t
choose_number_blocks(CopyPlan *plan)
{
	const uint64_t last = plan->old->nvertices - 1;
	const uint64_t nbreaks = plan->derivation->nbreaks;

	if (!plan->derivation->renumbers || !makes_targets(plan))
		return 0;
	for (plan->breaks.bits = 0; last >> plan->breaks.bits >= NUMBER_BLOCKS &&
		 last >> plan->breaks.bits >= nbreaks * NUMBER_BLOCKS_PER_BREAK; plan->breaks.bits++)
		;
	return (last >> plan->breaks.bits) + 1;
}

/* ---- memory ---- */

/* Return the bytes of device memory needed for the whole plan. */
static uint64_t
needed_bytes(const CopyPlan *plan, uint64_t nblocks)
{
	const EmogiDerivation *derivation = plan->derivation;
	uint64_t	bytes = (derivation->nbreaks + 1) * sizeof(EmogiBreak) +
		(nblocks + 1) * sizeof(uint32_t);

	for (int side = 0; side < 2; side++)
		bytes += derivation->edits[side] != NULL ?
			(derivation->nedits[side] + 1) * sizeof(EmogiEdit) : 0;
	for (int i = 0; i < plan->narrays; i++)
		bytes += plan->arrays[i].bytes;
	return bytes;
}

/*
 * Ensure that the memory is available without any eviction, because nobody has requested the new
 * graph yet.
 */
static EmogiStatus
check_room(const CopyPlan *plan, uint64_t nblocks, EmogiError *error)
{
	const uint64_t headroom = plan->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	const uint64_t needed = needed_bytes(plan, nblocks) + headroom +
		emogi_device_cache_idle_bytes(plan->state);
	uint64_t	left;

	TRY(emogi_memory_left(&plan->memory, &left, error));
	if (needed > left)
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "there is no device memory for another copy of the graph",
								 "%llu bytes needed, %llu left", (unsigned long long) needed,
								 (unsigned long long) left);
	return EMOGI_OK;
}

/* Queue the copy of an array that describes the changes. */
template <typename T>
static EmogiStatus
send(CopyPlan *plan, const T **out, const T *from, uint64_t count, const char *what,
	 EmogiError *error)
{
	T		   *to;

	TRY(take_array(&plan->memory, &to, count, what, error));
	CUDA_TRY(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice,
							 plan->state->stream));
	*out = to;
	return EMOGI_OK;
}

/* Copy the changes to the device, and queue the kernel that fills the table of numbers. */
static EmogiStatus
send_changes(CopyPlan *plan, uint64_t nblocks, EmogiError *error)
{
	const EmogiDerivation *derivation = plan->derivation;
	uint32_t   *at_block;

	plan->breaks.count = derivation->nbreaks;
	TRY(send(plan, &plan->breaks.numbers, derivation->breaks, derivation->nbreaks + 1,
			 "breaks in the numbering", error));
	for (int side = 0; side < 2; side++)
	{
		plan->edits[side].count = derivation->nedits[side];
		if (derivation->edits[side] != NULL)
			TRY(send(plan, &plan->edits[side].edit, derivation->edits[side],
					 derivation->nedits[side] + 1, "edits", error));
	}
	if (nblocks == 0)
		return EMOGI_OK;
	TRY(take_array(&plan->memory, &at_block, nblocks + 1, "table of numbers", error));
	CUDA_LAUNCH(derive_numbers_kernel, BLOCKS_PER_UNIT * plan->state->units, BLOCK_THREADS,
				plan->state->stream, plan->breaks, at_block, nblocks);
	plan->breaks.at_block = at_block;
	return EMOGI_OK;
}

/* ---- arrays ---- */

/* Return the number of thread blocks for `count` elements. */
static int
blocks_for(const CopyPlan *plan, uint64_t count)
{
	const uint64_t max_blocks = (uint64_t) BLOCKS_PER_UNIT * plan->state->units;
	const uint64_t ntiles = (count + TILE_ELEMENTS - 1) / TILE_ELEMENTS;

	return (int) (ntiles < max_blocks ? ntiles : max_blocks);
}

/* Queue the kernel that builds edge values. */
template <typename Entry, class Map>
static EmogiStatus
make_entries(const CopyPlan *plan, const Derived *array, Map map, EmogiError *error)
{
	auto		kernel = derive_entries_kernel<Entry, Map>;

	CUDA_LAUNCH(kernel, blocks_for(plan, array->count), BLOCK_THREADS, plan->state->stream,
				(Entry *) array->to, (const Entry *) array->from, array->count,
				array->bytes / sizeof(Entry), plan->edits[array->side], map);
	return EMOGI_OK;
}

/* Queue the kernel that builds weights. */
static EmogiStatus
make_weights(const CopyPlan *plan, const Derived *array, EmogiError *error)
{
	switch (plan->graph->weight_type)
	{
		case EMOGI_WEIGHT_U8:
			return make_entries<uint8_t>(plan, array, Weights<uint8_t>(), error);
		case EMOGI_WEIGHT_U16:
			return make_entries<uint16_t>(plan, array, Weights<uint16_t>(), error);
		case EMOGI_WEIGHT_U32:
			return make_entries<uint32_t>(plan, array, Weights<uint32_t>(), error);
		case EMOGI_WEIGHT_F32:
			return make_entries<float>(plan, array, Weights<float>(), error);
		case EMOGI_WEIGHT_F64:
			return make_entries<double>(plan, array, Weights<double>(), error);
		case EMOGI_WEIGHT_NONE:
			break;
	}
	return emogi_device_fail(error, EMOGI_BAD_INPUT, "unknown type of weights", "number %d",
							 (int) plan->graph->weight_type);
}

/* Queue the kernel that builds an array. */
static EmogiStatus
make_array(const CopyPlan *plan, const Derived *array, EmogiError *error)
{
	switch (array->kind)
	{
		case DERIVED_OFFSETS:
			CUDA_LAUNCH(derive_offsets_kernel, blocks_for(plan, array->count), BLOCK_THREADS,
						plan->state->stream, (uint64_t *) array->to, (const uint64_t *) array->from,
						array->count, plan->edits[array->side], plan->breaks);
			break;
		case DERIVED_TARGETS:
			return make_entries<uint32_t>(plan, array, Targets{plan->breaks}, error);
		case DERIVED_WEIGHTS:
			return make_weights(plan, array, error);
	}
	return EMOGI_OK;
}

/* Build all arrays in the run's memory, the newest last. */
static EmogiStatus
make_arrays(CopyPlan *plan, EmogiError *error)
{
	const uint64_t nblocks = choose_number_blocks(plan);

	TRY(check_room(plan, nblocks, error));
	TRY(send_changes(plan, nblocks, error));
	for (int i = 0; i < plan->narrays; i++)
	{
		TRY(emogi_memory_take(&plan->memory, &plan->arrays[i].to, plan->arrays[i].bytes,
							  "derived array", error));
		TRY(make_array(plan, &plan->arrays[i], error));
	}
	return emogi_cuda_wait(plan->state, plan->control, error);
}

/* Derive all arrays whose base copies are cached. */
static EmogiStatus
derive_all(CopyPlan *plan, EmogiError *error)
{
	const EmogiGraph *old = plan->old;
	const EmogiGraph *graph = plan->graph;

	add_side(plan, 0, &old->forward, &graph->forward);
	add_side(plan, 1, &old->backward, &graph->backward);
	if (plan->narrays == 0)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "no array of the old graph is cached on the GPU", "%s", "");
	TRY(make_arrays(plan, error));
	for (int i = plan->narrays - 1; i >= 0; i--)
		emogi_device_cache_keep(plan->state, &plan->memory, plan->arrays[i].array, EMOGI_COPY_WHOLE,
								0);
	return EMOGI_OK;
}

EmogiStatus
emogi_incremental_copy(EmogiEngineState *state, const EmogiGraph *old, const EmogiGraph *graph,
					   const EmogiDerivation *derivation, EmogiControl *control, EmogiError *error)
{
	CopyPlan	plan = {};
	EmogiStatus status;

	if (control->cancel)
		return EMOGI_CANCELED;
	if (old->nvertices == 0 || graph->nvertices == 0 || derivation->breaks == NULL ||
		derivation->nbreaks >= UINT32_MAX)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "nothing of the graph can be derived",
								 "%llu vertices, now %llu", (unsigned long long) old->nvertices,
								 (unsigned long long) graph->nvertices);
	TRY(emogi_device_cache_begin_derived(state, old->id, graph, error));
	plan.state = state;
	plan.control = control;
	plan.old = old;
	plan.graph = graph;
	plan.derivation = derivation;
	plan.memory.state = state;
	plan.memory.fail_take = control->fail_device_allocation;
	status = derive_all(&plan, error);
	/* wait for kernels that use the memory freed below */
	(void) cudaStreamSynchronize(state->stream);
	emogi_memory_release(&plan.memory, 0);
	if (status != EMOGI_OK)
		emogi_device_cache_forget(state, graph->id);
	emogi_memory_trim(state, state->ready_bytes);
	return status;
}
