/*
 * changes.h: incremental refresh: find what has changed in the tables of a graph, at a cost
 * proportional to the change
 *
 * A snapshot is compared with the base snapshot of a change tracker (cache/change_tracker.h).
 *
 * changed_pages.c      finds the pages that the snapshot may see differently: neither the
 *                      visibility map nor their LSN proves them unchanged
 * edges/page_rescan.c  scans those pages again
 * tracker_diff.c       compares the edges that they gave with those that they give now
 * tracker_store.c      stores the result in the tracker and makes the snapshot its base
 * tracker_refresh.c    drives all of this
 * tracker_create.c     creates the tracker of a graph that is being built
 * own_changes.c        keeps the changes of the current transaction between its calls
 * own_pages.c          finds the pages with such changes that must be rescanned
 * own_rows.c           reads the rows that the session has inserted since its last call
 * own_keys.c           gets the codes of their keys
 * carried_changes.c    keeps them for the next transaction of the session
 * kept_overlay.c       overlays that are kept and grow: own_overlay.c of own changes,
 *                      logged_overlay.c of a tracker's log
 *
 * checked_weights.c    tells whether a table contains weights that a build refuses
 *
 * docs/design/incremental-graphs.md has the rules L1 to L12 and O1 to O10 and proves them
 * sufficient.
 */
#ifndef EMOGI_CHANGES_H
#define EMOGI_CHANGES_H

#include "access/heapam.h"
#include "catalog/catalog.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "cache/change_tracker.h"
#include "edges/edges.h"
#include "edges/pages.h"
#include "contract/overlay.h"

/*
 * Return true if the changes of a table can be tracked (L1).
 *
 * Every change of a page must be WAL-logged. The current transaction must not have created the
 * table's file: in such a file it may have stored rows that are frozen at once, or may have
 * truncated and refilled it.
 */
static inline bool
emogi_changed_pages_can_track(Relation rel)
{
	return rel->rd_tableam == GetHeapamTableAmRoutine() && RelationNeedsWAL(rel) &&
		!IsCatalogRelation(rel) && !emogi_compat_has_own_file(rel);
}

/* ---- changed_pages.c: which pages a snapshot may see differently ---- */

/*
 * A table's visibility map when its pages were last compared. The trusted pages then matched the
 * tracker.
 */
typedef struct EmogiMapCopy
{
	BlockNumber nblocks;
	BlockNumber room;			/* capacity in blocks */
	uint64	   *trusted;		/* bitmap [nblocks / 64 + 1] */
	uint64	   *group_lsn;		/* [groups] */
	uint64		vacuums;		/* see EmogiTrackedTable */
} EmogiMapCopy;

/* Rows of a table that the current transaction has written so far. */
typedef struct EmogiRowCounts
{
	bool		is_counted;		/* the server counts them */
	uint64		settings;		/* number of changes of track_counts: equal if none was missed */
	int64		ninserted;
	int64		nchanged;		/* updated and deleted */
} EmogiRowCounts;

/* A table as found by this call. Arrays are palloc'd. */
typedef struct EmogiChangedPages
{
	Oid			relid;
	Oid			relfilenumber;
	AttrNumber	src;			/* its columns; attribute numbers may have changed */
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none */
	AttrNumber	reverse;
	AttrNumber	filter[EMOGI_FILTER_MAX_COLUMNS];
	BlockNumber nblocks;		/* read after the snapshot was taken */
	uint64	   *map;			/* bitmap [nblocks / 64 + 1], one bit a page: all-visible by the map
								 * and, if the page was read, by the page itself */
	uint64	   *group_lsn;		/* [groups], LSN of the map pages */
	uint64		vacuums;		/* see EmogiTrackedTable */
	const EmogiTrackedTable *known;	/* in the tracker; NULL = new */
	const EmogiMapCopy *before; /* map of an earlier call of this transaction; NULL = none, or its
								  * snapshot was newer */
	EmogiRowCounts counts;		/* read before the pages */
	EmogiPageRescan scans;		/* pages to rescan; blocks = NULL: all pages */
	uint64		nskipped_by_map;	/* pages skipped by the map */
	uint64		nskipped_by_lsn;	/* pages skipped by their LSN */
} EmogiChangedPages;

/* Heap pages covered by a page of the visibility map, at 2 bits each. */
#define EMOGI_GROUP_PAGES ((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4)

static inline uint64
emogi_changed_pages_groups(BlockNumber nblocks)
{
	return ((uint64) nblocks + EMOGI_GROUP_PAGES - 1) / EMOGI_GROUP_PAGES;
}

extern void emogi_changed_pages_copy_map(Relation rel, const EmogiSource *source,
										 EmogiChangedPages *changed);
