/*
 * cache.h: the shared cache of graphs.
 *
 * - recent_writers.c: the transactions that have changed each table. They decide whether a snapshot
 *   sees the rows of a cached graph. transaction_snapshot.c: what a snapshot sees of other
 *   transactions. tables.c: the tracked tables.
 * - cache.c: the entries: their life cycle and memory. cache_find.c finds entries by the objects
 *   they were built from.
 * - cache_evict.c: eviction. cache_keep.c: the graphs that are exempt from it. cache_share.c: when
 *   the graphs of a role are evicted before all others.
 * - ddl_invalidation.c: eviction of the graphs of dropped tables and databases.
 * - cache_labels.c: the component labels of a cached graph. cache_contraction.c: its contraction
 *   hierarchy. cache_columns.c: its property columns (columns.h). cache_gpus.c: the GPUs that may
 *   know its memory.
 * - dictionaries.c: the dictionaries of graphs whose keys are not integers.
 * - change_tracker.c, change_tracker_pages.c, vacuums.c: the change trackers, and counters of
 *   VACUUMs (change_tracker.h).
 * - index_cost.c: the accumulated cost of index searches that ran without a graph.
 * - asked_queries.c: recently requested queries, and what searches instead of them cost.
 *
 * ../acquire/cache_lookup.c decides which entry serves a call.
 */
#ifndef EMOGI_CACHE_H
#define EMOGI_CACHE_H

#include "common/hashfn.h"
#include "lib/ilist.h"
#include "utils/snapshot.h"

#include "base/shared.h"

/* ---- transaction_snapshot.c: what a snapshot sees of other transactions ---- */

/* transactions that a cached graph's snapshot may see as running */
#define EMOGI_MAX_RUNNING	512

/* Transaction ids here are full transaction ids. */
typedef struct EmogiTransactionSnapshot
{
	uint64		xmin;			/* all ids below have ended */
	uint64		xmax;			/* no id from here on has ended */
	bool		recovery;		/* taken on a standby: running[] includes subtransactions */
	bool		overflowed;		/* ... but not all of them */
	uint32		nrunning;
	uint64	   *running;		/* [nrunning], ascending; palloced, or owned by the cache entry */
} EmogiTransactionSnapshot;

extern bool emogi_transaction_snapshot_take(Snapshot snapshot, EmogiTransactionSnapshot *xids);
extern bool emogi_transaction_snapshot_running(const EmogiTransactionSnapshot *xids, uint64 xid);
extern bool emogi_transaction_snapshot_contain(const EmogiTransactionSnapshot *xids,
											   const EmogiTransactionSnapshot *base);
extern bool emogi_transaction_snapshot_equal(const EmogiTransactionSnapshot *a,
											 const EmogiTransactionSnapshot *b);
extern bool emogi_transaction_snapshot_committed(uint64 xid);
extern uint64 emogi_transaction_snapshot_full(TransactionId xid, uint64 next);
extern int	emogi_transaction_snapshot_compare(const void *a, const void *b);

/* ---- tables.c: the tracked tables; a table is identified by the index of its entry ---- */

extern Size emogi_tables_shmem_size(void);
extern void emogi_tables_shmem_startup(bool found);
extern bool emogi_tables_can_hold(int ntables);
extern void emogi_tables_publish(int table);
extern void emogi_tables_record_eviction(int table);
extern void emogi_tables_release(int table);
extern void emogi_tables_untrack(Oid database, Oid relid);
extern uint32 emogi_tables_ntracked(void);
extern int	emogi_tables_references(Oid database, Oid relid);

/* ---- recent_writers.c: which transactions have changed which tables ---- */

extern void emogi_recent_writers_init(void);
extern bool emogi_recent_writers_changed_by_me(Oid relid);
extern int	emogi_recent_writers_track(Oid relid, const EmogiTransactionSnapshot *xids);
extern bool emogi_recent_writers_must_register(int table, const EmogiTransactionSnapshot *xids);
extern void emogi_recent_writers_register(const int *tables, const Oid *relids, int ntables,
										  const EmogiTransactionSnapshot *xids);
extern bool emogi_recent_writers_allow_snapshot(int table, const EmogiTransactionSnapshot *xids);
extern bool emogi_recent_writers_left_alone(Oid relid, const EmogiTransactionSnapshot *a,
											const EmogiTransactionSnapshot *b,
											const uint64 *except, int nexcept);
