/*
 * shards_build.cu: construction of shards and windows from a graph's lists, on the device.
 *
 * Method. Entries are counted by shard, which gives the beginning of each shard. They are then
 * processed piece by piece: a piece is filled from the lists, in order (over the link in host
 * placement, in whole lines, each twice in all), sorted by shard with a stable radix sort, and
 * appended to its shards. For paths, lists follow the direction of the edges: the sources of a
 * piece ascend, and so do those of a shard in the end. Otherwise (against the edges, or in both
 * directions) each shard is sorted by source afterwards, as many shards at a time as fit in a
 * piece. WINDOWS repeat this by the shard of the source: the positions of a shard's entries are in
 * order, one window after the other ([1], section 3.2). So the structure depends on the graph
 * alone.
 *
 * Bytes: 32 and the weight for each entry of a piece, and the sort's work space, in addition to the
 * structure and the graph's copy; pieces are smaller if memory is short. If a shard is larger than
 * a piece and must be sorted, the piece is made as large as the shard.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 * GPUs. HPDC 2014.
 */
#include "cuda/papers/shards_build.cuh"

#include <stdlib.h>

#define ARRAY_ALIGN 256
#define STATIC_BYTES 1024		/* of shared memory, for a kernel's variables beside the shard */

typedef void (*FillKernel) (Edges edges, Span span, Transit transit, uint32_t width,
							unsigned long long *degree, Step step);

/* State of the construction. */
typedef struct Build
{
	Run		   *run;
	const ShardWants *wants;
	Shards	   *shards;
	uint64_t   *link_bytes;
	FillKernel	fill;
	uint32_t	edge_width;		/* bytes per list entry, including its weight */
	/* [nentries], of each entry; in WINDOWS it is stored where the values will be */
	uint32_t   *source;
	uint64_t   *ends;			/* [nshards + 1], host memory: beginnings of shards */
	Transit		transit;
} Build;

/* Return the kernel that fills a piece from lists with weights of a type. */
static FillKernel
choose_fill(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		return (FillKernel) shards_fill_edges_kernel<decltype(weight)>;
	});
}

