/*
 * prewarm.h: Graphs that are loaded ahead of the calls that use them.
 *
 * emogi_prewarm (prewarm.c) loads one, and has it kept if it is told to. kept_list.c reads the setting emogi.prewarm, the list of those that
 * are loaded when the server starts. start.c is the process that goes through it, database by database; loader.c the process that it
 * starts for each of them.
 */
#ifndef EMOGI_PREWARM_H
#define EMOGI_PREWARM_H

#include "acquire/acquire.h"

/* ---- prewarm.c ---- */

/* Whether a Graph is to be kept. */
typedef enum EmogiKeepChoice
{
	EMOGI_KEEP_AS_IT_IS,
	EMOGI_KEEP,
	EMOGI_KEEP_NO_LONGER
} EmogiKeepChoice;

/* A Graph that stands in the cache now. */
typedef struct EmogiPrewarmed
{
	char		cache[8];		/* how it came there, as in emogi_runs */
	uint64		nvertices;
	uint64		nedges;			/* list entries */
	uint64		bytes;
	bool		kept;
} EmogiPrewarmed;

extern void emogi_prewarm_graph(Oid function, const EmogiGraphArgument *graph, const EmogiGraphKey *wanted, EmogiKeepChoice keep,
								EmogiPrewarmed *prewarmed);

/* ---- kept_list.c: the setting emogi.prewarm ---- */

/* An entry of the list. */
typedef struct EmogiPrewarmEntry
{
	char	   *database;
	char	   *schema;			/* NULL = that of the search path */
	char	   *relation;
	char	   *columns;		/* what stands in parentheses; NULL = not named */
	int			ncolumns;		/* 0, 2 or 3 */
	char	   *text;			/* without the database, as it was given */
} EmogiPrewarmEntry;

extern void emogi_prewarm_define(void);
extern List *emogi_prewarm_list(void);

/* ---- start.c ---- */

extern void emogi_prewarm_start(void);

/* ---- loader.c ---- */

extern void emogi_prewarm_warn(const EmogiPrewarmEntry *entry, int sqlstate, const char *why, const char *detail,
							   const char *hint);

#endif							/* EMOGI_PREWARM_H */
