/*
 * own_changes.h: what is kept of the own transaction's changes, for own_changes.c, which finds them, and own_overlay.c, which has them beside Graphs.
 */
#ifndef EMOGI_OWN_CHANGES_H
#define EMOGI_OWN_CHANGES_H

#include "graph/overlay_grow.h"
#include "changes/changes.h"

/* Patches of the changes of a live state: another direction, or another Graph. */
#define EMOGI_OWN_PATCHES 4

/* A page that differs from what the state has, or might. */
typedef struct EmogiOwnPage
{
	BlockNumber block;
	Buffer		buffer;			/* where it was */
	uint64		lsn;			/* 0 = it must be looked at */
	uint64		others;			/* EmogiOwnChanges.others when it was looked at */
	CommandId	command;		/* of the snapshot that looked at it */
	CommandId	last_command;	/* see EmogiPageScan */
	bool		own;
	bool		undecided;		/* by others than the own transaction */
	uint16		nedges;
	uint16		nskipped;
	uint16		room;			/* for edges */
	void	   *edges;			/* [room]; NULL = none yet */
} EmogiOwnPage;

typedef struct EmogiOwnLeaf
{
	Oid			relid;
	EmogiOwnPage    *pages;			/* [npages], ascending */
	int			npages;
	int			room;
	EmogiVouching vouching;		/* of the last call */
	BlockNumber gone;			/* pages of the state from here on were gone, and are among the changes */
} EmogiOwnLeaf;

/* A patch that has the first changes. */
typedef struct EmogiOwnOverlay
{
	uint64		graph;			/* id of its Graph; 0 = there is none */
	const uint32 *targets;		/* of the Graph's forward lists, as a search sees it */
	EmogiWeightType weight_type;
	EmogiDirection direction;
	uint64		nchanges;
	bool		broken;
	const EmogiCall *user;		/* the last one */
	MemoryContext context;
	EmogiGrowingOverlay growing;
} EmogiOwnOverlay;

struct EmogiOwnChanges
{
	MemoryContext context;
	bool		broken;			/* in the middle of a change */
	uint64		state_id;
	uint64		version;		/* of the state */
	uint64		used;
	EmogiTransactionSnapshot xids;		/* of the last call */
	uint64		others;			/* how often those were other ones */
	CommandId	command;		/* of its snapshot */
	Size		edge_bytes;
	int			nleaves;
	EmogiOwnLeaf    *leaves;			/* [nleaves] */
	EmogiChanges changes;		/* from the state's position on, in the order in which they were found */
	uint64		nnet;			/* when those that cancel out were last left out */
	EmogiMisfitCounts misfits;	/* of all weights that the snapshot sees */
	uint64		nedges;			/* ... edges */
	uint64		nskipped;		/* ... rows with a NULL end */
	EmogiOwnOverlay	patches[EMOGI_OWN_PATCHES];
};

#endif							/* EMOGI_OWN_CHANGES_H */
