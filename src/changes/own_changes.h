/*
 * own_changes.h: kept changes of the session's transactions, shared by own_changes.c, which finds
 * them, and own_overlay.c, which applies them to graphs
 */
#ifndef EMOGI_OWN_CHANGES_H
#define EMOGI_OWN_CHANGES_H

#include "changes/changes.h"
#include "edges/row_filter.h"
#include "changes/kept_overlay.h"

/* Maximum number of overlays of one tracker's changes: one per graph and direction. */
#define EMOGI_MAX_OWN_OVERLAYS 4

/* Maximum number of transactions that may end between two calls that use the same changes. */
#define EMOGI_MAX_CARRIED_XIDS 16

/* A page that differs or may differ from the tracker's. */
typedef struct EmogiOwnPage
{
	BlockNumber block;
	Buffer		buffer;			/* where it was last found */
	uint64		lsn;			/* 0 = must be rescanned */
	uint64		others;			/* EmogiOwnChanges.others at the last scan */
	CommandId	command;		/* of the scan's snapshot */
	CommandId	last_command;	/* see EmogiPageScan */
	bool		own;
	bool		undecided;		/* transactions other than the own one are in progress on it */
	uint16		nedges;
	uint16		nskipped;
	uint16		room;			/* capacity of edges */
	uint16		nlines;			/* line pointers that have been read */
	void	   *edges;			/* [room]; NULL = none yet */
} EmogiOwnPage;

typedef struct EmogiOwnLeaf
{
	Oid			relid;
	EmogiOwnPage *pages;		/* [npages], ascending */
	int			npages;
	int			room;
	EmogiMapCopy map_copy;		/* of the last call */
	Oid			relfilenumber;
	BlockNumber nblocks;		/* read: later ones are not among the pages */
	EmogiRowCounts counts;		/* at the last call */
	int			last;			/* index of the page on which a new row was last found */
	uint64		prepared;		/* catalogs for which the following were made; 0 = not made */
	EmogiTupleLayout layout;
	EmogiRowFilter *filter;		/* NULL = all rows are edges */
	BlockNumber gone;			/* the tracker's pages from here on were truncated, and are among
								 * the changes */
} EmogiOwnLeaf;

struct EmogiOwnChanges
{
	MemoryContext context;
	bool		broken;			/* an update is incomplete */
	bool		is_following;	/* conditions are being evaluated, in its memory */
	bool		is_carried;		/* from an earlier transaction, see carried_changes.c */
	bool		is_first;		/* ... and no call of the current transaction has used them */
	/* [ncarried], ascending: transactions of this session that have changed the tables and
	 * committed since the last call */
	uint64		carried[EMOGI_MAX_CARRIED_XIDS];
	int			ncarried;
	bool		is_all_seen;	/* the last call has seen all changes of the own transaction */
	EmogiGraphKey key;			/* of the tracker */
	uint64		catalogs;		/* emogi_analysis_count_changes() at the last call */
	uint64		state_id;
	uint64		version;		/* of the tracker */
	uint64		used;
	EmogiTransactionSnapshot xids;	/* of the last call */
	uint64		others;			/* number of times that the visibility of other transactions
								 * changed */
	CommandId	command;		/* of the last call's snapshot */
	Size		edge_bytes;
	int			nleaves;
	EmogiOwnLeaf *leaves;		/* [nleaves] */
	EmogiChanges changes;		/* since the tracker's position, in the order in which they were
								 * found */
	bool		is_merged;		/* a call has merged the changes into a graph of its own */
	uint64		nnet;			/* number of changes after the last netting */
	EmogiMisfitCounts misfits;	/* of all weights that the snapshot sees */
	uint64		nedges;			/* edges that the snapshot sees */
	uint64		nskipped;		/* rows with a NULL endpoint that the snapshot sees */
	EmogiKeptOverlay overlays[EMOGI_MAX_OWN_OVERLAYS];
	uint64		coder_prepared;	/* catalogs for which coder was made; 0 = not made */
	EmogiKeyCoder coder;		/* of keys that are not integers */
};

/* A call's access to the codes of its keys. */
typedef struct EmogiOwnKeys
{
	EmogiOwnChanges *own;
	EmogiSlot  *slot;
	int			index;			/* of the dictionary; -1 = keys are integers */
	EmogiDictionary *dictionary;	/* NULL = keys are integers */
	bool		is_held;		/* the slot holds a tracker */
	bool		may_add;		/* which is that of the dictionary */
} EmogiOwnKeys;

/* Max number of kept changes. */
#define EMOGI_MAX_OWN_CHANGES (2 * EMOGI_MAX_FIRST_OWN_CHANGES)

/* Net the changes when they exceed twice the number left by the last netting plus this. */
#define EMOGI_MIN_NETTED 4096

/* ---- own_changes.c ---- */

/* Number of kept changes of this session: with none, a call need not look for any. */
extern int	emogi_own_changes_count;

extern void emogi_own_changes_drop(EmogiOwnChanges *own);
extern void emogi_own_changes_end(bool (*keep) (EmogiOwnChanges *own));
extern EmogiOwnChanges *emogi_own_changes_of(const EmogiGraphKey *key,
											 const EmogiTransactionSnapshot *xids,
											 bool *same_others);
extern void emogi_own_changes_note_snapshot(EmogiOwnChanges *own,
											const EmogiTransactionSnapshot *xids,
											uint64 catalogs);
extern EmogiOwnPage *emogi_own_changes_open_page(EmogiOwnChanges *own, EmogiOwnLeaf *table,
												 int *at, BlockNumber block, bool *is_new);
extern void emogi_own_changes_sum_up(EmogiOwnChanges *own, uint64 first);

/* ---- own_keys.c ---- */

extern void emogi_own_keys_begin(EmogiOwnKeys *keys, EmogiOwnChanges *own, EmogiCall *call,
								 int dictionary);
extern bool emogi_own_keys_get(EmogiOwnKeys *keys, Datum src, Datum dst, EmogiWeightedEdge *edge,
							   bool *is_edge);
extern void emogi_own_keys_end(EmogiOwnKeys *keys);

/* ---- own_overlay.c ---- */

extern EmogiKeptOverlay *emogi_own_overlay_find(EmogiOwnChanges *own, const EmogiCall *call,
												const EmogiGraphKey *wanted);
extern bool emogi_own_overlay_follow(EmogiOwnChanges *own, const EmogiCall *call,
									 EmogiKeptOverlay *overlay);
extern bool emogi_own_overlay_postpone(const EmogiOwnChanges *own, const EmogiCall *call,
									   EmogiKeptOverlay *overlay);

#endif							/* EMOGI_OWN_CHANGES_H */
