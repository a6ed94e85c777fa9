/*
 * cache.h: the Graphs that calls and sessions share.
 *
 * recent_writers.c knows which transactions have changed which tables, and so whether a Graph still holds what a snapshot sees; it stands
 * on transaction_snapshot.c, what a snapshot sees of other transactions, and tables.c, the tables that are tracked.
 * cache.c keeps the entries: their life, their memory, their eviction; cache_key.c compares what they are known by; cache_find.c finds them by what they are made of; cache_labels.c
 * has what they have of components; cache_keep.c says which of them are not evicted to make room, cache_share.c when those of a role are
 * evicted before all others; walk_cost.c what searches have cost that did without; asked_queries.c which queries were asked for lately. Which
 * entry serves a call is cache_lookup.c's business, in ../build.
 */
#ifndef EMOGI_CACHE_H
#define EMOGI_CACHE_H

#include "lib/ilist.h"
#include "utils/snapshot.h"

#include "base/shared.h"

/* ---- transaction_snapshot.c: what a snapshot sees of other transactions ---- */

#define EMOGI_MAX_RUNNING	512		/* transactions that the snapshot of a cached Graph may see as running */

/* In full transaction ids. */
typedef struct EmogiTransactionSnapshot
{
	uint64		xmin;			/* all below have ended */
	uint64		xmax;			/* all from here on have not */
	bool		recovery;		/* taken on a standby: running[] holds subtransactions too */
	bool		overflowed;		/* ... and not all of them */
	uint32		nrunning;
	uint64	   *running;		/* [nrunning], ascending; palloced, or of the entry that has it */
} EmogiTransactionSnapshot;

extern bool emogi_transaction_snapshot_take(Snapshot snapshot, EmogiTransactionSnapshot *xids);
extern bool emogi_transaction_snapshot_running(const EmogiTransactionSnapshot *xids, uint64 xid);
extern bool emogi_transaction_snapshot_contain(const EmogiTransactionSnapshot *xids, const EmogiTransactionSnapshot *base);
extern bool emogi_transaction_snapshot_equal(const EmogiTransactionSnapshot *a, const EmogiTransactionSnapshot *b);
extern bool emogi_transaction_snapshot_committed(uint64 xid);
extern uint64 emogi_transaction_snapshot_full(TransactionId xid, uint64 next);
extern int	emogi_transaction_snapshot_compare(const void *a, const void *b);

/* ---- tables.c: which tables are tracked; a table is known by the index of its entry ---- */

extern Size emogi_tables_shmem_size(void);
extern void emogi_tables_shmem_startup(bool found);
extern bool emogi_tables_can_hold(int ntables);
extern void emogi_tables_publish(int table);
extern void emogi_tables_displace(int table);
extern void emogi_tables_release(int table);
extern void emogi_tables_untrack(Oid database, Oid relid);
extern uint32 emogi_tables_ntracked(void);
extern int	emogi_tables_references(Oid database, Oid relid);
extern Oid	emogi_tables_relid(int table);

/* ---- recent_writers.c: which transactions have changed which tables ---- */

extern void emogi_recent_writers_init(void);
extern bool emogi_recent_writers_changed_by_me(Oid relid);
extern int	emogi_recent_writers_track(Oid relid, const EmogiTransactionSnapshot *xids);
extern bool emogi_recent_writers_must_register(int table, const EmogiTransactionSnapshot *xids);
extern void emogi_recent_writers_register(const int *tables, const Oid *relids, int ntables, const EmogiTransactionSnapshot *xids);
extern bool emogi_recent_writers_usable(int table, const EmogiTransactionSnapshot *xids);
extern bool emogi_recent_writers_alike(int table, const EmogiTransactionSnapshot *a, const EmogiTransactionSnapshot *b);
extern bool emogi_recent_writers_outdated(int table, const EmogiTransactionSnapshot *xids, TransactionId oldest_xid);
extern bool emogi_recent_writers_passed(int table, const EmogiTransactionSnapshot *xids, const EmogiTransactionSnapshot *newer);
extern void emogi_recent_writers_forget_recovery(void);

#define EMOGI_RING_WRITERS	128
#define EMOGI_EPOCH_BYTES	16

