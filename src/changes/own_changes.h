/*
 * own_changes.h: kept changes of the current transaction, shared by own_changes.c, which finds
 * them, and own_overlay.c, which applies them to graphs
 */
#ifndef EMOGI_OWN_CHANGES_H
#define EMOGI_OWN_CHANGES_H

#include "changes/changes.h"
#include "changes/kept_overlay.h"

/* Maximum number of overlays of one tracker's changes: one per graph and direction. */
#define EMOGI_MAX_OWN_OVERLAYS 4

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
	void	   *edges;			/* [room]; NULL = none yet */
} EmogiOwnPage;

typedef struct EmogiOwnLeaf
{
	Oid			relid;
	EmogiOwnPage *pages;		/* [npages], ascending */
	int			npages;
	int			room;
	EmogiMapCopy map_copy;		/* of the last call */
	BlockNumber gone;			/* the tracker's pages from here on were truncated, and are among
								 * the changes */
} EmogiOwnLeaf;

struct EmogiOwnChanges
{
	MemoryContext context;
	bool		broken;			/* an update is incomplete */
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
};

#endif							/* EMOGI_OWN_CHANGES_H */
