/*
 * apply_delta.c: the Graph of a call from a live state: found, or made of an older one and the changes since, or of the state's edges;
 * or built, with a live state for the calls to come.
 *
 * The state is held while it is asked and changed, no longer: a splice works on copies. What comes of it is published as any build.
 */
#include "postgres.h"

#include "utils/snapmgr.h"

#include "acquire/acquire.h"
#include "acquire/cache_lookup.h"
#include "cpu/local_components.h"
#include "edges/sink.h"
#include "changes/changes.h"
#include "base/arena.h"

/* A splice is put off while there are no more changes than these, and a patch takes no more memory. */
#define PATCH_CHANGES 1024
#define PATCH_BYTES (4 * 1024 * 1024)

/*
 * ... and while the calls that have done without it since the last change have not, together, taken longer for that than it takes: a
 * patched call costs as much as to splice so many edges.
 */
#define PATCH_EDGES 16384
#define LABELS_EDGES 250000		/* where components are patched */
#define MIN_PATCHED 16

/*
 * While another call splices there may be more changes: else all that come meanwhile would splice beside it, each for its own snapshot. How
 * long that takes is a guess on the safe side; should it be over sooner, its Graph is found.
 */
#define MOST_PATCHED 16384
#define SPLICE_LEAST_US 20000
#define SPLICE_EDGES_US 50		/* edges in a microsecond */

/* Changes of the own transaction that are kept cost a patch but once, and are put beside a Graph until a splice costs no more than that. */
#define OWN_LEAST 16384
#define OWN_SHARE 32
#define OWN_MOST 131072

/* For components, where a patch spares a run, too: a share of the edges, between PATCH_CHANGES and so many. */
#define LABELS_SHARE 512
#define LABELS_CHANGES 16384
#define LABELS_BYTES (32 * 1024 * 1024)

/* Of so many list entries one may change for a GPU to derive its copy of the new Graph from the old one: else it copies it as a whole. */
#define EMOGI_DERIVE_SHARE 32

/* A filtered table of more pages than so many for each unit of the cost of the query's plan is not followed: its indexes are better. */
#define PAGES_PER_COST 64

/* What a call does with a live state. */
typedef struct Following
{
	EmogiCall  *call;
	EmogiSlot  *slot;
	const EmogiSource *source;
	const EmogiCacheLookup *lookup;
	EmogiChangeTracker *state;
	EmogiRefresh refresh;
	EmogiOverlay **patch;			/* for a call that takes an older Graph and what has changed since; else NULL */
	EmogiGraph *graph;			/* for the call */
} Following;

/* Show the call the Graph that its slot has pinned. */
static bool
show(Following *following, const char *cache)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[following->slot->graph];

	strlcpy(following->call->record.cache, cache, sizeof following->call->record.cache);
	emogi_cache_lookup_present(&cached->graph, cached->key.direction, &following->lookup->key, following->graph);
	return true;
}

/* Show the call a Graph that lives no longer than it does. */
static bool
show_private(Following *following, const EmogiGraph *graph, EmogiDirection direction)
{
	strlcpy(following->call->record.cache, "private", sizeof following->call->record.cache);
	emogi_cache_lock();
	emogi_cache_shared->counters.private_builds++;
	emogi_cache_unlock();
	emogi_cache_lookup_present(graph, direction, &following->lookup->key, following->graph);
	return true;
}

/* ---- from an older Graph ---- */

/* All changes from a Graph's position on: those of the log, then those that are for this snapshot alone. */
typedef struct Since
{
	const EmogiEdgeChange *logged;
	uint64		nlogged;
	const EmogiEdgeChange *own;
	uint64		nown;
} Since;

/* Find the changes since a Graph's position. */
static Since
find_changes(const Following *following, const EmogiCached *base)
{
	const EmogiChangeTracker *state = following->state;
	const EmogiChanges *found = &following->refresh.changes;
	Since		since = {NULL, 0, found->changes, found->count};

	if (base->live_position < state->log_start)
		return since;			/* too many for the log; the base is where the state was before them */
	since.logged = state->log + (base->live_position - state->log_start);
	since.nlogged = state->position - base->live_position;
	if (following->refresh.outcome != EMOGI_REFRESH_PRIVATE)
		since.nown = 0;			/* the log has them */
	return since;
}