extern bool emogi_recent_writers_see_same_rows(int table, const EmogiTransactionSnapshot *a,
											   const EmogiTransactionSnapshot *b,
											   const uint64 *except, int nexcept);
extern bool emogi_recent_writers_outdated(int table, const EmogiTransactionSnapshot *xids,
										  TransactionId oldest_xid);
extern bool emogi_recent_writers_are_superseded(int table, const EmogiTransactionSnapshot *xids,
												const EmogiTransactionSnapshot *newer);
extern void emogi_recent_writers_forget_recovery(void);

#define EMOGI_RECENT_WRITERS	128
#define EMOGI_EPOCH_BYTES	16

/*
 * Identifies the rows of a table: equal values guarantee equal rows, in the past and in the future.
 */
typedef struct EmogiTableVersion
{
	uint8		epoch[EMOGI_EPOCH_BYTES];
	uint64		number;			/* of the table's entry */
	uint64		nclears;		/* of its ring */
	uint64		nseen;
	/*
	 * [nseen], transactions in the ring that committed before the snapshot, ascending; the rest is
	 * zero
	 */
	uint64		seen[EMOGI_RECENT_WRITERS];
} EmogiTableVersion;

extern bool emogi_recent_writers_table_version(Oid relid, const EmogiTransactionSnapshot *xids,
											   EmogiTableVersion *version);

/* ---- dictionaries.c: the dictionaries of graphs, identified by an index; -1 = none ---- */

#define EMOGI_MAX_DICTIONARIES 8192

extern Size emogi_dictionaries_shmem_size(void);
extern void emogi_dictionaries_shmem_startup(void);
extern bool emogi_dictionaries_begin(EmogiSlot *slot, const EmogiKeyType *type);
extern void *emogi_dictionaries_alloc(EmogiSlot *slot, Size bytes);
extern void emogi_dictionaries_finish(EmogiSlot *slot, EmogiDictionary *dictionary);
extern void emogi_dictionaries_attach(EmogiSlot *slot, int index);
extern void emogi_dictionaries_share(int index);
extern bool emogi_dictionaries_allocate_room(int index);
extern int	emogi_dictionaries_use(int index);
extern void emogi_dictionaries_release(int index);
extern EmogiDictionary *emogi_dictionaries_get(int index);
extern const EmogiKeyType *emogi_dictionaries_type(int index);
extern uint64 emogi_dictionaries_bytes(int index);
extern uint64 emogi_dictionaries_built_bytes(int index);
extern uint64 emogi_dictionaries_total_bytes(void);

/* ---- cache.c: graphs shared by calls and sessions ---- */

/*
 * Number of graphs that can be cached: one per MiB of emogi.max_memory, within [EMOGI_MIN_GRAPHS,
 * EMOGI_MAX_GRAPHS].
 */
#define EMOGI_MIN_GRAPHS	1024

#define EMOGI_MAX_BASE_TABLES	16384	/* tables behind one cached graph */

/*
 * Capacity of the arrays within an entry; longer arrays of leaves or running transactions are
 * allocated in the arena.
 */
#define EMOGI_INLINE_LEAVES	4
#define EMOGI_INLINE_RUNNING	16

#define EMOGI_FINGERPRINT_BYTES	32		/* of the fingerprint of a query */

/* bytes of a query's text that are kept; longer texts are truncated */
#define EMOGI_MAX_TEXT		4095

/*
 * What a call requests of a graph, and what a cached graph provides. Fields marked "request" are
 * set in requests only.
 */
typedef struct EmogiGraphKey
{
	Oid			database;
	/*
	 * the relation that the user named: the root of its leaves. For a query: the view, if it is
	 * one; then not part of the key
	 */
	Oid			relid;
	bool		of_query;		/* identified by its fingerprint */
	/* some rows are on foreign servers, which supplied the input of the fingerprint */
	bool		of_servers;
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];	/* zero unless of_query or of_servers */
	AttrNumber	src;			/* 0 = of a query */
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none; for a query its position in the result */
	AttrNumber	reverse;		/* the reverse edge's weight; 0 = none, and for queries */
	EmogiKeyType keys;			/* type of src and dst */
	EmogiWeights weights;		/* request: which weights are rejected */
	EmogiDirection direction;
	bool		any_direction;	/* request: any direction is acceptable */
	/*
	 * request: component labels are useful, also those of an older graph with the changes since; of
	 * several graphs, one with labels is preferred
	 */
	bool		by_labels;
	bool		with_backward;
	/*
	 * request: a graph shared by all sessions, as the snapshot sees it; raises 55000 if there
	 * cannot be one
	 */
	bool		shared_only;
} EmogiGraphKey;

