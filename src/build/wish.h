/*
 * wish.h: what a call asks of the cache, for obtain.c; see wish.c.
 */
#ifndef EMOGI_WISH_H
#define EMOGI_WISH_H

#include "build/build.h"

/* What a call asks of the cache. */
typedef struct EmogiWish
{
	EmogiGraphKey key;
	int			nleaves;
	Oid		   *relids;			/* [nleaves], tables, ascending as find_all_inheritors has them */
	Oid		   *relfilenumbers; /* [nleaves] */
	int		   *tables;			/* [nleaves], their entries in tables.c; by track_leaves */
	EmogiXidSnapshot xids;
} EmogiWish;

/* What comes of it. */
typedef enum EmogiFinding
{
	EMOGI_FOUND,						/* slot->graph is pinned */
	EMOGI_MUST_WAIT,					/* another call builds it */
	EMOGI_MUST_BUILD,					/* slot->graph is reserved, slot->donor pinned or -1 */
	EMOGI_MUST_MAKE_ROOM,				/* there is no entry left, for the Graph or for a table */
	EMOGI_MUST_BUILD_PRIVATELY
} EmogiFinding;

extern EmogiWish *emogi_wish_make(const EmogiSource *source, const EmogiGraphKey *wanted);
extern void emogi_wish_free(EmogiWish *wish);
extern bool emogi_wish_may_share(EmogiWish *wish, List *leaves);
extern EmogiFinding emogi_wish_find(EmogiSlot *slot, const EmogiWish *wish);
extern bool emogi_wish_is_cached(const EmogiWish *wish);
extern void emogi_wish_publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits, uint64 nskipped);

#endif							/* EMOGI_WISH_H */