/* What tells the rows of a table from all others that it has had or will have. */
typedef struct EmogiWriterTold
{
	uint8		epoch[EMOGI_EPOCH_BYTES];
	uint64		number;			/* of the table's entry */
	uint64		nclears;		/* of its ring */
	uint64		nseen;
	uint64		seen[EMOGI_RING_WRITERS];	/* [nseen], transactions in the ring that have committed before the snapshot, ascending; then zero */
} EmogiWriterTold;

extern bool emogi_recent_writers_tell(Oid relid, const EmogiTransactionSnapshot *xids, EmogiWriterTold *told);

/* ---- dictionaries.c: the dictionaries of Graphs; each is known by its index, -1 = none ---- */

#define EMOGI_MAX_DICTIONARIES 8192

extern Size emogi_dictionaries_shmem_size(void);
extern void emogi_dictionaries_shmem_startup(void);
extern bool emogi_dictionaries_begin(EmogiSlot *slot, const EmogiKeyType *type);
extern void *emogi_dictionaries_alloc(EmogiSlot *slot, Size bytes);
extern void emogi_dictionaries_finish(EmogiSlot *slot, EmogiDictionary *dictionary);
extern void emogi_dictionaries_attach(EmogiSlot *slot, int index);
extern void emogi_dictionaries_share(int index);
extern bool emogi_dictionaries_give_room(int index);
extern int	emogi_dictionaries_use(int index);
extern void emogi_dictionaries_release(int index);
extern EmogiDictionary *emogi_dictionaries_get(int index);
extern const EmogiKeyType *emogi_dictionaries_type(int index);
extern uint64 emogi_dictionaries_bytes(int index);
extern uint64 emogi_dictionaries_made_bytes(int index);
extern uint64 emogi_dictionaries_all_bytes(void);

/* ---- cache.c: Graphs that calls and sessions share ---- */

/* Graphs that can be cached: one for each MiB of emogi.max_memory, but at least so many, and at most EMOGI_MAX_GRAPHS. */
#define EMOGI_MIN_GRAPHS	1024

#define EMOGI_MAX_BASE_TABLES	16384	/* tables behind one cached Graph */

/* What fits into an entry itself; more leaves or running transactions are kept in the Region. */
#define EMOGI_FEW_LEAVES	4
#define EMOGI_FEW_RUNNING	16

#define EMOGI_FINGERPRINT_BYTES	32		/* of the fingerprint of a query */

#define EMOGI_MAX_TEXT		4095	/* bytes of a query's text that are kept; the rest is cut off */

/* What a call wants of a Graph, and what a cached Graph is. */
typedef struct EmogiGraphKey
{
	Oid			database;
	Oid			relid;			/* what the user named: the root of its leaves; of a query the view, if it is one, and no part of the key */
	bool		of_query;		/* it is known by its fingerprint */
	bool		of_servers;		/* rows are on servers, which have told what the fingerprint is of */
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];	/* zero when it is neither */
	AttrNumber	src;			/* 0 = of a query */
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none; of a query the place in its result */
	AttrNumber	reverse;		/* of the way back; 0 = none, and of a query */
	EmogiKeyType keys;			/* of src and dst */
	EmogiWeights weights;		/* wanted: which are refused */
	EmogiDirection direction;
	bool		any_direction;	/* wanted: all directions will do */
	bool		by_labels;		/* wanted: of an older Graph its labels, with what has come since */
	bool		with_backward;
	bool		shared_only;	/* wanted: for all sessions, as the snapshot sees it; 55000 where that is not to be had */
} EmogiGraphKey;

typedef struct EmogiLeaf
{
	int			table;			/* in tables.c, with a reference */
	Oid			relfilenumber;
} EmogiLeaf;

typedef enum EmogiCachedState
{
	EMOGI_GRAPH_FREE = 0,
	EMOGI_GRAPH_BUILDING,		/* a call's; others that can use it wait for it */
	EMOGI_GRAPH_READY,
	EMOGI_GRAPH_DOOMED			/* found by nobody; freed when nothing has it pinned and no GPU knows it */
} EmogiCachedState;