typedef struct EmogiLeaf
{
	int			table;			/* index in tables.c, with a reference */
	Oid			relfilenumber;
	uint32		columns;		/* identifies its columns, see EmogiCacheLookup */
} EmogiLeaf;

typedef enum EmogiCachedState
{
	EMOGI_GRAPH_FREE = 0,
	EMOGI_GRAPH_BUILDING,		/* by a call; other calls that can use it wait for it */
	EMOGI_GRAPH_READY,
	/* not found by lookups; freed when it has no pins and no GPU may know it */
	EMOGI_GRAPH_DOOMED
} EmogiCachedState;

/* Totals over graphs: see cache_share.c. */
typedef struct EmogiCacheTotals
{
	uint64		bytes;			/* without labels and contraction hierarchies */
	uint32		ngraphs;
	uint32		nleaves;
	uint32		ndictionaries;	/* a dictionary of several graphs counts once for each */
} EmogiCacheTotals;

/* The number and size of a graph's components; 0 = unknown. */
typedef struct EmogiComponentSizes
{
	double		ncomponents;
	double		nmembers;		/* mean size of the component of a vertex */
} EmogiComponentSizes;

/*
 * One cached graph. All fields are protected by EmogiShared.cache_lock; the arrays of a READY graph
 * may be read by any process that has it pinned.
 */
typedef struct EmogiCached
{
	EmogiCachedState state;
	dlist_node	chain;			/* in the bucket of its table, unless it is FREE */
	dlist_node	order;			/* in EmogiCache.free, .used or .doomed */
	uint64		id;				/* never reused; the entry's index is id % EMOGI_MAX_GRAPHS */
	EmogiGraphKey key;
	uint32		pins;			/* slots that use it, including the builder's */
	/*
	 * bit mask of the worker's GPUs whose engines may know it; if not 0, only the worker may free
	 * it
	 */
	uint32		gpus;
	bool		leaving;		/* DOOMED, and a process is about to free it */
	bool		packed;			/* its memory is a small allocation; otherwise whole extents */
	bool		kept;			/* READY, and exempt from eviction: see cache_keep.c */
	/*
	 * it has values that no other call has requested since it was built: see
	 * ../acquire/cache_lookup_make.c. Owned by its builder until it is READY
	 */
	bool		asked_once;
	bool		of_values;		/* of a query with values that other calls may not use */
	/* its part of its builder's totals, see cache_share.c; all 0 = not counted */
	EmogiCacheTotals counted;
	EmogiGraph	graph;
	uint32		weight_misfits; /* EMOGI_NOT_* over all weights */
	uint64		bytes;			/* in the arena, without the dictionary */
	int			dictionary;		/* index; -1 = none */
	/* [nvertices], the result of CC, see cache_labels.c; NULL = absent */
	uint32	   *labels;
	/* [nvertices], the next vertex of the same component, derived from labels; NULL = absent */
	uint32	   *members;
	EmogiComponentSizes components;	/* kept when the labels are dropped */
	uint64		labels_bytes;	/* of labels and members; included in `bytes` */
	uint32		label_readers;	/* calls that are reading them now, and have the graph pinned */
	uint32		results;		/* of these, the ones that do not read members */
	/* graphs through which the labels were carried since their last use */
	uint32		label_carries;
	struct EmogiContraction *contraction;	/* see cache_contraction.c; NULL = absent */
	uint64		contraction_bytes;	/* its own size; `bytes` includes its allocation */
	uint32		contraction_readers;	/* like label_readers */
	bool		contraction_asked;	/* it is being made, was attempted, or is requested */
	bool		contraction_wanted;	/* the worker is asked to make it */
	bool		contraction_making;	/* the worker is making it, and holds a pin */
	uint32		npaths;			/* long path searches that ran before it existed */
	double		path_ms;		/* total time of those searches */
	struct EmogiColumns *columns;	/* property columns, see columns.h; NULL = absent; included in
									 * `bytes` */
	uint64		columns_bytes;	/* that they occupy; read without cache_lock, too */
	int			columns_loader; /* index of the slot that loads columns; -1 = none */
	uint64		nskipped;		/* rows with a NULL end */
	uint64		hits;
	TimestampTz built_at;
	TimestampTz last_used;
	TimestampTz exact_at;		/* the last time when it was known to equal the table */
	/* the highest emogi.max_staleness of the calls that built or found it */
	int			staleness_ms;
	double		build_ms;
	int			nleaves;
	EmogiLeaf  *leaves;			/* [nleaves], in `inline_leaves` or `overflow` */
	/*
	 * snapshot under which its rows were read, or are known to be right; running[] is in
	 * `inline_running` or `overflow`
	 */
	EmogiTransactionSnapshot xids;
	uint32		running_room;	/* capacity of xids.running */
	Oid			builder;		/* the role that built it */
	char	   *text;			/* of a query, perhaps truncated, in `overflow`; NULL = not a
								 * query */
	bool		by_writers;		/* the rings may decide for which other snapshots it is right */
	uint64		tracker_id;		/* the change tracker that it was made from, 0 = none, ... */
	uint64		tracker_position;	/* ... and the tracker's position then */
	void	   *overflow;		/* small allocation in the arena; NULL = none */
	Size		overflow_bytes;
	EmogiLeaf	inline_leaves[EMOGI_INLINE_LEAVES];
	uint64		inline_running[EMOGI_INLINE_RUNNING];
} EmogiCached;