/* Bring changes to where the worker can read them. Raises 53200. */
static EmogiChanges
share_changes(const Following *following, const Since *since)
{
	EmogiChanges changes = {following->call};

	if (since->nlogged == 0 && since->nown > 0 && following->refresh.changes.context == NULL)
		return following->refresh.changes;
	emogi_tracker_diff_add(&changes, since->logged, since->nlogged);
	emogi_tracker_diff_add(&changes, since->own, since->nown);
	return changes;
}

/* Get the most changes that are put beside a Graph, for components or for a search. */
static uint64
most_changes(const EmogiCached *base, bool by_labels)
{
	return by_labels ? Max(PATCH_CHANGES, Min(base->graph.forward.nedges / LABELS_SHARE, LABELS_CHANGES)) : PATCH_CHANGES;
}

/* Make a patch of all changes to a Graph as it is shown; NULL when that cannot be, or takes too much. */
static EmogiOverlay *
make_patch(const EmogiGraph *shown, EmogiDirection direction, bool by_labels, const Since *since)
{
	const uint64 count = since->nlogged + since->nown;
	EmogiEdgeChange *changes = palloc(Max(count, 1) * sizeof *changes);
	EmogiMergeInput input = {.graph = shown, .direction = direction, .weight_type = shown->weight_type, .nchanges = count,
		.changes = changes};
	EmogiOverlay *patch = palloc(sizeof *patch);

	if (since->nlogged > 0)
		memcpy(changes, since->logged, since->nlogged * sizeof *changes);
	if (since->nown > 0)
		memcpy(changes + since->nlogged, since->own, since->nown * sizeof *changes);
	if (emogi_overlay_bytes(&input) > (by_labels ? LABELS_BYTES : PATCH_BYTES))
		return NULL;
	input.memory = (void *) TYPEALIGN(EMOGI_LINE_BYTES, palloc(emogi_overlay_bytes(&input) + EMOGI_LINE_BYTES));
	if (!emogi_overlay_make(&input, patch) || (by_labels && patch->nlosers > 0))
		return NULL;			/* without an edge, components may fall apart */
	pfree(changes);
	return patch;
}

/* Are the changes of the own transaction kept, with a patch for searches? */
static bool
keeps_own(const Following *following)
{
	return following->refresh.own_changes != NULL && !following->lookup->key.by_labels;
}

/* May the call have the Graph that its slot has as its donor, and so many changes? Counts what that costs. */
static bool
may_patch(const Following *following, const EmogiCached *base, const Since *since)
{
	const uint64 nedges = base->graph.forward.nedges;
	const bool	by_labels = following->lookup->key.by_labels;
	const uint64 unit = by_labels ? LABELS_EDGES : PATCH_EDGES;
	const uint64 cost = by_labels ? 1 + base->graph.nvertices / unit : 1;	/* all may be written */
	EmogiChangeTracker *state = following->state;

	if (following->patch == NULL || base->graph.nvertices == 0)
		return false;
	if (keeps_own(following) && since->nlogged + since->nown <= Max(OWN_LEAST, Min(nedges / OWN_SHARE, OWN_MOST)))
		return true;
	if (since->nlogged + since->nown > MOST_PATCHED || (by_labels && !emogi_cache_labels_exist(following->slot->donor)))
		return false;
	if (GetCurrentTimestamp() < state->splice_until)
		return true;
	if (since->nlogged + since->nown > most_changes(base, by_labels))
		return false;
	if (since->nown > 0)
		return true;
	state->npatched += cost;
	return state->npatched - cost <= nedges / unit + MIN_PATCHED;
}

/* Show the call the Graph that its slot has as its donor, and beside it the changes; false when a splice is better, or the only way. */
static bool
patch_graph(Following *following, const EmogiCached *base, const Since *since)
{
	EmogiSlot  *slot = following->slot;
	const EmogiGraphKey *wanted = &following->lookup->key;
	const EmogiDirection direction = wanted->any_direction ? base->key.direction : wanted->direction;
	EmogiOverlay *patch;

	if (!may_patch(following, base, since))
		return false;
	emogi_cache_lookup_present(&base->graph, base->key.direction, wanted, following->graph);
	patch = NULL;
	if (keeps_own(following))
		patch = emogi_own_overlay(following->refresh.own_changes, following->call, base->id, following->graph, direction, since->logged, since->nlogged);
	if (patch == NULL && since->nlogged + since->nown <= MOST_PATCHED)
		patch = make_patch(following->graph, direction, wanted->by_labels, since);
	if (patch == NULL)
		return false;
	*following->patch = patch;
	slot->graph = slot->donor;
	slot->donor = -1;
	strlcpy(following->call->record.cache, "patched", sizeof following->call->record.cache);
	emogi_cache_lock();
	emogi_cache_shared->counters.patches++;
	emogi_cache_unlock();
	return true;
}