/* What Graphs have together: see cache_share.c. */
typedef struct EmogiCacheSum
{
	uint64		bytes;			/* but for labels and contraction hierarchies */
	uint32		ngraphs;
	uint32		nleaves;
	uint32		ndictionaries;	/* a dictionary of several Graphs counts for each */
} EmogiCacheSum;

/* One cached Graph. All under EmogiShared.cache_lock; the arrays of a READY Graph are read by whoever has it pinned. */
typedef struct EmogiCached
{
	EmogiCachedState state;
	dlist_node	chain;			/* in the bucket of its table, unless it is FREE */
	dlist_node	order;			/* in EmogiCache.free, .used or .doomed */
	uint64		id;				/* never used twice; the entry's index is id % EMOGI_MAX_GRAPHS */
	EmogiGraphKey key;
	uint32		pins;			/* slots that use it, the builder's included */
	uint32		gpus;			/* bits of the worker's GPUs whose engines may know it: then only the worker may free it */
	bool		leaving;		/* DOOMED, and somebody is about to free it */
	bool		packed;			/* its memory is a small block; else whole extents */
	bool		kept;			/* READY, and not evicted to make room: see cache_keep.c */
	bool		asked_once;		/* of constants that no other call has asked for yet: see ../acquire/cache_lookup_values.c; until it is READY its builder's */
	EmogiCacheSum counted;		/* among those of its builder, see cache_share.c; all 0 = not counted */
	EmogiGraph	graph;
	uint32		weight_misfits; /* EMOGI_NOT_* over all weights */
	uint64		bytes;			/* in the Region, but for the dictionary */
	int			dictionary;		/* index; -1 = none */
	uint32	   *labels;			/* [nvertices], CC's result, see cache_labels.c; NULL = it is not there */
	uint32	   *members;		/* [nvertices], the next vertex of the same component, made of the labels; NULL = it is not there */
	uint64		labels_bytes;	/* of both, of `bytes` */
	uint32		label_readers;	/* calls that read it at the moment, and have the Graph pinned */
	uint32		label_carries;	/* Graphs by which they came here since they were used */
	struct EmogiContraction *contraction;	/* see cache_contraction.c; NULL = it is not there */
	uint64		contraction_bytes;	/* its own; `bytes` has what it takes */
	uint32		contraction_readers;	/* as label_readers */
	bool		contraction_asked;	/* somebody makes it, or has tried to, or is to */
	bool		contraction_wanted;	/* the worker is to make it */
	bool		contraction_making;	/* it does, and has a pin */
	uint32		npaths;			/* far paths that were looked for without it, */
	double		path_ms;		/* and how long that took */
	uint64		nskipped;		/* rows with a NULL end */
	uint64		hits;
	TimestampTz built_at;
	TimestampTz last_used;
	TimestampTz exact_at;		/* it was known to be what the table held then */
	int			staleness_ms;	/* the highest emogi.max_staleness of the calls that have built or found it */
	double		build_ms;
	int			nleaves;
	EmogiLeaf  *leaves;			/* [nleaves], of `few` or `many` */
	EmogiTransactionSnapshot xids;		/* of what its rows were read under, or are known to be right for; running[] likewise */
	uint32		running_room;	/* of xids.running */
	Oid			builder;		/* the role that built it */
	char	   *text;			/* of a query, perhaps cut off, in `many`; NULL = it is none */
	bool		by_ring;		/* the rings may say for which other snapshots it is right */
	uint64		live_id;		/* the live state that it was made of, 0 = none, ... */
	uint64		live_position;	/* ... and where that was then */
	void	   *many;			/* small block in the Region; NULL = none */
	Size		many_bytes;
	EmogiLeaf	few_leaves[EMOGI_FEW_LEAVES];
	uint64		few_running[EMOGI_FEW_RUNNING];
} EmogiCached;

/* What the Graphs that are kept have together. */
typedef struct EmogiKept
{
	uint64		bytes;			/* but for labels */
	uint32		ngraphs;
	uint32		nleaves;
} EmogiKept;

