/*
 * test_deltas.c: tests of the cuda engine's incremental copies.
 *
 * The copies derived from those of an old graph must be identical, byte for byte, to the arrays of
 * the new graph. The test covers random histories of changes, large graphs, and failures. Answers
 * are compared with the cpu engine's.
 *
 * The environment variables are:
 *
 *   EMOGI_DERIVE_HISTORIES  number of histories (default 400)
 *   EMOGI_DERIVE_SEED       seed of the first one (default 1)
 *   EMOGI_AGREE_LARGE       0 = skip large graphs and driver failures
 *   EMOGI_PLAIN_MEMORY      as for test_device_cache
 *
 * The test prints the times of deriving and of copying large graphs.
 */
#define MAX_EDGES 6000000
#include "both.h"
#include "history.h"

#include "cpu/cpu.h"

#define MAX_ARRAYS 6
#define MAX_ALLOCATIONS 40		/* more than the allocations of device memory of derive() */
#define MAX_CALLS 400			/* more than the driver calls of derive() */
#define MAX_UNREAD 16			/* EMOGI_MAX_UNREAD of cuda/core/device_cache.cuh */

static bool plain_memory;		/* the engine is opened as on a device without memory pools */
static EmogiDerivation derivation;	/* of the last merge */

/* ---- arrays ---- */

/* An array of a graph, which may be cached on the device. */
typedef struct Array
{
	const void *array;
	uint64_t	bytes;			/* of the copy */
	bool		is_weights;
	bool		cached;
} Array;

/* Add an array, and whether it is cached. */
static void
add_array(const EmogiGraph *graph, Array *arrays, int *count, const void *array, uint64_t bytes,
		  bool is_weights)
{
	void	   *copy = naive_alloc(bytes, 1);
	EmogiError	error;

	arrays[*count] = (Array) {array, bytes, is_weights, false};
	arrays[(*count)++].cached = cuda->fetch(cuda_state, graph->id, array, copy, bytes, &error) ==
		EMOGI_OK;
	free(copy);
}

/* List the arrays of an orientation. */
static void
list_side(const EmogiGraph *graph, const EmogiAdjacency *lists, Array *arrays, int *count)
{
	static const uint64_t width[] = {0, 1, 2, 4, 4, 8};	/* by EmogiWeightType */
	const uint64_t line = EMOGI_LINE_BYTES;

	add_array(graph, arrays, count, lists->offsets, (graph->nvertices + 1) * sizeof(uint64_t),
			  false);
	add_array(graph, arrays, count, lists->targets,
			  (lists->nedges * sizeof(uint32_t) + line - 1) / line * line, false);
	if (graph->weight_type != EMOGI_WEIGHT_NONE)
		add_array(graph, arrays, count, lists->weights,
				  (lists->nedges * width[graph->weight_type] + line - 1) / line * line, true);
}

/*
 * List the arrays of a graph; returns their number. The order is the same for graphs of the same
 * shape.
 */
static int
list_arrays(const EmogiGraph *graph, Array *arrays)
{
	int			count = 0;

	if (graph->nvertices == 0)
		return 0;
	list_side(graph, &graph->forward, arrays, &count);
	if (graph->backward.offsets != NULL && graph->backward.offsets != graph->forward.offsets)
		list_side(graph, &graph->backward, arrays, &count);
	return count;
}

/* Check that an array's copy is identical to the array. */
static void
check_copy(const EmogiGraph *graph, const Array *array, const char *what, int number)
{
	unsigned char *copy = naive_alloc(array->bytes, 1);
	uint64_t	wrong = 0;
	EmogiError	error;

	memset(copy, 0x5A, array->bytes);
	if (cuda->fetch(cuda_state, graph->id, array->array, copy, array->bytes, &error) != EMOGI_OK)
		abort();
	while (wrong < array->bytes && copy[wrong] == ((const unsigned char *) array->array)[wrong])
		wrong++;
	CHECK(wrong == array->bytes, "%s: array %d of %llu bytes is wrong from byte %llu on", what,
		  number, (unsigned long long) array->bytes, (unsigned long long) wrong);
	free(copy);
}