extern void emogi_changed_pages_find(Relation rel, const EmogiTrackedPages *pages,
									 uint64 older_than, EmogiChangedPages *changed);

/* ---- tracker_diff.c: what has changed on these pages ---- */

/* Changed edges, in memory of the call's slot or of the backend. */
typedef struct EmogiChanges
{
	EmogiCall  *call;
	MemoryContext context;		/* NULL = memory of the call's slot */
	uint64		count;
	uint64		room;
	EmogiEdgeChange *changes;	/* [room]; NULL = none yet */
} EmogiChanges;

extern bool emogi_tracker_diff_pages(const EmogiChangeTracker *tracker,
									 const EmogiChangedPages *changed_tables, int nleaves,
									 uint64 max_changes, EmogiChanges *changes);
extern void emogi_tracker_diff_page(EmogiChanges *changes, const EmogiChangeTracker *tracker,
									const EmogiTrackedTable *known, BlockNumber block,
									EmogiPageScan *scan);
extern void emogi_tracker_diff_scans(EmogiChanges *changes, bool weighted, const void *before,
									 int nbefore, const EmogiPageScan *scan);
extern void emogi_tracker_diff_net(EmogiChanges *changes);
extern void emogi_tracker_diff_add(EmogiChanges *changes, const EmogiEdgeChange *more,
								   uint64 count);
extern EmogiWeightedEdge emogi_tracker_diff_edge(const void *edges, uint64 i, bool weighted);

/* ---- tracker_store.c: store the result in the tracker ---- */

/* A store in preparation, with all memory allocated. */
typedef struct EmogiTrackerStore
{
	EmogiChangeTracker *tracker;
	const EmogiChangedPages *changed_tables;
	int			nleaves;
	bool		keeps_pages;	/* all pages of the tracker remain */
	void	   *pages_memory;	/* NULL = the existing block is large enough */
	EmogiTrackedPages pages;
	void	   *coo_memory;		/* NULL likewise */
	EmogiCoo	coo;
	bool		packed;			/* the COO has the edges of all scanned pages already, at the places
								 * that their chunks give */
	void	   *log_memory;		/* NULL likewise */
	uint64		log_room;
} EmogiTrackerStore;

extern bool emogi_tracker_store_fits(const EmogiChangeTracker *tracker,
									 const EmogiChangedPages *changed_tables, int nleaves,
									 bool weighted);
extern void emogi_tracker_store_prepare(EmogiCall *call, EmogiChangeTracker *tracker,
										const EmogiChangedPages *changed_tables, int nleaves,
										uint64 nchanges, EmogiTrackerStore *store);
extern void emogi_tracker_store(EmogiTrackerStore *store, const EmogiTransactionSnapshot *base,
								const EmogiChanges *changes);
extern EmogiCooRun *emogi_tracker_store_runs(EmogiCall *call, const EmogiChangeTracker *tracker,
											 uint64 *nruns);

/* ---- own_changes.c: changes of the current transaction, kept between its calls ---- */

typedef struct EmogiOwnChanges EmogiOwnChanges;

/* Max number of kept pages, and of changes when they are first kept. */
#define EMOGI_MAX_OWN_PAGES 4096
#define EMOGI_MAX_FIRST_OWN_CHANGES UINT64CONST(524288)

extern ErrorData *emogi_own_changes_run(void (*work) (void *), void *arg);

/* ---- own_rows.c: rows that the current transaction has inserted since its last call ---- */

extern void emogi_own_rows_count(Relation rel, EmogiRowCounts *counts);
extern bool emogi_own_rows_follow(EmogiOwnChanges *own, EmogiCall *call, int dictionary,
								  const EmogiSource *source, const Oid *relids,
								  const Oid *relfilenumbers, int nleaves,
								  const EmogiTransactionSnapshot *xids, EmogiWeights weights);

/* ---- tracker_refresh.c ---- */

typedef enum EmogiRefreshOutcome
{
	EMOGI_REFRESH_UNCHANGED,	/* the snapshot sees the tracker's edges, at its position */
	EMOGI_REFRESH_STORED,		/* the snapshot saw other edges, and the tracker has them now */
	EMOGI_REFRESH_PRIVATE,		/* the snapshot sees other edges, which must not be stored: the
								 * transaction's own changes, or it is older than the base */
	EMOGI_REFRESH_REBUILD		/* a rebuild is cheaper, or the tracker cannot hold the changes */
} EmogiRefreshOutcome;

