/*
 * prewarm.h: loading of graphs before they are used.
 *
 * prewarm.c    emogi_prewarm: load one graph, and optionally keep it
 * prewarm_list.c  the setting emogi.prewarm, the list of graphs loaded at server start
 * autoprewarm.c      background worker that processes the list, database by database
 * loader.c     background worker that autoprewarm.c starts for each database
 */
#ifndef EMOGI_PREWARM_H
#define EMOGI_PREWARM_H

#include "acquire/acquire.h"

/* ---- prewarm.c ---- */

/* What to do about keeping a graph. */
typedef enum EmogiKeepChoice
{
	EMOGI_KEEP_UNCHANGED,
	EMOGI_KEEP,
	EMOGI_KEEP_RELEASE
} EmogiKeepChoice;

/* A graph that is now in the cache. */
typedef struct EmogiPrewarmed
{
	char		cache[8];		/* how the graph was acquired, as in emogi_runs */
	uint64		nvertices;
	uint64		nedges;			/* edges of the adjacency lists */
	uint64		bytes;
	bool		kept;
} EmogiPrewarmed;

extern void emogi_prewarm_graph(Oid function, const EmogiGraphArgument *graph,
								const EmogiGraphKey *wanted, EmogiKeepChoice keep,
								EmogiPrewarmed *prewarmed);

/* ---- prewarm_list.c: the setting emogi.prewarm ---- */

/* An entry of the list. */
typedef struct EmogiPrewarmEntry
{
	char	   *database;
	char	   *schema;			/* NULL = by the search path */
	char	   *relation;
	char	   *columns;		/* text in parentheses; NULL = none */
	int			ncolumns;		/* 0, 2 or 3 */
	char	   *text;			/* without the database, as written */
} EmogiPrewarmEntry;

extern void emogi_prewarm_define(void);
extern List *emogi_prewarm_list(void);

/* ---- autoprewarm.c ---- */

extern void emogi_prewarm_start(void);

/* ---- loader.c ---- */

extern void emogi_prewarm_warn(const EmogiPrewarmEntry *entry, int sqlstate, const char *why,
							   const char *detail,
							   const char *hint);

#endif							/* EMOGI_PREWARM_H */