/* Return the bytes of device memory in the cache; cheaper than describe(). */
static uint64_t
cached_bytes(void)
{
	return cuda->forget(cuda_state, 0);
}

/* Return true if any array of the graph is cached. */
static bool
has_copies(const EmogiGraph *graph)
{
	Array		arrays[MAX_ARRAYS];
	const int	count = list_arrays(graph, arrays);
	bool		any = false;

	for (int i = 0; i < count; i++)
		any = any || arrays[i].cached;
	return any;
}

/* ---- queries ---- */

/* Return the graph, with its orientations swapped if `swapped` and it has both. */
static EmogiGraph
swap_lists(const EmogiGraph *graph, bool swapped)
{
	EmogiGraph	view = *graph;

	if (!swapped || graph->backward.offsets == NULL)
		return view;
	view.forward = graph->backward;
	view.backward = graph->forward;
	return view;
}

/* Return true if all weights are finite and not negative, as all algorithms require. */
static bool
has_plain_weights(const EmogiGraph *graph)
{
	for (uint64_t i = 0; i < graph->forward.nedges; i++)
	{
		const double weight = emogi_weight(graph->forward.weights, graph->weight_type, i);

		if (!(weight >= 0.0) || weight > 1e30)
			return false;
	}
	return true;
}

/* Overwrite the cached arrays, which a run must not read on the host any more, or restore them. */
static void
hide_arrays(const Array *arrays, int count, char **saved, bool hide)
{
	for (int i = 0; i < count; i++)
	{
		if (!arrays[i].cached)
			continue;
		if (hide)
		{
			saved[i] = naive_alloc(arrays[i].bytes, 1);
			memcpy(saved[i], arrays[i].array, arrays[i].bytes);
			memset((void *) arrays[i].array, 0xFF, arrays[i].bytes);
			continue;
		}
		memcpy((void *) arrays[i].array, saved[i], arrays[i].bytes);
		free(saved[i]);
	}
}

/*
 * Run an algorithm on the cuda engine, and on the cpu engine to compare, unless `blind`. For device
 * placement, the cached arrays are overwritten during the run. Returns transfer_ms.
 */
static double
check_run(const char *what, const EmogiGraph *graph, EmogiAlgorithm algorithm,
		  EmogiPlacement placement, bool blind)
{
	const uint64_t n = graph->nvertices;
	const uint32_t source = (uint32_t) draw(n);
	double	   *values = naive_alloc(n, sizeof(double));
	EmogiQuery	query = {.algorithm = algorithm, .placement = placement, .nsources = 1,
		.sources = &source, .max_depth = -1, .max_distance = INFINITY, .damping = 0.85,
		.max_iterations = 2, .samples = 3, .values = values};
	Answer		expected = make_answer(n);
	Answer		answer = make_answer(n);
	EmogiControl cpu_control = {0};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	Array		arrays[MAX_ARRAYS];
	char	   *saved[MAX_ARRAYS];
	const int	count = placement == EMOGI_PLACEMENT_DEVICE ? list_arrays(graph, arrays) : 0;
	EmogiStatus status;

	for (uint64_t v = 0; v < n; v++)
		values[v] = 0.5;
	if (!blind &&
		cpu->run(cpu_state, graph, &query, &expected.result, &cpu_control, &error) != EMOGI_OK)
		abort();
	hide_arrays(arrays, count, saved, true);
	status = cuda->run(cuda_state, graph, &query, &answer.result, &control, &error);
	hide_arrays(arrays, count, saved, false);
	CHECK(status == EMOGI_OK && (blind || agree(algorithm, n, &answer.result, &expected.result)),
		  "%s: algorithm %d placement %d: status %d %s", what, algorithm, placement, status,
		  error.message);
	free(expected.memory);
	free(answer.memory);
	free(values);
	return answer.result.transfer_ms;
}