/* Totals over the graphs that are exempt from eviction. */
typedef struct EmogiKeptTotals
{
	uint64		bytes;			/* without labels */
	uint32		ngraphs;
	uint32		nleaves;
} EmogiKeptTotals;

/* Counters since the server start or the last reset; under cache_lock. */
typedef struct EmogiCacheCounters
{
	uint64		hits;			/* calls that found their graph */
	uint64		builds;			/* graphs built and published */
	/* graphs merged from another graph and the changes since, and published */
	uint64		merges;
	/* calls that used an older graph with an overlay of the changes since */
	uint64		overlays;
	uint64		private_builds; /* graphs built for one call */
	uint64		waits;			/* calls that waited for another call's build */
	uint64		evictions;		/* graphs evicted to make room */
	/* graphs dropped because no call can use them any more, or another graph serves as well */
	uint64		drops;
	TimestampTz reset_at;
} EmogiCacheCounters;

/* Hash buckets of the totals by builder. Roles in the same bucket share its totals. */
#define EMOGI_BUILDER_BUCKETS		1024

/* Number of graphs kept though their constants were requested only once. */
#define EMOGI_MAX_ASKED_ONCE		4
#define EMOGI_MAX_FOLLOWED_ONCE		16

/* Places for recent evictions; a later eviction may take the place of an earlier one. */
#define EMOGI_MAX_EVICTIONS			512

/* All fields are protected by cache_lock, unless noted. */
typedef struct EmogiCache
{
	uint64		next_id;
	EmogiCacheCounters counters;
	EmogiKeptTotals	kept;
	EmogiCacheTotals built[EMOGI_BUILDER_BUCKETS];	/* by the hash of the role that built them */
	ConditionVariable changed;	/* broadcast when a graph becomes READY or FREE */
	pg_atomic_uint32 ndoomed;	/* read without lock */
	/* some graph may want a contraction hierarchy; read without lock */
	volatile bool contractions_wanted;
	uint32		nused;			/* entries [0, nused) are set up */
	/* ids of the last graphs that were published as asked_once, 0 = none: without, ... */
	uint64		once[EMOGI_MAX_ASKED_ONCE];
	uint32		next_once;		/* next index to overwrite in once[] */
	/* ... and with a change tracker */
	uint64		followed_once[EMOGI_MAX_FOLLOWED_ONCE];
	uint32		next_followed_once;
	/*
	 * next entry to be checked for whether any call can use it, see ../acquire/cache_lookup_drop.c
	 */
	uint32		swept;
	/*
	 * hashes of the keys of graphs that were evicted to make room and not published since, each at
	 * its remainder; 0 = none
	 */
	uint64		evicted[EMOGI_MAX_EVICTIONS];
	dlist_head	free;
	dlist_head	used;			/* BUILDING and READY, least recently used first */
	dlist_head	doomed;
	EmogiCached graphs[FLEXIBLE_ARRAY_MEMBER];
} EmogiCache;

extern EmogiCache *emogi_cache_shared;

/* Get the number of graphs that can be cached. */
static inline uint32
emogi_cache_max_graphs(void)
{
	return (uint32) Min(Max(emogi_max_memory_mb, EMOGI_MIN_GRAPHS), EMOGI_MAX_GRAPHS);
}

/* Get the first bytes of a fingerprint. */
static inline uint64
emogi_cache_fingerprint_prefix(const EmogiGraphKey *key)
{
	uint64		start;

	memcpy(&start, key->fingerprint, sizeof start);
	return start;
}