/* ---- the labels of a Graph that is made of another ---- */

/* Make a patch by which the new Graph gets the old one's labels; NULL where it does not. *shown: the old one, without weights. */
static EmogiOverlay *
patch_labels(const Following *following, const EmogiCached *base, const Since *since, EmogiGraph *shown)
{
	if (!emogi_enable_near || base->graph.nvertices == 0 || since->nlogged + since->nown > most_changes(base, true) ||
		!emogi_cache_labels_may_be_carried(following->slot->donor))
		return NULL;
	*shown = base->graph;
	emogi_cache_lookup_hide_weights(shown);
	return make_patch(shown, base->key.direction, true, since);
}

/* Give the new Graph, which is published, the labels of the slot's donor, with the edges that have come. */
static void
carry_labels(EmogiSlot *slot, const EmogiGraph *shown, const EmogiOverlay *patch)
{
	EmogiLocalComponents components = {.graph = shown, .patch = patch};
	void	   *memory = palloc(emogi_local_components_bytes(patch) + EMOGI_LINE_BYTES);
	const uint64 nvertices = emogi_cache_shared->graphs[slot->graph].graph.nvertices;
	uint32	   *labels = nvertices == shown->nvertices + patch->nnew ? emogi_cache_labels_alloc(slot->graph) : NULL;
	bool		written = false;

	if (labels == NULL)
		return;
	components.labels = emogi_cache_labels_begin(slot->donor, false);
	if (components.labels != NULL)
	{
		emogi_local_components_join(&components, (void *) TYPEALIGN(EMOGI_LINE_BYTES, memory));
		written = emogi_local_components_write(&components, emogi_cache_labels_stop, NULL, labels);
		emogi_cache_labels_end(slot->donor);
	}
	if (written)
		emogi_cache_labels_set(slot->graph, labels, slot->donor);
	else
		emogi_cache_labels_give_up(slot->graph, labels);
}

/* ---- a splice ---- */

/*
 * Have the worker make the new Graph, in memory of the call, which others will know as the slot's if it is shared. Raises 53200. What
 * a derivation needs is a part of the scratch; it is the worker's, and where it goes, too.
 */
static EmogiGraph
splice_graph(const Following *following, const EmogiCached *base, const EmogiChanges *changes, uint32 misfits, bool shared)
{
	EmogiCall  *call = following->call;
	bool		few = changes->count <= base->graph.forward.nedges / EMOGI_DERIVE_SHARE;
	uint64		derived_id = shared && few ? emogi_cache_derived_id(following->slot->graph, base) : 0;
	EmogiDerivation derivation;
	EmogiRequest *request = &following->slot->request;
	bool		weighted = base->graph.weight_type != EMOGI_WEIGHT_NONE || (base->key.weight > 0 && base->graph.nvertices == 0);
	EmogiMergeInput input = {
		.graph = &base->graph, .direction = base->key.direction, .with_backward = base->key.with_backward,
		.weight_type = weighted ? emogi_weight_type(misfits) : EMOGI_WEIGHT_NONE,
		.nchanges = changes->count, .changes = changes->changes, .derivation = derived_id != 0 ? &derivation : NULL
	};
	Size		scratch_bytes = emogi_merge_scratch_bytes(&input, emogi_cpu_threads);
	EmogiGraph	graph;

	input.memory = emogi_call_alloc_any(call, emogi_merge_bytes(&input));
	input.scratch = emogi_call_alloc_any(call, scratch_bytes);
	request->kind = EMOGI_REQUEST_MERGE;
	request->graph = base->graph;
	request->splice = input;
	request->derived_id = derived_id;
	graph = emogi_call_request(call)->graph;
	graph.dictionary = base->graph.dictionary;
	emogi_arena_free(input.scratch, scratch_bytes);
	if (changes->changes != NULL)
		emogi_arena_free(changes->changes, changes->room * sizeof(EmogiEdgeChange));
	return graph;
}