/* Get the shared memory that a block may use, so that SHARD_BLOCKS fit in a multiprocessor. */
static EmogiStatus
find_shared_bytes(const Run *run, uint32_t *bytes, EmogiError *error)
{
	const int	device = run->state->device;
	int			block_bytes;
	int			unit_bytes;
	int			reserved;
	int			max_bytes;

	CUDA_TRY(cudaDeviceGetAttribute(&block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
	CUDA_TRY(cudaDeviceGetAttribute(&unit_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
									device));
	CUDA_TRY(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
	max_bytes = unit_bytes / SHARD_BLOCKS - reserved;
	*bytes = (uint32_t) (max_bytes < block_bytes ? max_bytes : block_bytes) - STATIC_BYTES;
	return EMOGI_OK;
}

/* Return whether both orientations are the same. */
static bool
is_symmetric(const EmogiGraph *graph)
{
	return graph->backward.offsets == graph->forward.offsets &&
		graph->backward.targets == graph->forward.targets;
}

/* Choose the size of shards. */
static EmogiStatus
choose_shape(Build *build, const EmogiGraph *graph, EmogiError *error)
{
	const ShardWants *wants = build->wants;
	EmogiShardShape *shape = &build->shards->shape;
	uint32_t	shared_bytes = 0;

	TRY(find_shared_bytes(build->run, &shared_bytes, error));
	shape->nvertices = graph->nvertices;
	shape->nentries = graph->forward.nedges * (wants->both && !is_symmetric(graph) ? 2 : 1);
	shape->value_bytes = wants->value_bytes;
	shape->weight_bytes = build->edge_width - (uint32_t) sizeof(Target);
	emogi_shards_shape(shape, wants->vertex_bytes, shared_bytes);
	return EMOGI_OK;
}

/* Ensure that the structure fits, or fail with an explanation. */
static EmogiStatus
check_room(const Build *build, EmogiMapping mapping, EmogiError *error)
{
	const EmogiShardShape *shape = &build->shards->shape;
	const bool	windows = mapping == EMOGI_MAPPING_WINDOWS;
	const uint64_t bytes = emogi_shards_bytes(shape,
											  windows ? EMOGI_SHARD_WINDOWS : EMOGI_SHARD_SHARDS);
	uint64_t	left;

	TRY(emogi_memory_left(&build->run->memory, &left, error));
	if (bytes - shape->nvertices * shape->value_bytes <= left)
		return EMOGI_OK;
	return emogi_device_fail(error, EMOGI_NO_MEMORY, windows ?
							 "the graph does not fit in device memory as concatenated windows" :
							 "the graph does not fit in device memory as shards",
							 "%llu bytes needed, %llu left; as CSR %llu; %u shards of %u vertices",
							 (unsigned long long) bytes, (unsigned long long) left,
							 (unsigned long long) emogi_shards_bytes(shape, EMOGI_SHARD_CSR),
							 shape->nshards, shape->width);
}

/* Allocate the structure. */
static EmogiStatus
take_structure(Build *build, EmogiMapping mapping, EmogiError *error)
{
	DeviceMemory *memory = &build->run->memory;
	Shards	   *shards = build->shards;
	const uint64_t nentries = shards->shape.nentries;
	const uint64_t nshards = shards->shape.nshards;

	TRY(check_room(build, mapping, error));
	TRY(take_array(memory, &shards->begin, nshards + 1, "places of shards", error));
	TRY(take_array(memory, &shards->source, nentries, "sources of entries", error));
	TRY(take_array(memory, &shards->dest, nentries, "destinations of entries", error));
	TRY(emogi_memory_take(memory, &shards->value, nentries * shards->shape.value_bytes,
						  "values of entries", error));
	if (shards->shape.weight_bytes > 0)
		TRY(emogi_memory_take(memory, &shards->weight, nentries * shards->shape.weight_bytes,
							  "weights of entries", error));
	build->source = shards->source;
	if (mapping == EMOGI_MAPPING_SHARDS)
		return take_array(memory, &shards->window, (nshards + 1) * nshards, "places of windows",
						  error);
	build->source = (uint32_t *) shards->value;
	TRY(take_array(memory, &shards->joined, nshards + 1, "places of joined windows", error));
	return emogi_memory_take(memory, &shards->place, nentries * emogi_shards_place_bytes(nentries),
							 "places of entries", error);
}

/*
 * Return the next array of `bytes` bytes in a block; if the block is NULL, only advance the offset.
 */
static void *
lay_out(char *block, uint64_t *offset, uint64_t bytes)
{
	void	   *array = block != NULL ? block + *offset : NULL;

	*offset += (bytes + ARRAY_ALIGN - 1) / ARRAY_ALIGN * ARRAY_ALIGN;
	return array;
}

/* Lay out the arrays of a piece in a block. Return the bytes that they take. */
static uint64_t
lay_out_transit(Build *build, char *block)
{
	Transit	   *transit = &build->transit;
	const uint64_t room = transit->room;
	const uint64_t shard_bytes = build->shards->shape.nshards * sizeof(uint64_t);
	uint64_t	offset = 0;

	for (int i = 0; i < 2; i++)
	{
		transit->key[i] = (unsigned long long *) lay_out(block, &offset,
														 room * sizeof(unsigned long long));
		transit->index[i] = (uint32_t *) lay_out(block, &offset, room * sizeof(uint32_t));
	}
	transit->source = (uint32_t *) lay_out(block, &offset, room * sizeof(uint32_t));
	transit->dest = (uint32_t *) lay_out(block, &offset, room * sizeof(uint32_t));
	transit->weight = lay_out(block, &offset, room * build->shards->shape.weight_bytes);
	transit->cursor = (uint64_t *) lay_out(block, &offset, shard_bytes);
	transit->shift = (uint64_t *) lay_out(block, &offset, shard_bytes);
	transit->temporary = lay_out(block, &offset, transit->temporary_bytes);
	return offset;
}

/* Allocate the memory for a piece of `room` entries. */
static EmogiStatus
take_transit(Build *build, uint64_t room, EmogiError *error)
{
	Transit	   *transit = &build->transit;
	const unsigned long long *key;
	const uint32_t *index;
	char	   *block;

	memset(transit, 0, sizeof *transit);
	transit->room = room;
	if (room > UINT32_MAX)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "a shard has too many entries to sort",
								 "%llu", (unsigned long long) room);
	CUDA_TRY(emogi_shards_sort(transit, room, 0, 64, build->run->state->stream, &key, &index));
	TRY(take_array(&build->run->memory, &block, lay_out_transit(build, NULL), "pieces of shards",
				   error));
	(void) lay_out_transit(build, block);
	return EMOGI_OK;
}

/*
 * Convert the counts in the cursors to the beginnings of shards: on the host, in `begin`, and in
 * the cursors.
 */
static EmogiStatus
place_shards(Build *build, uint64_t *begin, EmogiError *error)
{
	const uint32_t nshards = build->shards->shape.nshards;
	uint64_t	sum = 0;

	TRY(emogi_run_fetch(build->run, build->ends, build->transit.cursor, nshards * sizeof *begin,
						error));
	for (uint32_t s = 0; s < nshards; s++)
	{
		const uint64_t count = build->ends[s];

		build->ends[s] = sum;
		sum += count;
	}
	build->ends[nshards] = sum;
	TRY(emogi_run_send(build->run, begin, build->ends, (nshards + (uint64_t) 1) * sizeof *begin,
					   error));
	return emogi_run_send(build->run, build->transit.cursor, build->ends, nshards * sizeof *begin,
						  error);
}

/*
 * Sort `count` entries that fill the piece, by shard alone or by source as well, and compute how
 * far they move.
 */
static EmogiStatus
sort_piece(Build *build, uint64_t count, bool by_source, const unsigned long long **key,
		   const uint32_t **index, EmogiError *error)
{
	cudaStream_t stream = build->run->state->stream;
	int			end_bit = SOURCE_BITS + 1;

	while (end_bit < 64 && build->shards->shape.nshards - 1 >> (end_bit - SOURCE_BITS) != 0)
		end_bit++;
	CUDA_TRY(emogi_shards_sort(&build->transit, count, by_source ? 0 : SOURCE_BITS, end_bit, stream,
							   key, index));
	CUDA_LAUNCH(shards_find_shifts_kernel, build->run->full_blocks, BLOCK_THREADS, stream, *key,
				count, build->transit.cursor, build->transit.shift, build->run->step);
	return EMOGI_OK;
}

/* Sort a piece and move it to its shards. */
static EmogiStatus
move_piece(Build *build, uint64_t count, bool by_source, EmogiError *error)
{
	Run		   *run = build->run;
	const unsigned long long *key;
	const uint32_t *index;

	TRY(sort_piece(build, count, by_source, &key, &index, error));
	CUDA_LAUNCH(shards_move_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				build->transit, key, index, count, *build->shards, build->source, run->step);
	return emogi_cuda_wait(run->state, run->control, error);
}

/* Count the link bytes of reading all lists once, `width` bytes per entry. */
static void
account(Build *build, uint64_t nedges, uint32_t width)
{
	const uint64_t target_lines =
		(nedges * sizeof(Target) + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;
	const uint64_t weight_lines =
		(nedges * (width - sizeof(Target)) + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;

	if (build->run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		*build->link_bytes += (target_lines + weight_lines) * EMOGI_LINE_BYTES;
}

/* Count the entries of lists by shard, in the cursors. */
static EmogiStatus
count_lists(Build *build, const Edges &edges, EmogiError *error)
{
	Run		   *run = build->run;

	account(build, edges.lists.nedges, sizeof(Target));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(shards_count_edges_kernel, run->nblocks, BLOCK_THREADS, run->state->stream, edges,
				build->shards->shape.width, build->transit.cursor, run->step);
	return emogi_cuda_wait(run->state, run->control, error);
}

/* Move lists to their shards. */
static EmogiStatus
move_lists(Build *build, const Edges &edges, EmogiError *error)
{
	Run		   *run = build->run;
	const uint64_t nedges = edges.lists.nedges;

	account(build, nedges, build->edge_width);
	for (uint64_t start = 0; start < nedges; start += build->transit.room)
	{
		const uint64_t count = nedges - start < build->transit.room ? nedges - start :
			build->transit.room;

		run->control->done = start;
		TRY(emogi_run_begin_step(run, error));
		CUDA_LAUNCH(build->fill, run->nblocks, BLOCK_THREADS, run->state->stream, edges,
					Span{start, start + count}, build->transit, build->shards->shape.width,
					build->wants->degree, run->step);
		TRY(move_piece(build, count, false, error));
	}
	return EMOGI_OK;
}

/* Sort the entries of every shard by source. */
static EmogiStatus
sort_shards(Build *build, EmogiError *error)
{
	Run		   *run = build->run;
	const uint64_t *ends = build->ends;
	const uint32_t nshards = build->shards->shape.nshards;
	uint64_t	largest = 0;
	uint32_t	upto;

	for (uint32_t s = 0; s < nshards; s++)
		largest = ends[s + 1] - ends[s] > largest ? ends[s + 1] - ends[s] : largest;
	if (largest > build->transit.room)
		TRY(take_transit(build, largest, error));
	TRY(emogi_run_send(run, build->transit.cursor, ends, nshards * sizeof *ends, error));
	for (uint32_t s = 0; s < nshards; s = upto)
	{
		Span		span = {ends[s], ends[s]};

		for (upto = s; upto < nshards && ends[upto + 1] - span.start <= build->transit.room; upto++)
			span.end = ends[upto + 1];
		if (span.start == span.end)
			continue;
		CUDA_LAUNCH(shards_fill_again_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					*build->shards, build->source, span, build->transit);
		TRY(move_piece(build, span.end - span.start, true, error));
	}
	return EMOGI_OK;
}

/* Concatenate the windows of each shard. */
static EmogiStatus
join_windows(Build *build, EmogiError *error)
{
	Run		   *run = build->run;
	cudaStream_t stream = run->state->stream;
	const EmogiShardShape *shape = &build->shards->shape;

	CUDA_TRY(cudaMemsetAsync(build->transit.cursor, 0,
							 shape->nshards * sizeof *build->transit.cursor, stream));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(shards_count_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, build->source,
				shape->nentries, shape->width, build->transit.cursor, run->step);
	TRY(place_shards(build, build->shards->joined, error));
	for (uint64_t start = 0; start < shape->nentries; start += build->transit.room)
	{
		const uint64_t left = shape->nentries - start;
		const uint64_t count = left < build->transit.room ? left : build->transit.room;
		const unsigned long long *key;
		const uint32_t *index;

		CUDA_LAUNCH(shards_fill_sources_kernel, run->full_blocks, BLOCK_THREADS, stream,
					build->source, shape->width, Span{start, start + count}, build->transit);
		TRY(sort_piece(build, count, false, &key, &index, error));
		CUDA_LAUNCH(shards_move_to_windows_kernel, run->full_blocks, BLOCK_THREADS, stream,
					build->transit, key, index, count, start, *build->shards, run->step);
		TRY(emogi_cuda_wait(run->state, run->control, error));
	}
	return EMOGI_OK;
}

/* Build the structure from placed lists. */
static EmogiStatus
fill_structure(Build *build, EmogiError *error)
{
	Run		   *run = build->run;
	cudaStream_t stream = run->state->stream;
	const bool	twice = build->shards->shape.nentries > run->graph.forward.nedges;
	const Edges along = {run->graph.forward, run->nvertices, false};
	const Edges against = {run->graph.forward, run->nvertices, true};
	const bool	forth = !build->wants->against;
	const bool	back = build->wants->against || twice;

	CUDA_TRY(cudaMemsetAsync(build->transit.cursor, 0,
							 build->shards->shape.nshards * sizeof *build->transit.cursor, stream));
	if (build->wants->degree != NULL)
		CUDA_TRY(cudaMemsetAsync(build->wants->degree, 0,
								 run->nvertices * sizeof *build->wants->degree, stream));
	if (build->wants->filled != NULL)
		CUDA_LAUNCH(shards_mark_filled_kernel, run->full_blocks, BLOCK_THREADS, stream,
					run->graph.forward.offsets, run->nvertices, build->wants->filled);
	if (forth)
		TRY(count_lists(build, along, error));
	if (back)
		TRY(count_lists(build, against, error));
	TRY(place_shards(build, build->shards->begin, error));
	if (forth)
		TRY(move_lists(build, along, error));
	if (back)
		TRY(move_lists(build, against, error));
	return back ? sort_shards(build, error) : EMOGI_OK;
}

/* Choose the number of entries of a piece. */
static EmogiStatus
choose_room(const Build *build, uint64_t *room, EmogiError *error)
{
	const uint64_t entry_bytes = 2 * (sizeof **build->transit.key + sizeof **build->transit.index) +
		sizeof *build->transit.source + sizeof *build->transit.dest +
		build->shards->shape.weight_bytes;
	uint64_t	nchunks = count_chunks(build->shards->shape.nentries + 1);
	uint64_t	left;

	TRY(emogi_memory_left(&build->run->memory, &left, error));
	if (nchunks > PIECE_CHUNKS)
		nchunks = PIECE_CHUNKS;
	while (nchunks > MIN_CHUNKS && nchunks * CHUNK_ENTRIES * entry_bytes > left / PIECE_SHARE)
		nchunks /= 2;
	*room = nchunks * CHUNK_ENTRIES;
	return EMOGI_OK;
}

/* Place the graph and build the structure. The caller releases the memory that this allocates. */
static EmogiStatus
build_from_lists(Build *build, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const void *const fill = (const void *) build->fill;
	Run		   *run = build->run;
	EmogiQuery	seen = *query;
	uint64_t	room;

	if (query->placement == EMOGI_PLACEMENT_MANAGED || query->placement == EMOGI_PLACEMENT_STAGED)
		seen.placement = EMOGI_PLACEMENT_HOST;
	TRY(choose_room(build, &room, error));
	TRY(take_transit(build, room, error));
	TRY(emogi_run_place(run, graph, &seen, build->wants->weighted ? PLACE_WEIGHTS : 0, &fill, 1,
						build->edge_width, error));
	run->control->total = build->shards->shape.nentries;
	TRY(fill_structure(build, error));
	if (build->shards->joined != NULL)
		return join_windows(build, error);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(shards_find_windows_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*build->shards, run->step);
	return emogi_cuda_wait(run->state, run->control, error);
}

EmogiStatus
emogi_shards_build(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
				   const ShardWants *wants, Shards *shards, uint64_t *link_bytes, EmogiError *error)
{
	const EmogiWeightType type = wants->weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	/* for a test; it is the only such allocation of a run */
	const bool	fails = run->control->fail_allocation == 1;
	Build		build = {};
	EmogiStatus status;
	int			nblocks;

	memset(shards, 0, sizeof *shards);
	*link_bytes = 0;
	build.run = run;
	build.wants = wants;
	build.shards = shards;
	build.link_bytes = link_bytes;
	build.fill = choose_fill(type);
	build.edge_width = edge_bytes(type);
	TRY(choose_shape(&build, graph, error));
	TRY(take_structure(&build, query->papers.mapping, error));
	nblocks = run->memory.nblocks;
	build.ends = fails ? NULL :
		(uint64_t *) malloc((shards->shape.nshards + (size_t) 1) * sizeof *build.ends);
	if (build.ends == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%u shards",
								 shards->shape.nshards);
	status = build_from_lists(&build, graph, query, error);
	/* after an error, a copy to `ends` may still be in flight */
	(void) cudaStreamSynchronize(run->state->stream);
	free(build.ends);
	if (status != EMOGI_OK)
		return status;
	emogi_memory_release(&run->memory, nblocks);
	run->graph.placement = EMOGI_PLACEMENT_DEVICE;
	return EMOGI_OK;
}
