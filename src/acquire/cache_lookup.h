/*
 * cache_lookup.h: what a call asks of the cache, for acquire.c; see cache_lookup.c.
 */
#ifndef EMOGI_CACHE_LOOKUP_H
#define EMOGI_CACHE_LOOKUP_H

#include "acquire/acquire.h"
#include "cache/change_tracker.h"

/* How far the registration of a lookup's leaves is. */
typedef struct EmogiRegistration
{
	bool		is_done;		/* by emogi_cache_lookup_register, as far as writers allow it, for the next look-up; ... */
	bool		has_references; /* ... until which there is a reference more to each leaf's entry */
} EmogiRegistration;

/* What a call asks of the cache. */
typedef struct EmogiCacheLookup
{
	EmogiGraphKey key;
	const char *text;			/* of a query; NULL = it is none */
	uint64		shape;			/* of a query (analysis.h); 0 = a value in it is folded */
	const EmogiQueryAnalysis *tree;		/* likewise */
	bool		has_vertices;	/* some are there with or without an edge: its edges are not all of it */
	int			nleaves;
	Oid		   *relids;			/* [nleaves], tables, ascending as find_all_inheritors has them */
	Oid		   *relfilenumbers; /* [nleaves] */
	int		   *tables;			/* [nleaves], their entries in tables.c; by emogi_cache_lookup_track */
	EmogiRegistration *registration;	/* of its leaves */
	EmogiTransactionSnapshot xids;
	TimestampTz taken_at;		/* the snapshot, at the earliest */
	bool		own;			/* the own transaction has changed one of them */
	bool		can_follow;		/* the changes of all of them can be followed (changes.h) */
} EmogiCacheLookup;

/* Why the Graph of a query may not be shared yet. */
#define EMOGI_NOT_ASKED_BEFORE "a value in it, of the time, the user or a setting perhaps, is asked for the first time; the next call with it is for all"

/* What comes of it. */
typedef enum EmogiLookupOutcome
{
	EMOGI_FOUND,						/* slot->graph is pinned */
	EMOGI_MUST_WAIT,					/* another call builds it */
	EMOGI_MUST_BUILD,					/* slot->graph is reserved, slot->donor pinned or -1 */
	EMOGI_MUST_REGISTER,				/* emogi_cache_lookup_register, and then once more */
	EMOGI_MUST_MAKE_ROOM,				/* there is no entry left, for the Graph or for a table */
	EMOGI_MUST_BUILD_PRIVATELY
} EmogiLookupOutcome;

extern EmogiCacheLookup *emogi_cache_lookup_make(const EmogiSource *source, const EmogiQueryAnalysis *tree, const EmogiGraphKey *wanted);
extern void emogi_cache_lookup_free(EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_may_share(EmogiCacheLookup *lookup, List *leaves);
extern bool emogi_cache_lookup_may_be_shared(void);
extern const char *emogi_cache_lookup_why_not(const EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_asked_first(const EmogiCacheLookup *lookup, bool noted);
extern bool emogi_cache_lookup_built_before(const EmogiCacheLookup *lookup);
extern EmogiLookupOutcome emogi_cache_lookup_find(EmogiSlot *slot, const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_register(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_release_donor(EmogiSlot *slot);
extern bool emogi_cache_lookup_look(EmogiSlot *slot, const EmogiCacheLookup *lookup);
extern bool emogi_cache_lookup_look_back(EmogiSlot *slot, const EmogiCacheLookup *lookup, double *age_ms);
extern bool emogi_cache_lookup_takes_weights(EmogiWeights weights, uint32 misfits);
extern void emogi_cache_lookup_hide_weights(EmogiGraph *graph);
extern void emogi_cache_lookup_present(const EmogiGraph *graph, EmogiDirection direction, const EmogiGraphKey *wanted, EmogiGraph *shown);

/* ---- apply_delta.c: a Graph that is brought to the call's snapshot, or the first of its kind ---- */

extern bool emogi_apply_delta_may_begin(const EmogiCacheLookup *lookup);
extern bool emogi_apply_delta(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup, EmogiOverlay **patch,
							   EmogiGraph *graph);

/* ---- index_or_build.c ---- */

extern bool emogi_index_or_build_search(EmogiCall *call, const EmogiSource *source, List *leaves, const EmogiCacheLookup *lookup, bool may_share, EmogiIndexSearch *walk);
extern bool emogi_index_or_build_will_search(const EmogiSource *source, List *leaves, const EmogiCacheLookup *lookup, bool may_share, EmogiIndexSearch *walk);

/* ---- cache_lookup_tracker.c: Graphs that were made of a live state, which the caller holds ---- */

extern bool emogi_cache_lookup_find_at(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiChangeTracker *state, bool newer);
extern const EmogiCached *emogi_cache_lookup_find_base(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiChangeTracker *state,
											   uint64 old_position);
extern bool emogi_cache_lookup_forget_state(EmogiSlot *slot, bool own);
extern bool emogi_cache_lookup_reserve_at(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiGraphKey *key, uint64 live_id, uint64 position,
								  bool exact);

/* ---- cache_lookup_publish.c ---- */

extern bool emogi_cache_lookup_is_cached(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits, uint64 nskipped, uint64 *counter);

/* ---- cache_lookup_drop.c: Graphs that no call can use any more ---- */

extern bool emogi_cache_lookup_is_outdated(const EmogiCached *cached, TransactionId oldest_xid);
extern bool emogi_cache_lookup_is_lost(const EmogiCached *cached);
extern void emogi_cache_lookup_drop_some(const EmogiTransactionSnapshot *xids, TransactionId oldest_xid);
extern void emogi_cache_lookup_drop_for_private(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_drop_once(EmogiCached *published);

/* ---- cache_lookup_keep.c: the mark of a Graph that is kept; acquire.h has the rest ---- */

extern bool emogi_cache_lookup_transfers_kept(EmogiCached *cached, const EmogiCached *published);
extern void emogi_cache_lookup_note_not_kept(const EmogiCached *published, const EmogiKept *together);

/* ---- what the files above share; caller holds cache_lock ---- */

extern bool emogi_cache_lookup_has_columns(const EmogiCached *cached, const EmogiGraphKey *key);
extern bool emogi_cache_lookup_has_lists(const EmogiCached *cached, const EmogiGraphKey *key);
extern int	emogi_cache_lookup_pin(EmogiCached *cached);
extern EmogiLookupOutcome emogi_cache_lookup_track(const EmogiCacheLookup *lookup, bool *usable);
extern void emogi_cache_lookup_untrack(const EmogiCacheLookup *lookup);
extern void emogi_cache_lookup_end_registration(const EmogiCacheLookup *lookup);
extern EmogiCached *emogi_cache_lookup_add(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiGraphKey *key);

#endif							/* EMOGI_CACHE_LOOKUP_H */