/* Make the Graph of one that the slot has as its donor, for all or, where it is for this snapshot alone, for the call. */
static bool
splice_from(Following *following, const EmogiCached *base)
{
	EmogiSlot  *slot = following->slot;
	const EmogiCacheLookup *lookup = following->lookup;
	EmogiChangeTracker *state = following->state;
	const uint64 state_id = state->id;
	EmogiGraphKey key = base->key;
	EmogiDirection direction = base->key.direction;
	Since		since = find_changes(following, base);
	EmogiChanges changes;
	uint64		nskipped = following->refresh.nskipped;
	uint32		misfits = following->refresh.weight_misfits;
	bool		stored = following->refresh.outcome != EMOGI_REFRESH_PRIVATE;
	bool		shared;
	EmogiGraph	graph;
	EmogiGraph	shown;
	EmogiOverlay *patch;

	if (patch_graph(following, base, &since))
	{
		emogi_change_tracker_release(slot);
		return true;
	}
	if (following->patch != NULL)
		state->splice_until = GetCurrentTimestamp() + SPLICE_LEAST_US + (int64) (base->graph.forward.nedges / SPLICE_EDGES_US);
	patch = patch_labels(following, base, &since, &shown);
	changes = share_changes(following, &since);
	key.weights = lookup->key.weights;
	if (stored)
		shared = emogi_cache_lookup_reserve_at(slot, lookup, &key, state->id, state->position, true);
	else
		shared = !lookup->own && !following->refresh.own && emogi_cache_lookup_reserve_at(slot, lookup, &key, 0, 0, true);
	emogi_change_tracker_release(slot);
	emogi_call_phase(following->call, EMOGI_PHASE_MERGE);
	graph = splice_graph(following, base, &changes, misfits, shared);
	emogi_change_tracker_note_spliced(state_id);
	emogi_call_phase(following->call, EMOGI_PHASE_IDLE);
	if (shared)
	{
		emogi_cache_lookup_publish(following->call, &graph, misfits, nskipped, &emogi_cache_shared->counters.splices);
		if (patch != NULL)
			carry_labels(slot, &shown, patch);
		emogi_cache_lookup_release_donor(slot);
		return show(following, "spliced");
	}
	emogi_cache_lookup_release_donor(slot);
	pg_atomic_write_u64(&slot->nskipped, nskipped);
	return show_private(following, &graph, direction);
}

/* ---- from the state's edges ---- */

/* Put the edges of the state into the chunks of the call's slot. Raises 53200. */
static void
unpack_edges(const Following *following)
{
	EmogiRequest *request = &following->slot->request;
	const EmogiChangeTracker *state = following->state;
	bool		weighted = state->coo.weight_type != EMOGI_WEIGHT_NONE;
	uint64		per_chunk = weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES;
	EmogiCooRun *runs;
	uint64		nruns;

	following->slot->weights = emogi_sink_weights(weighted, true, following->lookup->key.weights);
	following->slot->all_codes = false;
	if (state->nedges == 0)
		return;
	runs = emogi_tracker_store_runs(following->call, state, &nruns);
	for (uint64 i = 0; i < state->nedges; i += per_chunk)
		(void) emogi_arena_alloc(EMOGI_OWNER_EDGES(following->call->slot_index), EMOGI_CHUNK_BYTES);
	request->kind = EMOGI_REQUEST_UNPACK;
	request->coo = state->coo;
	request->runs = runs;
	request->nruns = nruns;
	(void) emogi_call_request(following->call);
	emogi_arena_free(runs, Max(state->pages.npages, 1) * sizeof(EmogiCooRun));
}

/*
 * Build the Graph of the state's edges; false when there is no room for it in the cache. done: it is the Graph of the call, whose
 * snapshot sees just that; else the state goes on being held.
 */