/* Counters since the server started or they were reset; under cache_lock. */
typedef struct EmogiCacheCounters
{
	uint64		hits;			/* calls that found their Graph */
	uint64		builds;			/* Graphs built and published */
	uint64		splices;		/* Graphs made of another and the changes since, and published */
	uint64		patches;		/* calls that were given an older Graph and the changes since */
	uint64		private_builds; /* Graphs built for one call */
	uint64		waits;			/* calls that waited for another's build */
	uint64		evictions;		/* Graphs dropped to make room */
	uint64		drops;			/* Graphs dropped because no call could use them any more, or another does as well */
	TimestampTz reset_at;
} EmogiCacheCounters;

/* Sums of Graphs by their builders. Roles that share a place share its sum. */
#define EMOGI_BUILDERS		1024

/* Graphs that stay though their constants were asked for once. */
#define EMOGI_MOST_ONCE		4

/* All under cache_lock but ndoomed. */
typedef struct EmogiCache
{
	uint64		next_id;
	EmogiCacheCounters counters;
	EmogiKept	kept;
	EmogiCacheSum built[EMOGI_BUILDERS];	/* by the hash of the role that has built them */
	ConditionVariable changed;	/* broadcast when a Graph becomes READY or FREE */
	pg_atomic_uint32 ndoomed;	/* read without lock */
	volatile bool contractions_wanted;	/* of some Graph, perhaps; read without lock */
	uint32		nused;			/* entries [0, nused) are set up */
	uint64		once[EMOGI_MOST_ONCE];	/* ids of the last Graphs that were published as asked_once, 0 = none; */
	uint32		next_once;		/* ... and the place of the next */
	uint32		swept;			/* the next of them that is looked at for whether a call can use it, see ../acquire/cache_lookup_drop.c */
	dlist_head	free;
	dlist_head	used;			/* BUILDING and READY, the least recently used first */
	dlist_head	doomed;
	EmogiCached graphs[FLEXIBLE_ARRAY_MEMBER];
} EmogiCache;

extern EmogiCache *emogi_cache_shared;

/* Get the number of Graphs that can be cached. */
static inline uint32
emogi_cache_max_graphs(void)
{
	return (uint32) Min(Max(emogi_max_memory_mb, EMOGI_MIN_GRAPHS), EMOGI_MAX_GRAPHS);
}

extern Size emogi_cache_shmem_size(void);
extern void emogi_cache_shmem_startup(bool found);
extern void emogi_cache_init(void);
extern dlist_head *emogi_cache_chain(const EmogiGraphKey *key);
extern EmogiCached *emogi_cache_add(const EmogiGraphKey *key, const EmogiTransactionSnapshot *xids, int nleaves, const char *text);
extern void emogi_cache_touch(EmogiCached *cached);
extern void emogi_cache_doom(EmogiCached *cached);
extern void emogi_cache_take_over(int graph, EmogiGraph *built, int dictionary);
extern void emogi_cache_unpin(int graph);
extern void emogi_cache_free_doomed(void);
extern bool emogi_cache_make_room(uint64 bytes);
extern uint64 emogi_cache_evict(Oid database, Oid relid);
extern uint64 emogi_cache_evict_queries(bool (*evicts) (const EmogiCached *, const void *), const void *arg);
extern void emogi_cache_wait_for_room(void);
extern bool emogi_cache_text(uint64 id, char *text);
extern uint64 emogi_cache_stored_edges(const EmogiCached *cached);
extern bool emogi_cache_size(Oid relid, AttrNumber src, AttrNumber dst, uint64 *nvertices, uint64 *nedges);
extern bool emogi_cache_query_size(const uint8 *fingerprint, uint64 *nvertices, uint64 *nedges, EmogiKeyType *keys);

/* The worker's side: see worker.c. */
extern uint64 emogi_cache_derived_id(int index, const EmogiCached *base);
extern void emogi_cache_use_on_gpus(uint64 id, uint32 gpus);
extern uint32 emogi_cache_gpus(uint64 id);
extern uint64 emogi_cache_next_to_forget(uint32 gpus, int *gpu);
extern void emogi_cache_forgotten(uint64 id, int gpu);
extern void emogi_cache_worker_gone(void);

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

/* ---- cache_key.c: keys of Graphs ---- */

