/*
 * tree.h: a query as a tree: what its rows depend on, and whether their Graph may be shared. Its rules have numbers, Q1 to Q18.
 *
 * emogi_tree_open (tree.c) takes the text of a Source to its analysed and rewritten tree, in which views are expanded and row
 * security is; defaults.c fills in arguments that calls omit; fold.c puts the values of what is one value for the whole call in its place; judge.c, with judge_functions.c, goes
 * through all of it and says why it may not be shared, if so; leaves.c lists the tables that its rows lie in; digest.c makes the
 * key of it. filter.c recognizes a tree that is one table with conditions on its rows, whose changes can be followed. tree_run.c runs the tree itself, names.c tells whether names led elsewhere meanwhile, and says whether what came of it may be published. What these share is look.h.
 */
#ifndef EMOGI_TREE_H
#define EMOGI_TREE_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"

#include "cache/cache.h"
#include "source/source.h"

typedef struct EmogiTree
{
	const char *refusal;		/* why no Graph of it may be shared: a sentence; NULL = one may, and the rest is there */
	MemoryContext context;		/* in which all of it is */
	const char *text;
	Query	   *query;			/* folded */
	EmogiEdgeColumns columns;	/* of its result */
	bool		is_folded;		/* it has a value that another call need not have */
	uint8		digest[EMOGI_DIGEST_BYTES];
	uint64		shape;			/* a hash of what the digest is of, but for the values of constants; not 0 */
	List	   *roots;			/* OIDs of relations that are read with their children, ... */
	List	   *alone;			/* ... of those that are read without, ... */
	List	   *relations;		/* ... of both and all children, ascending: what a plan of it may read, ... */
	List	   *leaves;			/* ... of those with rows, ascending; all are locked */
	List	   *named;			/* ... of all that are named, views too */
	List	   *functions;		/* OIDs of those that are called, but for folded ones */
	bool		is_unsafe;		/* something in it may fail in parallel mode; of a tree that was peeked at */
	const EmogiSource *source;	/* what it was made of; the caller's */
	uint64		ninvalidations; /* seen before it was analysed */
	StringInfoData versions;	/* of the rows in the catalogs that its functions are */
	uint64		nrenamings;		/* likewise, of names */
	bool		has_types;		/* the definitions of types are part of the digest */
	List	   *texts;			/* char *: bodies of its functions that are text, which is analysed once more when the tree runs */
	bool		reads_elsewhere;	/* its plan reads what is not among the relations; known when it has been run */
	EmogiSource *filtered;		/* a relation with conditions that has the same edges; NULL = the query is not as simple as that (filter.c) */
} EmogiTree;

extern EmogiTree *emogi_tree_open(const EmogiSource *source);
extern EmogiTree *emogi_tree_peek(const EmogiSource *source);
extern void emogi_tree_close(EmogiTree *tree);
extern bool emogi_tree_filter_is_current(const EmogiSource *source);

/* ---- judge.c ---- */

extern const char *emogi_judge_elsewhere(Oid relid);

/* ---- filter.c ---- */

extern double emogi_filter_cost(const EmogiSource *source);

/* ---- tree_run.c ---- */

extern int64 emogi_tree_run(EmogiTree *tree, const char *select, ParamListInfo params);
extern bool emogi_tree_may_publish(const EmogiTree *tree);

#endif							/* EMOGI_TREE_H */