static bool
build_from_edges(Following *following, bool done)
{
	EmogiCall  *call = following->call;
	const EmogiCacheLookup *lookup = following->lookup;
	EmogiChangeTracker *state = following->state;
	uint64		nskipped = state->nskipped;
	EmogiGraph	graph;
	uint32		misfits;

	if (!emogi_cache_lookup_reserve_at(following->slot, lookup, &lookup->key, state->id, state->position, done))
		return false;
	emogi_call_phase(call, EMOGI_PHASE_MERGE);
	unpack_edges(following);
	if (done)
		emogi_change_tracker_release(following->slot);
	emogi_build_graph(call, lookup->key.direction, lookup->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	emogi_cache_lookup_publish(call, &graph, misfits, nskipped, &emogi_cache_shared->counters.builds);
	return show(following, "built");
}

/* ---- from the tables ---- */

/*
 * Build the Graph, and make the state, as the active snapshot sees the tables; false when there is no room for it in the cache. Where the
 * lookup is one's own, that snapshot does not see one's own changes, and the Graph is not for the call: false, too, when there is no
 * room for the state. Likewise when what conditions depend on was replaced meanwhile.
 */
static bool
build_with_state(Following *following)
{
	EmogiCall  *call = following->call;
	EmogiSlot  *slot = following->slot;
	const EmogiCacheLookup *lookup = following->lookup;
	EmogiTrackerCreation creation;
	bool		shared = true;
	bool		is_current;
	List	   *leaves = NIL;
	EmogiGraph	graph;
	uint32		misfits;

	if (!emogi_cache_lookup_reserve_at(slot, lookup, &lookup->key, following->state->id, 0, true))
		return false;
	emogi_fault_sleep(EMOGI_AT_REGISTERED);
	for (int i = 0; i < lookup->nleaves; i++)
		leaves = lappend_oid(leaves, lookup->relids[i]);
	emogi_tracker_create_begin(call, following->source, following->state, lookup->relids, lookup->nleaves, &creation);
	emogi_build_edges(call, following->source, leaves, lookup->key.weights, creation.notes);
	creation.own_unseen = lookup->own;
	is_current = emogi_analysis_filter_is_current(following->source);
	if (!is_current)
		emogi_tracker_create_cancel(&creation);
	if (!is_current || !emogi_tracker_create_finish(call, &creation, &lookup->xids))
	{
		shared = emogi_cache_lookup_forget_state(slot, creation.own || !is_current);
		if (lookup->own || !is_current)
		{
			emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
			pg_atomic_write_u64(&slot->nskipped, 0);
			return false;
		}
	}
	emogi_build_graph(call, lookup->key.direction, lookup->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (shared)
		emogi_cache_lookup_publish(call, &graph, misfits, pg_atomic_read_u64(&slot->nskipped), &emogi_cache_shared->counters.builds);
	emogi_change_tracker_release(slot);
	return shared ? show(following, "built") : show_private(following, &graph, lookup->key.direction);
}

/*
 * Build the Graph and make the state of what others see, in a transaction that has changed the tables, and hold the state again: so what
 * is one's own is all that its calls pay for. False when that is not to be had.
 */
static bool
build_for_others(Following *following)
{
	EmogiSlot  *slot = following->slot;
	bool		built;
	bool		waited;

	PushCopiedSnapshot(GetActiveSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;	/* none of one's own commands has been */
	built = build_with_state(following);
	PopActiveSnapshot();
	pg_atomic_write_u64(&slot->nskipped, 0);	/* of that scan, not of the call's Graph */
	if (!built)
		return false;
	emogi_cache_unpin(slot->graph);
	slot->graph = -1;
	following->state = emogi_change_tracker_hold(slot, &following->lookup->key, false, &waited);
	return following->state != NULL && following->state->phase == EMOGI_LIVE_READY;
}

/* ---- which of them ---- */

/* Build the Graph of what the state has, for all, as the slot's donor, for what this snapshot alone sees; NULL without room. */
static const EmogiCached *
build_base(Following *following)
{
	EmogiSlot  *slot = following->slot;

	if (!build_from_edges(following, false))
		return NULL;
	slot->donor = slot->graph;
	slot->graph = -1;
	return &emogi_cache_shared->graphs[slot->donor];
}

/* Find or make the Graph of what the state has, or has now; false when it is of no use for the call. */
static bool
use_state(Following *following)
{
	const EmogiCacheLookup *lookup = following->lookup;
	EmogiChangeTracker *state = following->state;
	const EmogiRefresh *refresh = &following->refresh;
	const EmogiCached *base;

	if (lookup->key.weight > 0 && !emogi_cache_lookup_takes_weights(lookup->key.weights, refresh->weight_misfits))
		return false;			/* a build says which weight it is */
	if (refresh->outcome == EMOGI_REFRESH_UNCHANGED &&
		emogi_cache_lookup_find_at(following->slot, lookup, state, refresh->newer))
	{
		emogi_change_tracker_release(following->slot);
		pg_atomic_write_u64(&following->slot->nskipped, refresh->nskipped);
		return show(following, "hit");
	}
	base = emogi_cache_lookup_find_base(following->slot, lookup, state, refresh->old_position);
	if (base == NULL && refresh->outcome != EMOGI_REFRESH_PRIVATE)
		return build_from_edges(following, true);
	if (base == NULL)
		base = build_base(following);
	return base != NULL && splice_from(following, base);
}

/* Bring the state to the call's snapshot, and get the Graph; false when that is not to be had so. */
static bool
follow(Following *following)
{
	const EmogiCacheLookup *lookup = following->lookup;

	emogi_dictionaries_attach(following->slot, following->state->dictionary);
	emogi_call_phase(following->call, EMOGI_PHASE_REFRESH);
	emogi_tracker_refresh(following->call, following->source, lookup->relids, lookup->nleaves, &lookup->xids,
				  lookup->key.weights, following->state, &following->refresh);
	emogi_call_phase(following->call, EMOGI_PHASE_IDLE);
	return following->refresh.outcome != EMOGI_REFRESH_HOPELESS && use_state(following);
}

/* Are the tables of a lookup, which can be followed, large enough for that to begin? */
bool
emogi_apply_delta_may_begin(const EmogiCacheLookup *lookup)
{
	return emogi_tracker_refresh_pages(lookup->relids, lookup->nleaves) * (BLCKSZ / 1024) >= (uint64) emogi_live_min_size_kb;
}

/*
 * Is a state to be made where there is none? That of a filtered table not at the first build, or the first time that a value of the call is asked for, nor where an index makes a build cheaper
 * than to keep what is known of all pages.
 */
static bool
may_make_state(const EmogiCacheLookup *lookup)
{
	double		nrows;

	if (!emogi_apply_delta_may_begin(lookup))
		return false;
	if (lookup->tree == NULL || emogi_change_tracker_exists(&lookup->key))
		return true;
	return (lookup->tree->is_folded ? !emogi_cache_lookup_asked_first(lookup, false) : emogi_cache_lookup_built_before(lookup)) &&
		emogi_table_filter_cost(lookup->tree->filtered, &nrows) * PAGES_PER_COST >= (double) emogi_tracker_refresh_pages(lookup->relids, lookup->nleaves);
}

/*
 * May the Graph and the state of what others see be built in a transaction that has changed the tables? Not with weights: others may see one
 * that the call refuses, and that the transaction has mended.
 */
static bool
may_build_for_others(const EmogiCacheLookup *lookup)
{
	return lookup->key.weight == 0;
}

/*
 * Get the Graph of a call that found none in the cache, if its tables can be followed; false when it must be built, and nothing is
 * reserved or held. patch: see emogi_acquire_patched; NULL = the Graph itself is wanted. Raises what a build does.
 */
bool
emogi_apply_delta(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup, EmogiOverlay **patch, EmogiGraph *graph)
{
	Following	following = {.call = call, .slot = call->slot, .source = lookup->tree != NULL ? lookup->tree->filtered : source, .lookup = lookup, .patch = patch, .graph = graph};
	bool		make;
	bool		waited;

	if (!lookup->can_follow)
		return false;
	make = may_make_state(lookup);
	following.state = emogi_change_tracker_hold(call->slot, &lookup->key, make, &waited);
	emogi_cache_lock();
	emogi_cache_shared->counters.waits += waited;
	emogi_cache_unlock();
	if (following.state == NULL)
		return false;
	if (!lookup->own && emogi_cache_lookup_look(call->slot, lookup))
	{
		emogi_change_tracker_release(call->slot);	/* while this waited, another has seen to it */
		return show(&following, "hit");
	}
	if (following.state->phase == EMOGI_LIVE_READY && follow(&following))
		return true;
	if (make && (following.state->phase == EMOGI_LIVE_NEW ||
				 (following.refresh.outcome == EMOGI_REFRESH_HOPELESS && following.refresh.newer && !lookup->own)))
	{
		emogi_change_tracker_empty(following.state);
		if (!lookup->own ? build_with_state(&following) :
			may_build_for_others(lookup) && build_for_others(&following) && follow(&following))
			return true;
	}
	if (following.state == NULL)
		return false;
	if (following.refresh.outcome == EMOGI_REFRESH_HOPELESS && following.refresh.newer && !lookup->own)
		following.state->broken = true;	/* it will not come to anything any more; what is one's own may be rolled back */
	emogi_change_tracker_release(call->slot);
	return false;
}
