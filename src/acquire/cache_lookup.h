/*
 * cache_lookup.h: cache lookups, for acquire.c; see cache_lookup.c.
 */
#ifndef EMOGI_CACHE_LOOKUP_H
#define EMOGI_CACHE_LOOKUP_H

#include "acquire/acquire.h"
#include "cache/change_tracker.h"

/* State of the registration of a lookup's leaves. */
typedef struct EmogiRegistration
{
	/* done by emogi_cache_lookup_register, as far as writers allow, for the next lookup; ... */
	bool		is_done;
	bool		has_references; /* ... until then each leaf's entry has an extra reference */
} EmogiRegistration;

/* What a call requests from the cache. */
typedef struct EmogiCacheLookup
{
	EmogiGraphKey key;
	const char *text;			/* of a query; NULL = not a query */
	uint64		shape;			/* of a query (analysis.h); 0 = a value in it was folded */
	const EmogiQueryAnalysis *analysis;	/* of a query; NULL = not a query */
	/* the query also lists vertices without edges, so its edges are not the whole graph */
	bool		has_vertices;
	int			nleaves;
	Oid		   *relids;			/* [nleaves], tables, ascending as from find_all_inheritors */
	Oid		   *relfilenumbers; /* [nleaves] */
	/* [nleaves], different if other columns of a leaf have the names that it had */
	uint32	   *columns;
	/* [nleaves], their entries in tables.c; set by emogi_cache_lookup_track */
	int		   *tables;
	EmogiRegistration *registration;	/* of its leaves */
	EmogiTransactionSnapshot xids;
	TimestampTz taken_at;		/* lower bound of the time when the snapshot was taken */
	bool		own;			/* the caller's transaction has changed one of them */
	const char *why_local;		/* a leaf cannot be shared; NULL = all can be, or as above */
	bool		can_track;		/* changes of all of them can be tracked (changes.h) */
	EmogiCacheMiss why_untracked;	/* unless can_track; NONE = the graph is not shared either */
} EmogiCacheLookup;

/* Why the graph of a query may not be shared yet */
#define EMOGI_FIRST_REQUEST \
	"it has a call-specific value (of the time, the user or a setting) " \
	"that is requested for the first time; the second call shares its graph"

/* Likewise, if the value is one of the clock that is not rounded. */
#define EMOGI_CLOCK_VALUE \
	"it has a value of the time that differs in each transaction; for a shared graph, round it, " \
	"as in date_trunc('hour', now())"

/* What the cache has for a lookup. */
typedef enum EmogiCacheHas
{
	EMOGI_CACHE_HAS_NOTHING,
	EMOGI_CACHE_HAS_GRAPH,		/* exact for the snapshot */
	EMOGI_CACHE_HAS_TRACKER,	/* no such graph, but a tracker that can be brought to it */
	EMOGI_CACHE_HAS_HELD_TRACKER	/* the same, held by another call */
} EmogiCacheHas;

/* What the cache has for a lookup. */
typedef struct EmogiCacheResult
{
	EmogiCacheHas has;
	bool		is_building;	/* another call is building the graph */
} EmogiCacheResult;

/* Result of a lookup that may reserve an entry. */
typedef enum EmogiLookupOutcome
{
	EMOGI_LOOKUP_FOUND,					/* slot->graph is pinned */
	EMOGI_LOOKUP_WAIT,					/* another call is building it */
	EMOGI_LOOKUP_BUILD,					/* slot->graph is reserved, slot->base_graph pinned or -1 */
	EMOGI_LOOKUP_REGISTER,				/* call emogi_cache_lookup_register, then look up again */
	EMOGI_LOOKUP_MAKE_ROOM,				/* no free entry for the graph or for a table */
	EMOGI_LOOKUP_BUILD_PRIVATE
} EmogiLookupOutcome;

extern EmogiCacheLookup *emogi_cache_lookup_make(const EmogiSource *source,
												 const EmogiQueryAnalysis *analysis,
												 const EmogiGraphKey *wanted);