/* Run a random algorithm, so that arrays are cached. */
static void
run_random(const char *what, const EmogiGraph *graph)
{
	static const EmogiPlacement placements[] = {EMOGI_PLACEMENT_DEVICE, EMOGI_PLACEMENT_DEVICE,
	EMOGI_PLACEMENT_DEVICE, EMOGI_PLACEMENT_AUTO, EMOGI_PLACEMENT_HOST, EMOGI_PLACEMENT_HYBRID};
	const EmogiPlacement placement = placements[draw(sizeof(placements) / sizeof(placements[0]))];
	const EmogiGraph view = swap_lists(graph, once_in(3));
	const bool	plain = has_plain_weights(graph);
	EmogiAlgorithm algorithm;

	do
		algorithm = (EmogiAlgorithm) draw(EMOGI_NALGORITHMS);
	/* supports integer weights only */
	while (!is_supported(graph, algorithm) ||
		   (algorithm == EMOGI_MODULARITY && graph->weight_type >= EMOGI_WEIGHT_F32));
	if (!plain && once_in(2))
		/* it copies the weights, whatever its answer */
		check_run(what, &view, EMOGI_HEAT, placement, true);
	else if (plain || algorithm == EMOGI_BFS || algorithm == EMOGI_CC || algorithm == EMOGI_SSNSP)
		check_run(what, &view, algorithm, placement, false);
}

/* ---- histories ---- */

/* Merge the changes of a history; returns the new graph, with an id. */
static EmogiGraph
merge_changes(const History *history, EmogiPool *pool, const char *what)
{
	const EmogiMergeInput input = splice_input(history, emogi_pool_size(pool), &derivation);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiGraph	graph;
	const EmogiStatus status = emogi_merge(pool, &input, &graph, &control, &error);

	CHECK(status == EMOGI_OK, "%s: status %d, %s", what, status, error.message);
	if (status != EMOGI_OK)
		abort();
	graph.id = ++last_id;
	return graph;
}

/* Derive the copies without faults. */
static EmogiStatus
derive(const EmogiGraph *old, const EmogiGraph *graph)
{
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};

	return cuda->derive(cuda_state, old, graph, &derivation, &control, &error);
}

/* Derive the copies of a graph that a merge made from the history's, and check them. */
static void
check_derive(const History *history, const EmogiGraph *graph, const char *what)
{
	const EmogiGraph *old = &history->graph;
	const uint64_t before = cached_bytes();
	uint64_t	bytes = 0;
	Array		arrays[MAX_ARRAYS];
	Array		derived[MAX_ARRAYS];
	const int	count = list_arrays(old, arrays);
	const bool	any = graph->nvertices > 0 && has_copies(old);
	const EmogiStatus status = derive(old, graph);
	const int	nderived = list_arrays(graph, derived);

	CHECK(status == (any ? EMOGI_OK : EMOGI_UNSUPPORTED), "%s: status %d", what, status);
	CHECK(nderived == 0 || count == 0 || nderived == count, "%s: %d arrays, now %d", what, count,
		  nderived);
	for (int i = 0; i < nderived; i++)
	{
		const bool	expected = i < count && arrays[i].cached &&
			(!derived[i].is_weights || graph->weight_type == old->weight_type);

		CHECK(derived[i].cached == expected, "%s: array %d is %scached", what, i,
			  expected ? "not " : "");
		bytes += derived[i].cached ? derived[i].bytes : 0;
		if (derived[i].cached)
			check_copy(graph, &derived[i], what, i);
	}
	for (int i = 0; i < count; i++)
	{
		if (arrays[i].cached)
			check_copy(old, &arrays[i], what, -1 - i);	/* unchanged */
	}
	CHECK(cached_bytes() == before + bytes, "%s: %llu bytes are cached, not %llu", what,
		  (unsigned long long) cached_bytes(), (unsigned long long) (before + bytes));
}