extern dlist_head *emogi_cache_buckets;	/* [emogi_cache_max_graphs()], by database and table */

/* Get the list, linked by `chain`, of all entries of a table or query; it may include others. */
static inline dlist_head *
emogi_cache_bucket(const EmogiGraphKey *key)
{
	if (key->of_query)
		return &emogi_cache_buckets[emogi_cache_fingerprint_prefix(key) % emogi_cache_max_graphs()];
	return &emogi_cache_buckets[hash_combine(murmurhash32(key->database),
											 murmurhash32(key->relid)) % emogi_cache_max_graphs()];
}

/* Record a use of a graph. Caller holds cache_lock. */
static inline void
emogi_cache_touch(EmogiCached *cached)
{
	cached->last_used = GetCurrentTimestamp();
	dlist_delete(&cached->order);
	dlist_push_tail(&emogi_cache_shared->used, &cached->order);
}

extern Size emogi_cache_shmem_size(void);
extern void emogi_cache_shmem_startup(bool found);
extern void emogi_cache_init(void);
extern EmogiCached *emogi_cache_add(const EmogiGraphKey *key, const EmogiTransactionSnapshot *xids,
									int nleaves, const char *text);
extern void emogi_cache_doom(EmogiCached *cached);
extern void emogi_cache_transfer_graph(int graph, EmogiGraph *built, int dictionary,
									   bool is_read);
extern void emogi_cache_unpin(int graph);
extern void emogi_cache_free(int index);
extern void emogi_cache_free_doomed(void);
extern uint64 emogi_cache_evict(Oid database, Oid relid);
extern uint64 emogi_cache_evict_queries(bool (*evicts) (const EmogiCached *, const void *),
										const void *arg);
extern bool emogi_cache_text(uint64 id, char *text);
extern uint64 emogi_cache_stored_edges(const EmogiCached *cached);
extern bool emogi_cache_size(Oid relid, AttrNumber src, AttrNumber dst, uint64 *id,
							 uint64 *nvertices, uint64 *nedges,
							 EmogiComponentSizes *components);
extern bool emogi_cache_query_size(const uint8 *fingerprint, uint64 *nvertices, uint64 *nedges,
								   EmogiComponentSizes *components, EmogiKeyType *keys);

/* ---- cache_evict.c ---- */

extern bool emogi_cache_make_room(uint64 bytes);
extern void emogi_cache_wait_for_room(void);
extern bool emogi_cache_was_evicted(const EmogiGraphKey *key);
extern void emogi_cache_forget_eviction(const EmogiGraphKey *key);

/* ---- cache_gpus.c: for the engine worker ---- */

extern uint64 emogi_cache_derived_id(int index, const EmogiCached *base);
extern void emogi_cache_mark_gpus(uint64 id, uint32 gpus);
extern uint32 emogi_cache_gpus(uint64 id);
extern uint64 emogi_cache_next_to_forget(uint32 gpus, int *gpu);
extern void emogi_cache_gpu_has_forgotten(uint64 id, int gpu);
extern void emogi_cache_worker_has_ended(void);

static inline void
emogi_cache_lock(void)
{
	LWLockAcquire(emogi_shared->cache_lock, LW_EXCLUSIVE);
}

static inline void
emogi_cache_unlock(void)
{
	LWLockRelease(emogi_shared->cache_lock);
}

/* ---- keys of graphs ---- */

/* Check whether two graphs are of the same table, or of the same query. */
static inline bool
emogi_cache_same_source(const EmogiGraphKey *a, const EmogiGraphKey *b)
{
	return a->database == b->database && a->of_query == b->of_query &&
		(a->of_query ? memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint) == 0 :
		 a->relid == b->relid);
}

/* ---- cache_contraction.c: the contraction hierarchies of graphs ---- */

/*
 * Fraction of emogi.max_memory that one process-local array may take while a hierarchy is made: 1 /
 * EMOGI_CONTRACTION_MEMORY_SHARE.
 */
#define EMOGI_CONTRACTION_MEMORY_SHARE 4

extern uint64 emogi_cache_contraction_bytes(const EmogiCached *cached);
extern const EmogiGraph *emogi_cache_contraction_graph(int graph, const EmogiGraph *shown,
													   bool *reversed);