extern void emogi_cache_lookup_free(EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_may_share(EmogiCacheLookup *lookup, EmogiGraphSource *rows,
										 const char **why);
extern const char *emogi_cache_lookup_refusal(const EmogiCacheLookup *lookup);
extern const char *emogi_cache_lookup_first_request(const EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_is_first_request(const EmogiCacheLookup *lookup, bool noted);
extern bool emogi_cache_lookup_is_first_followed(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_add_cost(const EmogiCacheLookup *lookup, uint64 cost);
extern uint64 emogi_cache_lookup_cost(const EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_built_before(const EmogiCacheLookup *lookup);
extern EmogiLookupOutcome emogi_cache_lookup_find(EmogiSlot *slot, const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_register(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_release_base(EmogiSlot *slot);
extern const EmogiCached *emogi_cache_lookup_find_shared(const EmogiCacheLookup *lookup);
extern EmogiCacheResult emogi_cache_lookup_find_or_wait(EmogiCall *call,
													  const EmogiCacheLookup *lookup,
													  bool may_share);
extern bool emogi_cache_lookup_await(EmogiSlot *slot, const EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_find_stale(EmogiSlot *slot, const EmogiCacheLookup *lookup,
										  double *age_ms);
extern bool emogi_cache_lookup_accepts_weights(EmogiWeights weights, uint32 misfits);
extern bool emogi_cache_lookup_prefers(const EmogiCached *cached, const EmogiGraphKey *key);
extern void emogi_cache_lookup_hide_weights(EmogiGraph *graph);
extern void emogi_cache_lookup_set_view(const EmogiGraph *graph, EmogiDirection direction,
										const EmogiGraphKey *wanted, EmogiGraph *shown);

/* ---- apply_delta.c: bring a graph to the call's snapshot, or build the first one ---- */

extern bool emogi_apply_delta_may_begin(const EmogiCacheLookup *lookup);
extern EmogiGraphOrigin emogi_apply_delta(EmogiCall *call, const EmogiSource *source,
										  const EmogiCacheLookup *lookup,
										  const EmogiGraphRequest *request, EmogiGraphView *view);

/* ---- index_or_build.c ---- */

extern bool emogi_index_or_build_search(EmogiCall *call, const EmogiSource *source, List *leaves,
										const EmogiCacheLookup *lookup, EmogiCacheHas has,
										bool may_share, EmogiIndexSearch *search);
extern bool emogi_index_or_build_will_search(const EmogiSource *source, List *leaves,
											 const EmogiCacheLookup *lookup, EmogiCacheHas has,
											 bool may_share, EmogiIndexSearch *search);

/* ---- index_search_repeat.c ---- */

extern void emogi_index_search_repeat_note(const EmogiSource *indexed,
										   const EmogiCacheLookup *lookup,
										   const EmogiIndexSearch *search, bool is_once,
										   bool for_others);

/* ---- cache_lookup_tracker.c: graphs made from a change tracker that the caller holds ---- */

extern bool emogi_cache_lookup_find_of_tracker(EmogiSlot *slot, const EmogiCacheLookup *lookup,
											   const EmogiChangeTracker *state, bool newer);
extern const EmogiCached *emogi_cache_lookup_find_base(EmogiSlot *slot,
													   const EmogiCacheLookup *lookup,
													   const EmogiChangeTracker *state,
													   uint64 old_position);
extern bool emogi_cache_lookup_detach_tracker(EmogiSlot *slot, bool own);
extern bool emogi_cache_lookup_reserve_of_tracker(EmogiSlot *slot, const EmogiCacheLookup *lookup,
												  const EmogiGraphKey *key, uint64 tracker_id,
												  uint64 position, bool exact);

/* ---- own_graph.c: the graph of a transaction that has only inserted rows ---- */

extern bool emogi_own_graph_get(EmogiCall *call, const EmogiSource *source,
								const EmogiCacheLookup *lookup, const EmogiGraphRequest *request,
								EmogiGraphView *view);

/* ---- cache_lookup_publish.c ---- */

extern void emogi_cache_lookup_publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits,
									   uint64 nskipped, uint64 *counter);

/* ---- cache_lookup_drop.c: graphs that no call can use any more ---- */

extern bool emogi_cache_lookup_is_outdated(const EmogiCached *cached, TransactionId oldest_xid);
extern bool emogi_cache_lookup_is_unreachable(const EmogiCached *cached);
extern void emogi_cache_lookup_drop_unusable(const EmogiTransactionSnapshot *xids,
											 TransactionId oldest_xid);
extern void emogi_cache_lookup_drop_for_private(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_drop_asked_once(EmogiCached *published);

/* ---- cache_lookup_keep.c: the eviction exemption; acquire.h has the rest ---- */

extern bool emogi_cache_lookup_inherits_kept(EmogiCached *cached, const EmogiCached *published);
extern void emogi_cache_lookup_log_not_kept(const EmogiCached *published,
											const EmogiKeptTotals *together);

/* ---- cache_miss.c: why a call builds its graph ---- */

extern void emogi_cache_miss_record(EmogiCall *call, const EmogiCacheLookup *lookup,
									EmogiCacheMiss not_refreshed);

/* ---- shared by the files above; caller holds cache_lock ---- */

extern bool emogi_cache_lookup_has_columns(const EmogiCached *cached, const EmogiGraphKey *key);
extern bool emogi_cache_lookup_has_leaf(const EmogiLeaf *leaf, const EmogiCacheLookup *lookup,
										int i);
extern bool emogi_cache_lookup_has_lists(const EmogiCached *cached, const EmogiGraphKey *key);
extern int	emogi_cache_lookup_pin(EmogiCached *cached);
extern EmogiLookupOutcome emogi_cache_lookup_track(const EmogiCacheLookup *lookup, bool *usable);
extern void emogi_cache_lookup_untrack(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_end_registration(const EmogiCacheLookup *lookup);
extern EmogiCached *emogi_cache_lookup_add(EmogiSlot *slot, const EmogiCacheLookup *lookup,
										   const EmogiGraphKey *key);

#endif							/* EMOGI_CACHE_LOOKUP_H */