extern bool emogi_cache_same_source(const EmogiGraphKey *a, const EmogiGraphKey *b);
extern uint64 emogi_cache_digest_start(const EmogiGraphKey *key);

/* ---- cache_contraction.c: the contraction hierarchies of Graphs ---- */

#define EMOGI_MAKING_SHARE 4		/* of emogi.max_memory that an array of a process's own may take while one is made */

extern uint64 emogi_cache_contraction_bytes(const EmogiCached *cached);
extern const EmogiGraph *emogi_cache_contraction_graph(int graph, const EmogiGraph *shown, bool *reversed);
extern const struct EmogiContraction *emogi_cache_contraction_begin(int graph);
extern void emogi_cache_contraction_end(int graph);
extern bool emogi_cache_contraction_is_due(int graph);
extern void emogi_cache_contraction_retry(int graph);
extern int	emogi_cache_contraction_next(void);
extern void emogi_cache_contraction_made(int graph, const struct EmogiContraction *made, bool again);
extern void emogi_cache_contraction_note(int graph, double ms);
extern void emogi_cache_contraction_keep(int graph, const struct EmogiContraction *made);
extern void emogi_cache_contraction_free(int graph);
extern bool emogi_cache_contraction_drop(void);

/* ---- cache_labels.c: the components of Graphs ---- */

extern bool emogi_cache_labels_exist(int graph);
extern bool emogi_cache_labels_may_be_carried(int graph);
extern const uint32 *emogi_cache_labels_begin(int graph, bool uses);
extern const uint32 *emogi_cache_labels_members(int graph);
extern void emogi_cache_labels_link(int graph);
extern void emogi_cache_labels_end(int graph);
extern uint32 *emogi_cache_labels_alloc(int graph);
extern void emogi_cache_labels_set(int graph, uint32 *labels, int donor);
extern void emogi_cache_labels_give_up(int graph, uint32 *labels);
extern void emogi_cache_labels_keep(int graph, const uint32 *component);
extern bool emogi_cache_labels_stop(void);
extern void emogi_cache_labels_free(int graph);
extern bool emogi_cache_labels_drop(void);

/* ---- cache_keep.c: Graphs that are not evicted to make room; caller holds cache_lock, but for emogi_cache_kept_bytes ---- */

extern bool emogi_cache_keep(EmogiCached *cached, EmogiKept *together);
extern void emogi_cache_unkeep(EmogiCached *cached);
extern uint64 emogi_cache_kept_bytes(void);

/* ---- cache_share.c: what the Graphs that a role has built have together; caller holds cache_lock ---- */

extern void emogi_cache_count_in(EmogiCached *cached);
extern void emogi_cache_count_out(EmogiCached *cached);
extern bool emogi_cache_is_beyond_share(Oid role, uint64 more_bytes);

/* ---- walk_cost.c: what has been paid for walks over indexes ---- */

extern Size emogi_walk_cost_shmem_size(void);
extern void emogi_walk_cost_shmem_startup(bool found);
extern Oid	emogi_walk_cost_of_query(const uint8 *fingerprint);
extern void emogi_walk_cost_add(Oid relid, uint64 cost);
extern uint64 emogi_walk_cost_sum(Oid relid);
extern void emogi_walk_cost_reset(Oid relid);
extern void emogi_walk_cost_note_end(Oid relid, uint64 hits);
extern uint64 emogi_walk_cost_price_factor(Oid relid);

/* ---- asked_queries.c: which queries were asked for lately ---- */

extern Size emogi_asked_queries_shmem_size(void);
extern void emogi_asked_queries_shmem_startup(bool found);
extern bool emogi_asked_queries_first(const EmogiGraphKey *key, uint64 shape, bool noted);
extern bool emogi_asked_queries_built_before(const EmogiGraphKey *key);
extern void emogi_asked_queries_keep_size(const EmogiGraphKey *key, uint64 nvertices, uint64 nedges);
extern bool emogi_asked_queries_size(const EmogiGraphKey *key, uint64 *nvertices, uint64 *nedges);

/* ---- ddl_invalidation.c: what is dropped is evicted ---- */

extern void emogi_ddl_invalidation_init(void);

#endif							/* EMOGI_CACHE_H */