/* Replace the graph of a history by a new one, and forget the old one. */
static void
replace_graph(History *history, const EmogiGraph *graph)
{
	cuda->forget(cuda_state, history->graph.id);
	CHECK(history->graph.nvertices == 0 || !has_copies(&history->graph),
		  "forgotten, but still cached");
	history->graph = *graph;
	history->block = (history->block + 1) % NBLOCKS;
}

/* Check one history. */
static void
check_history(History *history, uint64_t number)
{
	char		what[64];

	seed = number;
	ndrawn = 0;
	choose_history(history);
	begin_history(history, pools[0]);
	history->graph.id = ++last_id;
	for (int round = 0; round < 5; round++)
	{
		EmogiGraph	graph;

		snprintf(what, sizeof(what), "history %llu, round %d", (unsigned long long) number, round);
		for (uint64_t i = draw(4); i > 0 && history->graph.nvertices > 0; i--)
			run_random(what, &history->graph);
		make_changes(history);
		graph = merge_changes(history, pools[0], what);
		check_derive(history, &graph, what);
		replace_graph(history, &graph);
	}
	for (int i = 0; i < 2 && history->graph.nvertices > 0; i++)
		run_random(what, &history->graph);
	CHECK(cuda->forget(cuda_state, history->graph.id) == 0, "%s: arrays are still cached", what);
}

/* ---- large graphs ---- */

/*
 * Check a large graph with few and many changes per round, and print the times of deriving and
 * copying.
 */
static void
check_large(History *history, EmogiDirection direction, bool with_backward, bool weighted,
			uint64_t nkeys, uint64_t nedges)
{
	static const uint64_t nchanges[] = {1, 1000, 100000, 2, 30000, 10};

	begin_large(history, direction, with_backward, weighted, nkeys, nedges, UINT64_MAX);
	history->graph.id = ++last_id;
	for (size_t round = 0; round < sizeof(nchanges) / sizeof(nchanges[0]); round++)
	{
		double		copy_ms = check_run("large", &history->graph, weighted ? EMOGI_SSSP : EMOGI_BFS,
										EMOGI_PLACEMENT_DEVICE, false);
		EmogiGraph	graph;
		EmogiGraph	again;
		double		derive_ms;

		check_run("large", &history->graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE, false);
		make_many_changes(history, nchanges[round], round != 3);
		graph = merge_changes(history, pools[1], "large");
		check_derive(history, &graph, "large");
		cuda->forget(cuda_state, graph.id);
		derive_ms = emogi_pool_now_ms();	/* again, after the memory has been allocated once */
		CHECK(derive(&history->graph, &graph) == EMOGI_OK, "large: not derived");
		derive_ms = emogi_pool_now_ms() - derive_ms;
		again = graph;
		again.id = ++last_id;
		copy_ms = check_run("copied", &again, weighted ? EMOGI_SSSP : EMOGI_BFS,
							EMOGI_PLACEMENT_DEVICE, false);
		cuda->forget(cuda_state, again.id);
		printf("%llu entries, %llu vertices, direction %d%s%s, %llu changes, %llu "
			   "breaks in the numbering: derived in %.3f ms, "
			   "copied in %.3f ms, first run on what was derived %.3f ms of transfer\n",
			   (unsigned long long) graph.forward.nedges, (unsigned long long) graph.nvertices,
			   (int) direction, with_backward ? " with backward" : "",
			   weighted ? " with weights" : "", (unsigned long long) history->nchanges,
			   (unsigned long long) derivation.nbreaks, derive_ms, copy_ms,
			   check_run("large", &graph, weighted ? EMOGI_SSSP : EMOGI_BFS, EMOGI_PLACEMENT_DEVICE,
						 false));
		replace_graph(history, &graph);
	}
	CHECK(cuda->forget(cuda_state, history->graph.id) == 0, "large: arrays are still cached");
}

