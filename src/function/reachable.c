/*
 * reachable.c: emogi_reachable(graph, pairs, direction) -> setof (source, target, reachable boolean): for each distinct pair that a query returns
 * whether a way leads from the one to the other.
 *
 * Pairs are searched from both ends first, one by one, as long as that pays (task_pairs.c): in a Graph, or in an older one with what has changed since, which
 * does for all pairs or for none. What is left then is searched in batches.
 *
 * Sources that are looked at beside others are searched from many at once (msbfs.h), as LATERAL searches are; else each has a search by itself, which
 * ends with the level of the last of its targets. That is sooner in a deep graph, where many at once share little: where a first batch has taken long, one
 * source is tried by itself, and the faster way goes on. Where there are far fewer targets than sources, and the lists are there, the search goes from these
 * against the edges.
 */
#include "postgres.h"

#include "lib/qunique.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/function.h"
#include "function/rows.h"
#include "base/compat.h"
#include "base/limits.h"

PG_FUNCTION_INFO_V1(emogi_reachable);

/* The answers of many searches at once may take this share of what the role may have in the Region. */
#define ANSWER_SHARE 8

/* Fewer sources than these are searched from one by one: such a search ends with its targets. */
#define LEAST_SOURCES 8

/* Searches go from the targets if there are so many times as many sources. */
#define TURN_SOURCES 2

/* A batch that took so many ms is compared with a search by itself. */
#define LONG_BATCH_MS 20.0

/* Vertices, by their numbers. */
typedef struct Pair
{
	uint32		from;
	uint32		to;
} Pair;

typedef struct Reaching
{
	EmogiTask  *task;
	EmogiCall  *call;
	const EmogiGraph *graph;
	const EmogiOverlay *patch;	/* what has changed in it; NULL = nothing */
	Pair	   *pairs;			/* [npairs], ascending and distinct */
	uint64		npairs;
	bool		is_turned;		/* they are (target, source), and the lists are those of the Graph that leads the other way */
	bool	   *found;			/* [npairs] */
	uint64		nsearched;		/* the first of them, which were searched from both ends */
	EmogiResult result;			/* of searches one by one */
	int			most_sources;	/* of searches at once; 0 = there are none */
	EmogiMsbfsResult batch;
} Reaching;

