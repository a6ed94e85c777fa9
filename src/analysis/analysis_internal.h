/*
 * analysis_internal.h: state of a query analysis in progress, shared by the files of src/analysis
 */
#ifndef EMOGI_ANALYSIS_INTERNAL_H
#define EMOGI_ANALYSIS_INTERNAL_H

#include "lib/stringinfo.h"

#include "analysis/analysis.h"

/* How long the literals of a query keep their values, the shortest first. */
typedef enum EmogiLiteralLife
{
	EMOGI_LITERALS_OF_CALL,
	EMOGI_LITERALS_OF_TRANSACTION,
	EMOGI_LITERALS_KEPT			/* as long as catalogs and settings do */
} EmogiLiteralLife;

/* What an analysis is made for. */
typedef enum EmogiAnalysisPurpose
{
	EMOGI_ANALYSIS_FOR_CALL,
	EMOGI_ANALYSIS_FOR_EXPLAIN,
	EMOGI_ANALYSIS_FOR_SIZE		/* values of folded expressions may be those of an earlier call */
} EmogiAnalysisPurpose;

/* Numbers of invalidations that this session has received. */
typedef struct EmogiAnalysisCounts
{
	uint64		catalogs;		/* base/catalog_changes.h */
	uint64		functions;
	uint64		names;
} EmogiAnalysisCounts;

/*
 * An expression that was folded. The location of its value, the i-th, is EMOGI_FOLDED_MARK - i in
 * all trees.
 */
typedef struct EmogiFolded
{
	Node	   *node;
	const Const *value;
} EmogiFolded;

#define EMOGI_FOLDED_MARK (-1000)

typedef struct EmogiAnalysisState
{
	EmogiQueryAnalysis *analysis;
	const char *given;			/* text of the source */
	EmogiAnalysisCounts counts; /* before the analysis */
	EmogiLiteralLife life;		/* of its literals */
	List	   *folded;			/* EmogiFolded * */
	List	   *trees;			/* Query: the query, the bodies of SQL functions, and expressions of
								 * virtual columns */
	List	   *functions;		/* OIDs of all functions called, for EXECUTE privileges */
	List	   *named;			/* OIDs of all relations and views in trees */
	int			depth;			/* nesting depth of SQL functions */
	int			nrelations;		/* met so far */
	EmogiAnalysisPurpose purpose;
	bool		only_checks;	/* no expression is evaluated: folding gives NULL */
	bool		has_settings;	/* a function depends on settings of dates and numbers */
	EmogiEdgeColumns inner;		/* columns of the unexpanded rows, if the query was expanded to both
								 * directions */
	EmogiTypeWalk types;		/* of expressions, except built-in types that cannot be altered */
	StringInfoData bytes;		/* of the key, except the trees */
} EmogiAnalysisState;

/* ---- cacheability.c: each returns true if the query is refused, which ends a tree walk ---- */

extern bool emogi_cacheability_refuse(EmogiAnalysisState *state,
									  const char *format,...) pg_attribute_printf(2, 3);
extern bool emogi_cacheability_node(Node *node, EmogiAnalysisState *state);
extern bool emogi_cacheability_rights(Query *query, EmogiAnalysisState *state);

/* ---- cacheability_functions.c ---- */

extern bool emogi_cacheability_function(Oid function, EmogiAnalysisState *state);
extern bool emogi_cacheability_execute(EmogiAnalysisState *state);

/* ---- search_path.c ---- */

extern uint64 emogi_search_path_count(void);
extern bool emogi_search_path_may_have_changed(List *texts, uint64 since);

/* ---- argument_defaults.c, constant_folding.c, base_tables.c, fingerprint.c ---- */

extern Query *emogi_argument_defaults_expand(Query *query);
extern Query *emogi_constant_folding_apply(Query *query, EmogiAnalysisState *state);
extern List *emogi_constant_folding_evaluate(List *folded);
extern bool emogi_constant_folding_is_of_transaction(List *folded);
extern bool emogi_base_tables_list(EmogiAnalysisState *state);
extern List *emogi_base_tables_relations(const EmogiQueryAnalysis *analysis);
extern void emogi_fingerprint_make(EmogiAnalysisState *state);
extern void emogi_fingerprint_update(EmogiQueryAnalysis *analysis);

/* ---- environment.c ---- */

extern void emogi_environment_count(EmogiAnalysisCounts *counts);

/* ---- table_filter.c ---- */

extern EmogiSource *emogi_table_filter_recognize(const EmogiAnalysisState *state);

#endif							/* EMOGI_ANALYSIS_INTERNAL_H */
