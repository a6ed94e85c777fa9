/*
 * changes.h: Graphs that follow their tables: what has changed since a live state's base, at the cost of the change.
 *
 * A snapshot is compared with the base of a live state (cache/change_tracker.h). changed_pages.c finds the pages that it may see otherwise:
 * neither the visibility map nor their LSN vouches for them. Those are looked at again (edges/page_rescan.c), and tracker_diff.c compares the
 * rows that they gave with those that they give now. tracker_store.c makes what was found the state's, and its base the snapshot.
 * tracker_refresh.c leads all of this; tracker_create.c makes the state of a Graph that is being built. docs/design.md has the rules, L1 to
 * L12, and why they suffice.
 */
#ifndef EMOGI_CHANGES_H
#define EMOGI_CHANGES_H

#include "cache/change_tracker.h"
#include "edges/edges.h"
#include "edges/pages.h"
#include "graph/overlay.h"

/* ---- changed_pages.c: which pages a snapshot may see otherwise ---- */

/* What the map of a leaf said when its pages were compared before: those of trusted pages were then as the state has them. */
typedef struct EmogiVouching
{
	BlockNumber nblocks;
	BlockNumber room;			/* for blocks */
	uint64	   *trusted;		/* [nblocks / 64 + 1] */
	uint64	   *group_lsn;		/* [groups] */
	uint64		vacuums;		/* see EmogiTrackedTable */
} EmogiVouching;

/* A leaf as it is found. Arrays are palloced. */
typedef struct EmogiChangedPages
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
	uint64		vacuums;		/* see EmogiTrackedTable */
	const EmogiTrackedTable *known; /* in the state; NULL = it is new there */
	const EmogiVouching *before;	/* of a call of the own transaction; NULL = there was none, or its snapshot was a newer one */
	EmogiPageRescan	looks;			/* of the pages that must be looked at; blocks = NULL: of all */
	uint64		nby_map;		/* pages that the map vouched for */
	uint64		nby_lsn;		/* ... their LSN */
} EmogiChangedPages;

/* Heap pages of a page of the visibility map: 2 bits each. */
#define EMOGI_GROUP_PAGES ((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4)

static inline uint64
emogi_changed_pages_groups(BlockNumber nblocks)
{
	return ((uint64) nblocks + EMOGI_GROUP_PAGES - 1) / EMOGI_GROUP_PAGES;
}

extern bool emogi_changed_pages_can_follow(Relation rel);
extern void emogi_changed_pages_map(Relation rel, const EmogiSource *source, EmogiChangedPages *discovery);
extern void emogi_changed_pages_pages(Relation rel, const EmogiTrackedPages *pages, uint64 older_than, EmogiChangedPages *discovery);

/* ---- tracker_diff.c: what has changed on them ---- */

/* Changes of edges, in memory of a slot, or of the process. */
typedef struct EmogiChanges
{
	EmogiCall  *call;
	MemoryContext context;		/* NULL = in memory of the call's slot */
	uint64		count;
	uint64		room;
	EmogiEdgeChange *changes;	/* [room]; NULL = none yet */
} EmogiChanges;

extern bool emogi_tracker_diff_pages(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, uint64 most,
							 EmogiChanges *changes);
extern void emogi_tracker_diff_look(EmogiChanges *changes, const EmogiChangeTracker *state, const EmogiTrackedTable *known, BlockNumber block, EmogiPageScan *look);
extern void emogi_tracker_diff_looks(EmogiChanges *changes, bool weighted, const void *before, int nbefore, const EmogiPageScan *look);
extern void emogi_tracker_diff_net(EmogiChanges *changes);
extern void emogi_tracker_diff_add(EmogiChanges *changes, const EmogiEdgeChange *more, uint64 count);
extern EmogiWeightedEdge emogi_tracker_diff_edge(const void *edges, uint64 i, bool weighted);

/* ---- tracker_store.c: what was found becomes the state's ---- */

/* What is needed to store, with all memory taken. */
typedef struct EmogiTrackerStore
{
	EmogiChangeTracker *state;
	const EmogiChangedPages *discoveries;
	int			nleaves;
	void	   *pages_memory;	/* NULL = the block that there is will do */
	EmogiTrackedPages pages;
	void	   *coo_memory;		/* likewise */
	EmogiCoo	coo;
	bool		packed;			/* the COO has the edges of all looks already, where their chunks say */
	void	   *log_memory;		/* likewise */
	uint64		log_room;
} EmogiTrackerStore;

extern bool emogi_tracker_store_fits(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, bool weighted);
extern void emogi_tracker_store_prepare(EmogiCall *call, EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves,
								uint64 nchanges, EmogiTrackerStore *storing);
extern void emogi_tracker_store(EmogiTrackerStore *storing, const EmogiTransactionSnapshot *base, const EmogiChanges *changes);
extern EmogiCooRun *emogi_tracker_store_runs(EmogiCall *call, const EmogiChangeTracker *state, uint64 *nruns);

/* ---- own_changes.c: what the own transaction has changed, kept between its calls ---- */

typedef struct EmogiOwnChanges EmogiOwnChanges;

/* ---- tracker_refresh.c ---- */

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

/* own_changes.c, own_overlay.c */
extern void emogi_own_changes_vouch(const EmogiOwnChanges *own, EmogiChangedPages *discovery, int leaf);
extern EmogiOwnChanges *emogi_own_changes_find(const EmogiChangeTracker *state, const EmogiTransactionSnapshot *xids, bool *older);
extern bool emogi_own_changes_reuse(EmogiOwnChanges *own, const EmogiChangeTracker *state, EmogiChangedPages *discoveries, int nleaves, uint64 *count);
extern void emogi_own_changes_take(EmogiOwnChanges *own, const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves,
						   const EmogiTransactionSnapshot *xids, EmogiRefresh *refresh);
extern EmogiOwnChanges *emogi_own_changes_keep(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, const EmogiTransactionSnapshot *xids,
									   const EmogiRefresh *refresh);
extern EmogiOverlay *emogi_own_overlay(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph, const EmogiGraph *shown, EmogiDirection direction,
								   const EmogiEdgeChange *logged, uint64 nlogged);

extern void emogi_tracker_refresh(EmogiCall *call, const EmogiSource *source, const Oid *relids, int nleaves,
						  const EmogiTransactionSnapshot *xids, EmogiWeights weights, EmogiChangeTracker *state, EmogiRefresh *refresh);
extern uint64 emogi_tracker_refresh_pages(const Oid *relids, int nleaves);

/* ---- tracker_create.c ---- */

typedef struct EmogiTrackerCreation
{
	EmogiChangeTracker *state;
	int			nleaves;
	EmogiChangedPages *discoveries;	/* [nleaves] */
	EmogiPageScans *notes;		/* [nleaves] */
	EmogiPageScan  *looks;			/* of all leaves, in the Region */
	Size		looks_bytes;
	bool		own;			/* the own transaction has changed a page */
	bool		own_unseen;		/* which the scan's snapshot does not see: it may be */
} EmogiTrackerCreation;

extern void emogi_tracker_create_begin(EmogiCall *call, const EmogiSource *source, EmogiChangeTracker *state, const Oid *relids, int nleaves,
							   EmogiTrackerCreation *creation);
extern void emogi_tracker_create_cancel(EmogiTrackerCreation *creation);
extern bool emogi_tracker_create_finish(EmogiCall *call, EmogiTrackerCreation *creation, const EmogiTransactionSnapshot *xids);

#endif							/* EMOGI_CHANGES_H */