static int
compare_pairs(const void *a, const void *b)
{
	const Pair *x = a;
	const Pair *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Compare vertices of a patched Graph by their keys. */
static int
compare_patched(const Reaching *reaching, uint32 a, uint32 b)
{
	if (a == b)
		return 0;
	return emogi_overlay_before(reaching->graph, reaching->patch, a, b) ? -1 : 1;
}

/* Compare pairs of a patched Graph; arg: Reaching. */
static int
compare_patched_pairs(const void *a, const void *b, void *arg)
{
	const Pair *x = a;
	const Pair *y = b;
	const int	order = compare_patched(arg, x->from, y->from);

	return order != 0 ? order : compare_patched(arg, x->to, y->to);
}

/* Put the pairs in order, each once. */
static void
sort_pairs(Reaching *reaching)
{
	if (reaching->patch != NULL)
		qsort_arg(reaching->pairs, reaching->npairs, sizeof(Pair), compare_patched_pairs, reaching);
	else
		qsort(reaching->pairs, reaching->npairs, sizeof(Pair), compare_pairs);
	reaching->npairs = qunique(reaching->pairs, reaching->npairs, sizeof(Pair), compare_pairs);
}

/* Get where the pairs of the source that has pair `first` end. */
static uint64
end_of_source(const Reaching *reaching, uint64 first)
{
	uint64		end = first + 1;

	while (end < reaching->npairs && reaching->pairs[end].from == reaching->pairs[first].from)
		end++;
	return end;
}

/* Count the sources of pairs that were not searched from both ends. */
static uint64
count_sources(const Reaching *reaching)
{
	uint64		count = 0;

	for (uint64 first = reaching->nsearched; first < reaching->npairs; first = end_of_source(reaching, first))
		count++;
	return count;
}

/* Have each pair lead the other way. */
static void
turn_pairs(Reaching *reaching)
{
	for (uint64 i = 0; i < reaching->npairs; i++)
		reaching->pairs[i] = (Pair) {reaching->pairs[i].to, reaching->pairs[i].from};
	qsort(reaching->pairs, reaching->npairs, sizeof(Pair), compare_pairs);
}

/* Search from the targets, against the edges, where there are far fewer of them, and the Graph has the lists for it. */
static void
turn_round(Reaching *reaching, EmogiGraph *graph)
{
	const EmogiAdjacency forward = graph->forward;
	const uint64 nsources = count_sources(reaching);

	if (graph->backward.offsets == NULL)
		return;
	turn_pairs(reaching);
	if (count_sources(reaching) * TURN_SOURCES > nsources)
	{
		turn_pairs(reaching);
		return;
	}
	graph->forward = graph->backward;
	graph->backward = forward;
	reaching->is_turned = true;
}

/* ---- from both ends ---- */

/* Search from both ends of the first pairs, as long as that pays. */
static void
search_pairs(Reaching *reaching, EmogiPairSearch *search)
{
	EmogiLocalPath path;
	uint64		group_end = 0;

	reaching->found = palloc_extended(Max(reaching->npairs, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	emogi_task_pairs_begin(search, reaching->call, reaching->task, reaching->graph);
	search->patch = reaching->patch;
	emogi_task_pairs_run(search, reaching->npairs, emogi_task_pairs_batches(count_sources(reaching)));
	for (; reaching->nsearched < reaching->npairs; reaching->nsearched++)
	{
		const Pair *pair = &reaching->pairs[reaching->nsearched];

		CHECK_FOR_INTERRUPTS();
		if (reaching->nsearched == group_end)
		{
			group_end = end_of_source(reaching, reaching->nsearched);
			emogi_task_pairs_group(search, group_end - reaching->nsearched, 1);
		}
		if (!emogi_task_pairs_find(search, pair->from, pair->to, &path))
			break;
		reaching->found[reaching->nsearched] = path.length > 0;
	}
	emogi_task_pairs_free(search);
}

/* ---- one by one ---- */

/* Search from the source of pairs first .. end-1, up to the last of their targets. */
static void
search_one(Reaching *reaching, uint64 first, uint64 end)
{
	EmogiTask	task = *reaching->task;
	int64	   *keys = palloc_extended((end - first + 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	bool		has_run;

	keys[0] = emogi_overlay_key(reaching->graph, NULL, reaching->pairs[first].from);
	for (uint64 i = first; i < end; i++)
		keys[i - first + 1] = emogi_overlay_key(reaching->graph, NULL, reaching->pairs[i].to);
	task.has_sources = task.has_targets = true;
	task.pairs = NULL;
	task.keys = keys;
	task.nkeys = 1;
	task.targets = keys + 1;
	task.ntargets = end - first;
	has_run = emogi_task_query(reaching->call, &task, reaching->graph, &reaching->result);
	for (uint64 i = first; has_run && i < end; i++)
		reaching->found[i] = reaching->result.columns[0].int32[reaching->pairs[i].to] >= 0;
	pfree(keys);
}

/* ---- many at once ---- */

/* Choose how many sources are searched from at once, and allocate what such a search answers into. */
static void
choose_batch(Reaching *reaching)
{
	const uint64 nvertices = reaching->graph->nvertices;
	const uint64 allowed = emogi_limits_allowed_bytes() / ANSWER_SHARE;
	int			nsources = (int) Min(count_sources(reaching), EMOGI_MSBFS_SOURCES);

	while (nsources >= LEAST_SOURCES && emogi_msbfs_bytes(nvertices, nsources, -1) > allowed)
		nsources /= 2;
	if (nsources < LEAST_SOURCES || emogi_engine == EMOGI_ENGINE_CUDA)
		return;
	reaching->most_sources = nsources;
	reaching->batch.memory_bytes = emogi_msbfs_bytes(nvertices, nsources, -1);
	reaching->batch.memory = emogi_call_alloc_any(reaching->call, reaching->batch.memory_bytes);
}

/* Look which targets of pairs first .. end-1 a source of a batch has reached: both ascend. */
static void
take_reached(Reaching *reaching, int source, uint64 first, uint64 end)
{
	EmogiMsbfsCursor cursor = {0};
	uint32		vertex;
	uint32		level;

	emogi_msbfs_skip_to(&reaching->batch, source, &cursor, reaching->pairs[first].to);
	while (first < end && emogi_msbfs_next(&reaching->batch, source, &cursor, &vertex, &level))
	{
		while (first < end && reaching->pairs[first].to < vertex)
			first++;
		if (first < end && reaching->pairs[first].to == vertex)
			reaching->found[first++] = true;
		if (first < end)
			emogi_msbfs_skip_to(&reaching->batch, source, &cursor, reaching->pairs[first].to);
	}
}

/* Search from the sources of pairs from `first` on, as many at once as there may be; get where the next ones begin. */
static uint64
search_batch(Reaching *reaching, uint64 first)
{
	uint64		starts[EMOGI_MSBFS_SOURCES + 1];
	uint32		sources[EMOGI_MSBFS_SOURCES] = {0};
	int			nsources = 0;

	for (starts[0] = first; nsources < reaching->most_sources && starts[nsources] < reaching->npairs; nsources++)
	{
		sources[nsources] = reaching->pairs[starts[nsources]].from;
		starts[nsources + 1] = end_of_source(reaching, starts[nsources]);
	}
	emogi_task_batch(reaching->call, reaching->task, reaching->graph, sources, nsources, &reaching->batch);
	if (reaching->batch.too_deep)
	{
		reaching->most_sources = 0;
		return first;
	}
	for (int s = 0; s < nsources; s++)
	{
		CHECK_FOR_INTERRUPTS();
		take_reached(reaching, s, starts[s], starts[s + 1]);
	}
	return starts[nsources];
}

/* ---- the whole ---- */

/* Search from a first batch of sources, and go on one by one if that is sooner; get where the next ones begin. */
static uint64
search_first(Reaching *reaching)
{
	const double began_ms = emogi_pool_now_ms();
	const uint64 first = search_batch(reaching, reaching->nsearched);
	const double batch_ms = emogi_pool_now_ms() - began_ms;
	uint64		end;

	if (reaching->most_sources == 0 || first == reaching->npairs || batch_ms < LONG_BATCH_MS)
		return first;
	end = end_of_source(reaching, first);
	search_one(reaching, first, end);
	if (emogi_pool_now_ms() - began_ms - batch_ms < batch_ms / reaching->most_sources)
		reaching->most_sources = 0;
	return end;
}

/* Find all that is reached. */
static void
find_reached(Reaching *reaching)
{
	EmogiPairSearch search;
	uint64		first;
	uint64		end;

	search_pairs(reaching, &search);
	first = reaching->nsearched;
	choose_batch(reaching);
	if (reaching->most_sources > 0)
		first = search_first(reaching);
	for (; first < reaching->npairs; first = end)
	{
		CHECK_FOR_INTERRUPTS();
		if (reaching->most_sources > 0)
		{
			end = search_batch(reaching, first);
			continue;
		}
		end = end_of_source(reaching, first);
		search_one(reaching, first, end);
	}
	emogi_task_pairs_ran(&search, reaching->nsearched < reaching->npairs);
	emogi_task_pairs_note(&search);
}

/*
 * Find all that is reached in a patched Graph; false, with the pairs numbered by the Graph itself, when that does not do. Where that has no edge any more, the
 * call has ended, and there is none.
 */
static bool
find_patched(Reaching *reaching, EmogiGraph *graph)
{
	EmogiPairSearch search;
	Datum	   *keys;

	search_pairs(reaching, &search);
	if (reaching->nsearched == reaching->npairs)
	{
		emogi_task_pairs_note(&search);
		return true;
	}
	keys = emogi_pairs_keys(graph, reaching->patch, reaching->task->form, (uint32 *) reaching->pairs, reaching->npairs);
	pfree(reaching->found);
	reaching->patch = NULL;
	reaching->nsearched = 0;
	if (!emogi_course_reopen(reaching->call, reaching->task, graph))
	{
		reaching->call = NULL;
		return true;
	}
	reaching->npairs = emogi_pairs_renumber(graph, reaching->task->form, keys, reaching->npairs, (uint32 *) reaching->pairs);
	sort_pairs(reaching);
	pfree(keys);
	return false;
}

/* Put all rows. */
static void
put_rows(FunctionCallInfo fcinfo, const Reaching *reaching)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	EmogiForm  *form = reaching->task->form;
	bool		nulls[3] = {false};

	for (uint64 i = 0; i < reaching->npairs; i++)
	{
		const Pair	pair = reaching->pairs[i];
		Datum		values[] = {
			emogi_rows_patched_vertex(form, reaching->graph, reaching->patch, reaching->is_turned ? pair.to : pair.from),
			emogi_rows_patched_vertex(form, reaching->graph, reaching->patch, reaching->is_turned ? pair.from : pair.to),
			BoolGetDatum(reaching->found[i])
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	reaching->call->record.nrows = reaching->npairs;
}

/* emogi_reachable(graph, pairs, direction) -> setof (source, target, reachable) */
Datum
emogi_reachable(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiOverlay *patch = NULL;
	Reaching	reaching = {.task = &task,.graph = &graph};

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_begin(fcinfo, EMOGI_BFS, &task);
	task.graph.reads_names = false;
	emogi_arguments_pairs(fcinfo, 1, &task);
	task.direction = emogi_arguments_direction(fcinfo, 2, EMOGI_OUT);
	task.with_backward = true;
	reaching.call = emogi_course_open(fcinfo->flinfo->fn_oid, &task, emogi_local_search_is_enabled() ? &patch : NULL, &graph);
	if (reaching.call == NULL)
		return (Datum) 0;
	reaching.patch = patch;
	reaching.pairs = (Pair *) emogi_pairs_query(&graph, patch, task.form, task.pairs, &reaching.npairs);
	sort_pairs(&reaching);
	if (patch == NULL || !find_patched(&reaching, &graph))
	{
		turn_round(&reaching, &graph);
		find_reached(&reaching);
	}
	if (reaching.call == NULL)
		return (Datum) 0;
	emogi_call_phase(reaching.call, EMOGI_PHASE_ROWS);
	put_rows(fcinfo, &reaching);
	emogi_call_end(reaching.call);
	pfree(reaching.found);		/* the context is not reset while a cursor over the rows is open */
	pfree(reaching.pairs);
	return (Datum) 0;
}
