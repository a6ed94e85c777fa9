/*
 * look.h: a look at a query in progress, for the files of this room.
 */
#ifndef EMOGI_LOOK_H
#define EMOGI_LOOK_H

#include "lib/stringinfo.h"

#include "tree/tree.h"

typedef struct EmogiTreeLook
{
	EmogiTree  *tree;
	List	   *trees;			/* Query: it, and the bodies of functions in SQL; expressions of virtual columns */
	List	   *functions;		/* OIDs: all that are called, for the right to do so */
	List	   *named;			/* OIDs of all relations and views in the trees */
	int			depth;			/* of functions in SQL */
	int			nrelations;		/* that were met so far */
	bool		for_planner;	/* is_unsafe is asked for */
	bool		has_settings;	/* a function depends on the settings of dates and numbers */
	EmogiEdgeColumns inner;		/* columns of the rows of one way, where the tree is one of both ways */
	EmogiTypeWalk types;		/* of expressions, but for built-in ones that cannot be altered */
	StringInfoData bytes;		/* of the key, but for the trees */
} EmogiTreeLook;

/* ---- judge.c: each returns true when the tree is refused, which ends a walk ---- */

extern bool emogi_judge_refuse(EmogiTreeLook *look, const char *format,...) pg_attribute_printf(2, 3);
extern bool emogi_judge_node(Node *node, EmogiTreeLook *look);
extern bool emogi_judge_rights(Query *query, EmogiTreeLook *look);

/* ---- judge_functions.c ---- */

extern bool emogi_judge_function(Oid function, EmogiTreeLook *look);
extern bool emogi_judge_execute(EmogiTreeLook *look);

/* ---- names.c ---- */

extern uint64 emogi_names_count(void);
extern bool emogi_names_may_have_changed(List *texts, uint64 since);

/* ---- defaults.c, fold.c, leaves.c, digest.c ---- */

extern Query *emogi_defaults_expand(Query *query);
extern Query *emogi_fold_query(Query *query, EmogiTreeLook *look);
extern bool emogi_leaves_list(EmogiTreeLook *look);
extern List *emogi_leaves_relations(const EmogiTree *tree);
extern void emogi_digest_make(EmogiTreeLook *look);

/* ---- filter.c ---- */

extern EmogiSource *emogi_filter_recognize(const EmogiTreeLook *look);

#endif							/* EMOGI_LOOK_H */