/* ---- failures ---- */

/* Reopen the cuda engine, with a memory limit. */
static void
reopen(uint64_t device_memory_bytes)
{
	EmogiEngineOptions options = {.cpu_threads = 2, .device_memory_bytes = device_memory_bytes,
		.plain_memory = plain_memory};
	EmogiError	error;

	cuda->close(cuda_state);
	if (cuda->open(&options, &cuda_state, &error) != EMOGI_OK)
		abort();
}

/*
 * Begin a history of a weighted graph with both orientations, cache all its arrays, and make
 * changes.
 */
static EmogiGraph
begin_small(History *history, uint64_t nedges)
{
	EmogiGraph	swapped;
	EmogiGraph	graph;

	begin_large(history, EMOGI_OUT, true, true, 2000, nedges, UINT64_MAX);
	history->graph.id = ++last_id;
	swapped = swap_lists(&history->graph, true);
	check_run("small", &history->graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	check_run("small", &swapped, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	history->nkeys *= 2;		/* new vertices between the others and after them */
	history->span = history->nkeys;
	make_many_changes(history, 100, true);
	graph = merge_changes(history, pools[0], "small");
	return graph;
}

/* Check that nothing was derived or changed, and that the graph can still be derived and copied. */
static void
check_nothing_derived(const History *history, const EmogiGraph *graph, uint64_t before,
					  const char *what)
{
	CHECK(!has_copies(graph), "%s: a copy is cached", what);
	CHECK(cached_bytes() == before, "%s: %llu bytes, not %llu", what,
		  (unsigned long long) cached_bytes(), (unsigned long long) before);
	check_derive(history, graph, what);
	check_run(what, graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	cuda->forget(cuda_state, graph->id);
}

/* Let each allocation of device memory fail by turns, and cancel. */
static void
check_failing_memory(History *history)
{
	const EmogiGraph graph = begin_small(history, 20000);
	const uint64_t before = cached_bytes();
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	EmogiStatus status;

	status = cuda->derive(cuda_state, &history->graph, &graph, &derivation, &control, &error);
	CHECK(status == EMOGI_CANCELED, "canceled: status %d", status);
	check_nothing_derived(history, &graph, before, "canceled");
	control.cancel = 0;
	status = EMOGI_NO_MEMORY;
	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_ALLOCATIONS)
	{
		control.fail_device_allocation++;
		status = cuda->derive(cuda_state, &history->graph, &graph, &derivation, &control, &error);
		if (status == EMOGI_NO_MEMORY)
			check_nothing_derived(history, &graph, before, "failing memory");
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 8, "%d at %u", status,
		  control.fail_device_allocation);
	replace_graph(history, &graph);
	CHECK(cuda->forget(cuda_state, history->graph.id) == 0, "arrays are still cached");
}

/* Let driver calls fail by turns, each in an engine of its own, which must still close. */
static void
check_failing_driver(History *history)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_DEVICE_ERROR;
	EmogiError	error;

	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		const EmogiGraph graph = begin_small(history, 20000);

		control.fail_device_call++;
		status = cuda->derive(cuda_state, &history->graph, &graph, &derivation, &control, &error);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
		check_run("after a failing driver", &graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
		cuda->forget(cuda_state, graph.id);
		cuda->forget(cuda_state, history->graph.id);
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 8, "%d at %u", status,
		  control.fail_device_call);
	CHECK(cached_bytes() == 0, "arrays are still cached");
}

/* Check that deriving evicts nothing: neither the copies of the old graph nor others. */
static void
check_memory_limit(History *history)
{
	/* so that the cached arrays are larger than the memory of a run */
	EmogiGraph	graph = begin_small(history, 200000);
	uint64_t	needed = cached_bytes();
	EmogiGraph	other = history->graph;

	reopen(needed + needed / 2);
	check_run("capped", &history->graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	needed = cached_bytes();
	reopen(needed + needed / 2);
	check_run("capped", &history->graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	CHECK(derive(&history->graph, &graph) == EMOGI_NO_MEMORY, "derived without enough memory");
	CHECK(has_copies(&history->graph) && !has_copies(&graph) && cached_bytes() == needed,
		  "the old copies were evicted");

	reopen(2 * needed + needed / 2);
	other.id = ++last_id;
	check_run("capped", &other, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	check_run("capped", &history->graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE, false);
	CHECK(cached_bytes() == 2 * needed, "both are cached");
	CHECK(derive(&history->graph, &graph) == EMOGI_NO_MEMORY, "derived without enough memory");
	CHECK(has_copies(&other) && has_copies(&history->graph) && cached_bytes() == 2 * needed,
		  "other copies were evicted");
	cuda->forget(cuda_state, other.id);
	check_derive(history, &graph, "capped");
	CHECK(has_copies(&graph), "not derived with enough memory");
	cuda->forget(cuda_state, graph.id);
	cuda->forget(cuda_state, history->graph.id);
	reopen(0);
}

/*
 * Check that graphs that are never queried are derived only EMOGI_MAX_UNREAD times, and unknown
 * graphs not at all.
 */
static void
check_unread(History *history)
{
	EmogiGraph	graph = begin_small(history, 20000);
	EmogiGraph	unknown = history->graph;
	int			nderived = 0;

	unknown.id = ++last_id;
	CHECK(derive(&unknown, &graph) == EMOGI_UNSUPPORTED, "an unknown graph");
	unknown.id = 0;
	CHECK(derive(&unknown, &graph) == EMOGI_UNSUPPORTED, "an old graph without an id");
	unknown = graph;
	unknown.id = 0;
	CHECK(derive(&history->graph, &unknown) == EMOGI_UNSUPPORTED, "a new graph without an id");
	while (nderived <= MAX_UNREAD && derive(&history->graph, &graph) == EMOGI_OK)
	{
		nderived++;
		replace_graph(history, &graph);
		make_many_changes(history, 10, true);
		graph = merge_changes(history, pools[0], "unread");
	}
	CHECK(nderived == MAX_UNREAD, "%d were derived", nderived);
	check_run("unread", &history->graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE, false);
	check_derive(history, &graph, "read");
	replace_graph(history, &graph);
	CHECK(cuda->forget(cuda_state, history->graph.id) == 0, "arrays are still cached");
}

int
main(void)
{
	const uint64_t only = number_from_environment("EMOGI_PLAIN_MEMORY", 2); /* 2 = both */
	const uint64_t nhistories = number_from_environment("EMOGI_DERIVE_HISTORIES", 400);
	const uint64_t first = number_from_environment("EMOGI_DERIVE_SEED", 1);
	const bool	large = number_from_environment("EMOGI_AGREE_LARGE", 1) != 0;
	History		history;

	if (!open_both())
		return check_report("test_deltas");
	history = open_history();
	for (uint64_t plain = 0; plain < 2; plain++)
	{
		if (only < 2 && plain != only)
			continue;
		plain_memory = plain == 1;
		reopen(0);
		for (uint64_t i = 0; i < nhistories; i++)
			check_history(&history, first + i + plain * nhistories);
		check_failing_memory(&history);
		check_memory_limit(&history);
		check_unread(&history);
		check_nothing_held("derived", 0);
		if (!large)
			continue;
		check_failing_driver(&history);
		check_large(&history, EMOGI_OUT, false, false, 400000, 5000000);
		check_large(&history, EMOGI_IN, true, true, 1500000, 3000000);
		check_large(&history, EMOGI_BOTH, true, true, 100000, 2000000);
	}
	close_history(&history);
	close_both();
	return check_report("test_deltas");
}
