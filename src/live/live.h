/*
 * live.h: Graphs that follow their tables: what has changed since a live state's base, at the cost of the change.
 *
 * A snapshot is compared with the base of a live state (cache/live_state.h). discover.c finds the pages that it may see otherwise:
 * neither the visibility map nor their LSN vouches for them. Those are looked at again (edges/looks.c), and diff.c compares the
 * rows that they gave with those that they give now. store.c makes what was found the state's, and its base the snapshot.
 * refresh.c leads all of this; create.c makes the state of a Graph that is being built. docs/design.md has the rules, L1 to
 * L12, and why they suffice.
 */
#ifndef EMOGI_LIVE_H
#define EMOGI_LIVE_H

#include "cache/live_state.h"
#include "edges/edges.h"
#include "edges/pages.h"
#include "graph/patch.h"

/* ---- discover.c: which pages a snapshot may see otherwise ---- */

/* What the map of a leaf said when its pages were compared before: those of trusted pages were then as the state has them. */
typedef struct EmogiVouching
{
	BlockNumber nblocks;
	BlockNumber room;			/* for blocks */
	uint64	   *trusted;		/* [nblocks / 64 + 1] */
	uint64	   *group_lsn;		/* [groups] */
	uint64		vacuums;		/* see EmogiLiveLeaf */
} EmogiVouching;

/* A leaf as it is found. Arrays are palloced. */
typedef struct EmogiDiscovery
{
	Oid			relid;
	Oid			relfilenumber;
	AttrNumber	src;			/* its columns, which may have changed places */
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none */
	AttrNumber	reverse;
	AttrNumber	filter[EMOGI_FILTER_MAX_COLUMNS];
	BlockNumber nblocks;		/* after the snapshot was taken */
	uint64	   *map;			/* [nblocks / 64 + 1], a bit a page: the map, and where it was looked at also the page, says that all
								 * see all of it */
	uint64	   *group_lsn;		/* [groups], of its pages */
	uint64		vacuums;		/* see EmogiLiveLeaf */
	const EmogiLiveLeaf *known; /* in the state; NULL = it is new there */
	const EmogiVouching *before;	/* of a call of the own transaction; NULL = there was none, or its snapshot was a newer one */
	EmogiLooks	looks;			/* of the pages that must be looked at; blocks = NULL: of all */
	uint64		nby_map;		/* pages that the map vouched for */
	uint64		nby_lsn;		/* ... their LSN */
} EmogiDiscovery;

/* Heap pages of a page of the visibility map: 2 bits each. */
#define EMOGI_GROUP_PAGES ((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4)

static inline uint64
emogi_discover_groups(BlockNumber nblocks)
{
	return ((uint64) nblocks + EMOGI_GROUP_PAGES - 1) / EMOGI_GROUP_PAGES;
}

extern bool emogi_discover_can_follow(Relation rel);
extern void emogi_discover_map(Relation rel, const EmogiSource *source, EmogiDiscovery *discovery);
extern void emogi_discover_pages(Relation rel, const EmogiLivePages *pages, uint64 older_than, EmogiDiscovery *discovery);

/* ---- diff.c: what has changed on them ---- */

/* Changes of edges, in memory of a slot, or of the process. */
typedef struct EmogiChanges
{
	EmogiCall  *call;
	MemoryContext context;		/* NULL = in memory of the call's slot */
	uint64		count;
	uint64		room;
	EmogiEdgeChange *changes;	/* [room]; NULL = none yet */
} EmogiChanges;

extern bool emogi_diff_pages(const EmogiLiveState *state, const EmogiDiscovery *discoveries, int nleaves, uint64 most,
							 EmogiChanges *changes);
extern void emogi_diff_look(EmogiChanges *changes, const EmogiLiveState *state, const EmogiLiveLeaf *known, BlockNumber block, EmogiLook *look);
extern void emogi_diff_looks(EmogiChanges *changes, bool weighted, const void *before, int nbefore, const EmogiLook *look);
extern void emogi_diff_net(EmogiChanges *changes);
extern void emogi_diff_add(EmogiChanges *changes, const EmogiEdgeChange *more, uint64 count);
extern EmogiWeightedEdge emogi_diff_edge(const void *edges, uint64 i, bool weighted);

/* ---- store.c: what was found becomes the state's ---- */

/* What is needed to store, with all memory taken. */
typedef struct EmogiStoring
{
	EmogiLiveState *state;
	const EmogiDiscovery *discoveries;
	int			nleaves;
	void	   *pages_memory;	/* NULL = the block that there is will do */
	EmogiLivePages pages;
	void	   *coo_memory;		/* likewise */
	EmogiCoo	coo;
	bool		packed;			/* the COO has the edges of all looks already, where their chunks say */
	void	   *log_memory;		/* likewise */
	uint64		log_room;
} EmogiStoring;