typedef struct EmogiRefresh
{
	uint64		catalogs;		/* emogi_analysis_count_changes() before */
	EmogiRefreshOutcome outcome;
	EmogiCacheMiss why_rebuild; /* if outcome = REBUILD */
	EmogiChanges changes;		/* PRIVATE: since the tracker's position */
	uint32		weight_misfits;	/* of all weights that the snapshot sees */
	uint64		nedges;			/* edges that the snapshot sees */
	uint64		nskipped;		/* rows with a NULL endpoint that the snapshot sees */
	uint64		old_position;	/* the tracker's position before */
	bool		own;			/* a rescanned page holds changes of the current transaction */
	bool		newer;			/* the snapshot is the tracker's base now, or could be: it is not
								 * older and sees no own changes */
	EmogiOwnChanges *own_changes;	/* PRIVATE: where the changes are kept; NULL = not kept */
} EmogiRefresh;

/* own_changes.c, own_overlay.c, carried_changes.c */
extern void emogi_carried_changes_init(void);
extern void emogi_own_changes_use_map_copy(const EmogiOwnChanges *own, EmogiChangedPages *changed,
										   int table);
extern EmogiOwnChanges *emogi_own_changes_find(const EmogiChangeTracker *tracker,
											   const EmogiTransactionSnapshot *xids, bool *older);
extern bool emogi_own_changes_reuse(EmogiOwnChanges *own, const EmogiChangeTracker *tracker,
									EmogiChangedPages *changed_tables, int nleaves, uint64 *count);
extern void emogi_own_changes_update(EmogiOwnChanges *own, const EmogiChangeTracker *tracker,
									 const EmogiChangedPages *changed_tables, int nleaves,
									 const EmogiTransactionSnapshot *xids, EmogiRefresh *refresh);
extern EmogiOwnChanges *emogi_own_changes_keep(const EmogiChangeTracker *tracker,
											   const EmogiChangedPages *changed_tables, int nleaves,
											   const EmogiTransactionSnapshot *xids,
											   const EmogiRefresh *refresh);
extern EmogiOverlay *emogi_own_overlay(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph,
									   const EmogiGraph *shown, EmogiDirection direction,
									   const EmogiGraphKey *wanted, const EmogiEdgeChange *logged,
									   uint64 nlogged);

extern uint64 emogi_own_overlay_missing(const EmogiOwnChanges *own, uint64 graph);
extern bool emogi_own_overlay_merged_before(EmogiOwnChanges *own);
extern EmogiOverlay *emogi_logged_overlay(const EmogiChangeTracker *tracker, const EmogiCall *call,
										  uint64 graph, const EmogiGraph *shown,
										  EmogiDirection direction, const EmogiEdgeChange *logged,
										  uint64 nlogged);

extern void emogi_tracker_refresh(EmogiCall *call, const EmogiSource *source, const Oid *relids,
								  int nleaves, const EmogiTransactionSnapshot *xids, bool has_own,
								  EmogiWeights weights, EmogiChangeTracker *tracker,
								  EmogiRefresh *refresh);
extern uint64 emogi_tracker_refresh_pages(const Oid *relids, int nleaves);
extern bool emogi_tracker_may_scan_others(const EmogiSource *source);
extern bool emogi_tracker_scan_others(const EmogiSource *source, void (*scan) (void *), void *arg);

/* ---- checked_weights.c ---- */

extern bool emogi_checked_weights_are_accepted(const EmogiSource *source, List *heaps,
											   bool is_finite, bool may_read);

/* ---- tracker_create.c ---- */

typedef struct EmogiTrackerCreation
{
	EmogiChangeTracker *tracker;
	int			nleaves;
	EmogiChangedPages *changed_tables;	/* [nleaves] */
	EmogiPageScans *page_scans;	/* [nleaves] */
	EmogiPageScan *scans;		/* of all tables, in the arena */
	Size		page_scans_bytes;
	bool		own;			/* the current transaction has changed a page */
	bool		own_unseen;		/* the scan's snapshot does not see own changes, which are
								 * allowed then */
	EmogiTrackerStore storing;	/* set by emogi_tracker_create_prepare */
} EmogiTrackerCreation;

extern void emogi_tracker_create_begin(EmogiCall *call, const EmogiSource *source,
									   EmogiChangeTracker *tracker, const Oid *relids, int nleaves,
									   EmogiTrackerCreation *creation);
extern void emogi_tracker_create_cancel(EmogiTrackerCreation *creation);
extern bool emogi_tracker_create_prepare(EmogiCall *call, EmogiTrackerCreation *creation);
extern void emogi_tracker_create_finish(EmogiCall *call, EmogiTrackerCreation *creation,
										const EmogiTransactionSnapshot *xids, const EmogiCoo *coo,
										const EmogiMisfitCounts *misfits);

#endif							/* EMOGI_CHANGES_H */