extern const struct EmogiContraction *emogi_cache_contraction_begin(int graph);
extern void emogi_cache_contraction_end(int graph);
extern bool emogi_cache_contraction_is_due(int graph);
extern void emogi_cache_contraction_retry(int graph);
extern int	emogi_cache_contraction_next(void);
extern void emogi_cache_contraction_made(int graph, const struct EmogiContraction *made,
										 bool again);
extern void emogi_cache_contraction_record_path(int graph, double ms);
extern void emogi_cache_contraction_keep(int graph, const struct EmogiContraction *made);
extern void emogi_cache_contraction_free(int graph);
extern bool emogi_cache_contraction_drop(void);

/* ---- cache_labels.c: the components of graphs ---- */

extern bool emogi_cache_labels_exist(int graph);
extern bool emogi_cache_labels_may_be_carried(int graph);
extern uint64 emogi_cache_labels_max_changes(const EmogiCached *cached);
extern const uint32 *emogi_cache_labels_begin(int graph, bool uses);
extern const uint32 *emogi_cache_labels_members(int graph);
extern void emogi_cache_labels_add_members(int graph);
extern void emogi_cache_labels_end(int graph);
extern const uint32 *emogi_cache_labels_hold(int graph, const uint32 **members,
											 EmogiLabelsRead *read);
extern void emogi_cache_labels_release(int graph, EmogiLabelsRead read);
extern uint32 *emogi_cache_labels_alloc(int graph);
extern void emogi_cache_labels_set(int graph, uint32 *labels, int base_graph);
extern void emogi_cache_labels_free_unused(int graph, uint32 *labels);
extern void emogi_cache_labels_keep(int graph, const uint32 *component);
extern bool emogi_cache_labels_must_stop(void);
extern void emogi_cache_labels_free(int graph);
extern bool emogi_cache_labels_drop(void);

/* ---- cache_columns.c: the property columns of graphs; columns.h has the rest ---- */

extern uint64 emogi_cache_columns_bytes(const EmogiCached *cached);
extern void emogi_cache_columns_free(int graph);

/*
 * ---- cache_keep.c: graphs that are exempt from eviction ----
 *
 * Caller holds cache_lock, except for emogi_cache_kept_bytes.
 */

extern bool emogi_cache_keep(EmogiCached *cached, EmogiKeptTotals *together);
extern void emogi_cache_unkeep(EmogiCached *cached);
extern uint64 emogi_cache_kept_bytes(void);

/*
 * ---- cache_share.c: totals of the graphs that a role has built ----
 *
 * Caller holds cache_lock.
 */

extern void emogi_cache_add_to_totals(EmogiCached *cached);
extern void emogi_cache_remove_from_totals(EmogiCached *cached);
extern void emogi_cache_count_bytes(Oid role, int64 bytes);
extern bool emogi_cache_is_beyond_share(Oid role, uint64 more_bytes);

/* ---- index_cost.c: accumulated cost of index searches ---- */

extern Size emogi_index_cost_shmem_size(void);
extern void emogi_index_cost_shmem_startup(bool found);
extern Oid	emogi_index_cost_of_query(const uint8 *fingerprint);
extern void emogi_index_cost_add(Oid relid, uint64 cost);
extern uint64 emogi_index_cost_sum(Oid relid);
extern void emogi_index_cost_reset(Oid relid);
extern void emogi_index_cost_record_end(Oid relid, uint64 hits);
extern uint64 emogi_index_cost_build_factor(Oid relid);

/* ---- asked_queries.c: recently requested queries ---- */

extern Size emogi_asked_queries_shmem_size(void);
extern void emogi_asked_queries_shmem_startup(bool found);
extern bool emogi_asked_queries_is_first(const EmogiGraphKey *key, uint64 shape, bool noted);
extern bool emogi_asked_queries_has_values(const EmogiGraphKey *key, uint64 shape);
extern bool emogi_asked_queries_first_followed(const EmogiGraphKey *key, uint64 shape);
extern void emogi_asked_queries_add_cost(const EmogiGraphKey *key, uint64 shape, uint64 cost);
extern uint64 emogi_asked_queries_cost(const EmogiGraphKey *key);
extern bool emogi_asked_queries_built_before(const EmogiGraphKey *key);
extern void emogi_asked_queries_keep_size(const EmogiGraphKey *key, uint64 nvertices,
										  uint64 nedges);
extern bool emogi_asked_queries_size(const EmogiGraphKey *key, uint64 *nvertices, uint64 *nedges);

/* ---- ddl_invalidation.c: eviction of the graphs of dropped objects ---- */

extern void emogi_ddl_invalidation_init(void);

#endif							/* EMOGI_CACHE_H */
