/*
 * wish.h: what a call asks of the cache, for obtain.c; see wish.c.
 */
#ifndef EMOGI_WISH_H
#define EMOGI_WISH_H

#include "build/build.h"
#include "cache/live_state.h"

/* How far the registration of a wish's leaves is. */
typedef struct EmogiRegistration
{
	bool		is_done;		/* by emogi_wish_register, as far as writers allow it, for the next look-up; ... */
	bool		has_references; /* ... until which there is a reference more to each leaf's entry */
} EmogiRegistration;

/* What a call asks of the cache. */
typedef struct EmogiWish
{
	EmogiGraphKey key;
	const char *text;			/* of a query; NULL = it is none */
	uint64		shape;			/* of a query (tree.h); 0 = a value in it is folded */
	const EmogiTree *tree;		/* likewise */
	bool		has_vertices;	/* some are there with or without an edge: its edges are not all of it */
	int			nleaves;
	Oid		   *relids;			/* [nleaves], tables, ascending as find_all_inheritors has them */
	Oid		   *relfilenumbers; /* [nleaves] */
	int		   *tables;			/* [nleaves], their entries in tables.c; by emogi_wish_track */
	EmogiRegistration *registration;	/* of its leaves */
	EmogiXidSnapshot xids;
	TimestampTz taken_at;		/* the snapshot, at the earliest */
	bool		own;			/* the own transaction has changed one of them */
	bool		can_follow;		/* the changes of all of them can be followed (live.h) */
} EmogiWish;

/* Why the Graph of a query may not be shared yet. */
#define EMOGI_NOT_ASKED_BEFORE "a value in it, of the time, the user or a setting perhaps, is asked for the first time; the next call with it is for all"

/* What comes of it. */
typedef enum EmogiFinding
{
	EMOGI_FOUND,						/* slot->graph is pinned */
	EMOGI_MUST_WAIT,					/* another call builds it */
	EMOGI_MUST_BUILD,					/* slot->graph is reserved, slot->donor pinned or -1 */
	EMOGI_MUST_REGISTER,				/* emogi_wish_register, and then once more */
	EMOGI_MUST_MAKE_ROOM,				/* there is no entry left, for the Graph or for a table */
	EMOGI_MUST_BUILD_PRIVATELY
} EmogiFinding;

extern EmogiWish *emogi_wish_make(const EmogiSource *source, const EmogiTree *tree, const EmogiGraphKey *wanted);
extern void emogi_wish_free(EmogiWish *wish);
extern bool emogi_wish_may_share(EmogiWish *wish, List *leaves);
extern bool emogi_wish_may_be_shared(void);
extern const char *emogi_wish_why_not(const EmogiWish *wish);
extern bool emogi_wish_asked_first(const EmogiWish *wish, bool noted);
extern bool emogi_wish_built_before(const EmogiWish *wish);
extern EmogiFinding emogi_wish_find(EmogiSlot *slot, const EmogiWish *wish);
extern void emogi_wish_register(const EmogiWish *wish);
extern void emogi_wish_release_donor(EmogiSlot *slot);
extern bool emogi_wish_look(EmogiSlot *slot, const EmogiWish *wish);
extern bool emogi_wish_look_back(EmogiSlot *slot, const EmogiWish *wish, double *age_ms);
extern bool emogi_wish_takes_weights(EmogiWeights weights, uint32 misfits);
extern void emogi_wish_hide_weights(EmogiGraph *graph);
extern void emogi_wish_present(const EmogiGraph *graph, EmogiDirection direction, const EmogiGraphKey *wanted, EmogiGraph *shown);

/* ---- follow.c: a Graph that is brought to the call's snapshot, or the first of its kind ---- */

extern bool emogi_follow_may_begin(const EmogiWish *wish);
extern bool emogi_follow_graph(EmogiCall *call, const EmogiSource *source, const EmogiWish *wish, EmogiPatch **patch,
							   EmogiGraph *graph);

/* ---- instead.c ---- */

extern bool emogi_instead_walk(EmogiCall *call, const EmogiSource *source, List *leaves, const EmogiWish *wish, bool may_share, EmogiWalk *walk);
extern bool emogi_instead_will_walk(const EmogiSource *source, List *leaves, const EmogiWish *wish, bool may_share, EmogiWalk *walk);

/* ---- wish_live.c: Graphs that were made of a live state, which the caller holds ---- */

extern bool emogi_wish_find_at(EmogiSlot *slot, const EmogiWish *wish, const EmogiLiveState *state, bool newer);
extern const EmogiCached *emogi_wish_find_base(EmogiSlot *slot, const EmogiWish *wish, const EmogiLiveState *state,
											   uint64 old_position);
extern bool emogi_wish_forget_state(EmogiSlot *slot, bool own);
extern bool emogi_wish_reserve_at(EmogiSlot *slot, const EmogiWish *wish, const EmogiGraphKey *key, uint64 live_id, uint64 position,
								  bool exact);

/* ---- wish_publish.c ---- */

extern bool emogi_wish_is_cached(const EmogiWish *wish);
extern void emogi_wish_publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits, uint64 nskipped, uint64 *counter);

/* ---- wish_drop.c: Graphs that no call can use any more ---- */

extern bool emogi_wish_is_outdated(const EmogiCached *cached, TransactionId oldest_xid);
extern bool emogi_wish_is_lost(const EmogiCached *cached);
extern void emogi_wish_drop_some(const EmogiXidSnapshot *xids, TransactionId oldest_xid);
extern void emogi_wish_drop_for_private(const EmogiWish *wish);
extern void emogi_wish_drop_once(EmogiCached *published);

/* ---- wish_keep.c: the mark of a Graph that is kept; build.h has the rest ---- */

extern bool emogi_wish_hands_on(EmogiCached *cached, const EmogiCached *published);
extern void emogi_wish_note_not_kept(const EmogiCached *published, const EmogiKept *together);

/* ---- what the files above share; caller holds cache_lock ---- */

extern bool emogi_wish_has_columns(const EmogiCached *cached, const EmogiGraphKey *key);
extern bool emogi_wish_has_lists(const EmogiCached *cached, const EmogiGraphKey *key);
extern int	emogi_wish_pin(EmogiCached *cached);
extern EmogiFinding emogi_wish_track(const EmogiWish *wish, bool *usable);
extern void emogi_wish_untrack(const EmogiWish *wish);
extern void emogi_wish_end_registration(const EmogiWish *wish);
extern EmogiCached *emogi_wish_add(EmogiSlot *slot, const EmogiWish *wish, const EmogiGraphKey *key);

#endif							/* EMOGI_WISH_H */
