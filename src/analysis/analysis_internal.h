/*
 * analysis_internal.h: a look at a query in progress, for the files of this room.
 */
#ifndef EMOGI_ANALYSIS_INTERNAL_H
#define EMOGI_ANALYSIS_INTERNAL_H

#include "lib/stringinfo.h"

#include "analysis/analysis.h"

typedef struct EmogiAnalysisState
{
	EmogiQueryAnalysis  *tree;
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
} EmogiAnalysisState;

/* ---- cacheability.c: each returns true when the tree is refused, which ends a walk ---- */

extern bool emogi_cacheability_refuse(EmogiAnalysisState *look, const char *format,...) pg_attribute_printf(2, 3);
extern bool emogi_cacheability_node(Node *node, EmogiAnalysisState *look);
extern bool emogi_cacheability_rights(Query *query, EmogiAnalysisState *look);

/* ---- cacheability_functions.c ---- */

extern bool emogi_cacheability_function(Oid function, EmogiAnalysisState *look);
extern bool emogi_cacheability_execute(EmogiAnalysisState *look);

/* ---- search_path.c ---- */

extern uint64 emogi_search_path_count(void);
extern bool emogi_search_path_may_have_changed(List *texts, uint64 since);

/* ---- argument_defaults.c, constant_folding.c, base_tables.c, fingerprint.c ---- */

extern Query *emogi_argument_defaults_expand(Query *query);
extern Query *emogi_constant_folding_apply(Query *query, EmogiAnalysisState *look);
extern bool emogi_base_tables_list(EmogiAnalysisState *look);
extern List *emogi_base_tables_relations(const EmogiQueryAnalysis *tree);
extern void emogi_fingerprint_make(EmogiAnalysisState *look);

/* ---- table_filter.c ---- */

extern EmogiSource *emogi_table_filter_recognize(const EmogiAnalysisState *look);

#endif							/* EMOGI_ANALYSIS_INTERNAL_H */