extern bool emogi_store_fits(const EmogiLiveState *state, const EmogiDiscovery *discoveries, int nleaves, bool weighted);
extern void emogi_store_prepare(EmogiCall *call, EmogiLiveState *state, const EmogiDiscovery *discoveries, int nleaves,
								uint64 nchanges, EmogiStoring *storing);
extern void emogi_store(EmogiStoring *storing, const EmogiXidSnapshot *base, const EmogiChanges *changes);
extern EmogiCooRun *emogi_store_runs(EmogiCall *call, const EmogiLiveState *state, uint64 *nruns);

/* ---- own.c: what the own transaction has changed, kept between its calls ---- */

typedef struct EmogiOwnChanges EmogiOwnChanges;

/* ---- refresh.c ---- */

typedef enum EmogiRefreshOutcome
{
	EMOGI_REFRESH_UNCHANGED,	/* the snapshot sees what the state has, at its position */
	EMOGI_REFRESH_STORED,		/* it saw other edges, and the state has them now */
	EMOGI_REFRESH_PRIVATE,		/* it sees other edges, which are not for the state: own changes, or an older snapshot's */
	EMOGI_REFRESH_HOPELESS		/* so much has changed that a build is cheaper, or the state cannot hold it */
} EmogiRefreshOutcome;

typedef struct EmogiRefresh
{
	EmogiRefreshOutcome outcome;
	EmogiChanges changes;		/* PRIVATE: from the state's position on */
	uint32		weight_misfits; /* of all weights that the snapshot sees */
	uint64		nedges;			/* ... edges */
	uint64		nskipped;		/* ... rows with a NULL end */
	uint64		old_position;	/* of the state before */
	bool		own;			/* a page that was looked at holds changes of the own transaction */
	bool		newer;			/* the snapshot is the state's base now, or could be: not an older one, nor with own changes */
	EmogiOwnChanges *own_changes;	/* PRIVATE: they are kept there; NULL = they are not kept */
} EmogiRefresh;

/* own.c, own_patch.c */
extern void emogi_own_vouch(const EmogiOwnChanges *own, EmogiDiscovery *discovery, int leaf);
extern EmogiOwnChanges *emogi_own_find(const EmogiLiveState *state, const EmogiXidSnapshot *xids, bool *older);
extern bool emogi_own_reuse(EmogiOwnChanges *own, const EmogiLiveState *state, EmogiDiscovery *discoveries, int nleaves, uint64 *count);
extern void emogi_own_take(EmogiOwnChanges *own, const EmogiLiveState *state, const EmogiDiscovery *discoveries, int nleaves,
						   const EmogiXidSnapshot *xids, EmogiRefresh *refresh);
extern EmogiOwnChanges *emogi_own_keep(const EmogiLiveState *state, const EmogiDiscovery *discoveries, int nleaves, const EmogiXidSnapshot *xids,
									   const EmogiRefresh *refresh);
extern EmogiPatch *emogi_own_patch(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph, const EmogiGraph *shown, EmogiDirection direction,
								   const EmogiEdgeChange *logged, uint64 nlogged);

extern void emogi_refresh(EmogiCall *call, const EmogiSource *source, const Oid *relids, int nleaves,
						  const EmogiXidSnapshot *xids, EmogiWeights weights, EmogiLiveState *state, EmogiRefresh *refresh);
extern uint64 emogi_refresh_pages(const Oid *relids, int nleaves);

/* ---- create.c ---- */

typedef struct EmogiCreation
{
	EmogiLiveState *state;
	int			nleaves;
	EmogiDiscovery *discoveries;	/* [nleaves] */
	EmogiLookNotes *notes;		/* [nleaves] */
	EmogiLook  *looks;			/* of all leaves, in the Region */
	Size		looks_bytes;
	bool		own;			/* the own transaction has changed a page */
	bool		own_unseen;		/* which the scan's snapshot does not see: it may be */
} EmogiCreation;

extern void emogi_create_begin(EmogiCall *call, const EmogiSource *source, EmogiLiveState *state, const Oid *relids, int nleaves,
							   EmogiCreation *creation);
extern void emogi_create_cancel(EmogiCreation *creation);
extern bool emogi_create_finish(EmogiCall *call, EmogiCreation *creation, const EmogiXidSnapshot *xids);

#endif							/* EMOGI_LIVE_H */
