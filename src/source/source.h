/*
 * source.h: what the graph argument names, who may read it, and under which snapshot.
 *
 * emogi_source_resolve (source.c) makes a Source of the graph argument, whose text has several forms (graph_grammar.c): a relation, which it
 * locks, with the columns that make an edge (columns.c), also with a condition (select_text.c), or a query (query_argument.c, params.c, with_vertices.c); endpoint_type.c finds out which keys they are, and anonymous_rows.c which columns an anonymous row has;
 * name_hints.c says what may have been meant where nothing has that name; guess.c what is done about a weight that was not named; query_id.c what a Source is known by where calls are counted. emogi_access_check (access.c)
 * asks whether the caller may read it. snapshot.c sees to it that the snapshot of the call is not older than what the argument
 * names; it asks catalog_visibility.c, with a header of its own, what a snapshot sees in the catalogs.
 */
#ifndef EMOGI_SOURCE_H
#define EMOGI_SOURCE_H

#include "nodes/parsenodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "keys/keys.h"

/* ---- source.c ---- */

/* The graph argument as it was given: text, or a relation (regclass) with a list of columns beside it. */
typedef struct EmogiGraphArgument
{
	char	   *text;			/* what was given; for a relation, text that names it and the columns */
	bool		is_relation;
	Oid			relid;			/* of a relation; may be any number, also 0 */
	char	   *columns;		/* of a relation; NULL = not named */
	bool		reads_names;	/* the call may read names of edges beside its graph: both are to be of one snapshot */
} EmogiGraphArgument;

/* The column that is taken as the weight of edges, or may have been meant as it, where the caller has named none (guess.c). */
typedef struct EmogiGuess
{
	const char *column;			/* NULL = there is nothing to tell */
	const char *src;
	const char *dst;
	bool		is_taken;
} EmogiGuess;

/* Columns that conditions may read, at most; those of more are not followed. */
#define EMOGI_FILTER_MAX_COLUMNS 16

/* Conditions on the rows of a relation: a row is an edge if all of them are true. Made by analysis/table_filter.c. */
typedef struct EmogiFilter
{
	List	   *quals;			/* Expr *, over columns of the relation as varno 1, with functions of operators; in the order of evaluation, those of row
								 * security first */
	int			ncolumns;
	AttrNumber	columns[EMOGI_FILTER_MAX_COLUMNS];	/* [ncolumns], of the relation, ascending: those that the conditions read */
	bool		may_share_work;	/* parallel workers may evaluate them */
	const struct EmogiQueryAnalysis *tree;	/* that they are of */
} EmogiFilter;

/* What the graph argument names. */
typedef struct EmogiSource
{
	bool		is_query;
	const EmogiGraphArgument *graph;
	bool		wants_weight;	/* weights, if it has any, are read */
	EmogiKeyType key;			/* type of both ends; of a query known when it has been prepared */

	/* a relation: held with AccessShareLock to the end of the transaction */
	List	   *name;			/* strings, qualified or not; NIL = it was not given by its name */
	Oid			relid;
	bool		was_locked;		/* before: the statement may read it otherwise, too */
	AttrNumber	src;
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none, or not wanted */
	AttrNumber	reverse;		/* weight of the way back: an edge is there where its weight is not negative, and both weights are read
								 * whether they are wanted or not; 0 = all edges lead one way */
	AttrNumber	edge;			/* its name; 0 = none */
	bool		names_edge;		/* the caller named that column */
	EmogiGuess	guess;			/* of the weight, if it is wanted; of a query known when its Graph has been acquired */
	const EmogiFilter *filter;	/* of a filtered table (analysis/table_filter.c): which of its rows are edges; NULL = all */

	char	   *query;			/* a query: its text */
} EmogiSource;

/* Which columns of a query's result, as emogi_source_select and a user write it, make an edge: from 1. */
typedef struct EmogiEdgeColumns
{
	int			ncolumns;
	int			src;
	int			dst;
	int			weight;			/* 0 = none, or not wanted */
	int			vertex;			/* a vertex that is there with or without an edge; 0 = no such column */
	int			reverse;		/* weight of the way back; 0 = none */
	int			edge;			/* its name; 0 = none */
	bool		unlike;			/* that is of another type than the weight */
	bool		both_ways;		/* the rows are those of a query that had a weight of the way back: weights say which edges there are */
	EmogiKeyType key;			/* type of both ends, and of the vertex */
	EmogiGuess	guess;			/* of the weight, if it is wanted */
} EmogiEdgeColumns;

extern void emogi_source_resolve(const EmogiGraphArgument *graph, bool wants_weight, EmogiSource *source);
extern void emogi_query_id_of_source(const EmogiSource *source, Oid *relid, uint64 *query, const char **text);
extern bool emogi_source_is_query(const EmogiGraphArgument *graph);
extern bool emogi_source_peek(const EmogiGraphArgument *graph, bool wants_weight, EmogiSource *source);
extern bool emogi_source_peek_query(const EmogiGraphArgument *graph, EmogiSource *source);
extern bool emogi_source_keys_are_current(const EmogiSource *source);
extern bool emogi_source_is_missing(const EmogiGraphArgument *graph);
extern Oid	emogi_source_relation(const EmogiGraphArgument *graph);
extern char *emogi_source_select(const EmogiSource *source);
extern EmogiEdgeColumns emogi_source_columns(const EmogiSource *source);

#define EMOGI_FORMS_HINT \
	"Name a table ('edges'), a table with its columns ('edges(src, dst)'), or give a query ('SELECT src, dst FROM edges')."

/* ---- graph_grammar.c: the text of a graph argument ---- */

extern bool emogi_graph_grammar_is_query(const char *graph);
extern bool emogi_graph_grammar_split(const char *relation, List **name, char **list);
extern bool emogi_graph_grammar_split_where(const char *graph, char **relation, const char **condition);
extern bool emogi_graph_grammar_split_relation(const char *graph, List **name, List **columns);

/* ---- select_text.c: a relation that is read as a query ---- */

extern char *emogi_select_text_rows(Oid relid, List *columns, const char *condition, bool wants_weight);
extern char *emogi_select_text_filtered(const EmogiSource *source, const char *condition);

/* ---- endpoint_type.c ---- */

/* A column that is an end of edges. */
typedef struct EmogiEndpoint
{
	const char *name;
	Oid			type;
	int32		typmod;			/* of an anonymous row: of its columns (anonymous_rows.c), -1 = they are not known */
	Oid			collation;
	bool		in_row;			/* it is one column of several that make the end */
} EmogiEndpoint;

extern bool emogi_endpoint_type_find_key(const EmogiEndpoint *end, EmogiKeyType *key);
extern void emogi_endpoint_type_check_count(int nsrc, int ndst, const char *of);
extern void emogi_endpoint_type_find_row_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst, int nparts, const char *of, EmogiKeyType *keys);
extern void emogi_endpoint_type_find_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst, const char *of, EmogiKeyType *keys);

/* ---- columns.c: a list of columns, as text ---- */

extern bool emogi_columns_are_identifiers(const char *text, char separator);
extern bool emogi_columns_split(const char *text, List **columns);
extern const char *emogi_columns_weight(List *columns);
extern const char *emogi_columns_reverse(List *columns);
extern const char *emogi_columns_edge(List *columns);
extern bool emogi_columns_have_rows(List *columns);
extern bool emogi_columns_can_be_weights(Oid type);

/* ---- ambiguous_columns.c ---- */

extern void emogi_ambiguous_columns_check(TupleDesc desc, bool wants_weight, const char *of, const char *relation);

/* ---- guess.c ---- */

extern bool emogi_guess_is_written(const char *query);
extern EmogiGuess emogi_guess_column(TupleDesc desc, int src, int dst, int column, bool is_taken);
extern EmogiGuess emogi_guess_weight(TupleDesc desc, int src, int dst);
extern EmogiGuess emogi_guess_copy(const EmogiGuess *guess);
extern void emogi_guess_remember(const char *query, const char *graph, const char *relation, const EmogiGuess *guess);
extern void emogi_guess_tell(const EmogiSource *source);

/* ---- anonymous_rows.c ---- */

extern void emogi_anonymous_rows_describe(Query *query, TupleDesc desc);

/* ---- name_hints.c ---- */

extern bool emogi_source_has_rows(char relkind);
extern void emogi_name_hints_report_form(const char *graph);
extern void emogi_name_hints_report_name(const char *graph, List *name);

/* ---- query_argument.c: query text as an argument ---- */

#define EMOGI_GRAPH_QUERY "graph query"
#define EMOGI_START_QUERY "query of start values"
#define EMOGI_COMMUNITIES_QUERY "query of communities"
#define EMOGI_PAIRS_QUERY "query of pairs"
#define EMOGI_VERTEX_QUERY "query of vertices"

extern const char *const emogi_query_end_names[2][2];

extern void emogi_query_explain_text(void *text);
extern Query *emogi_query_analyze(const char *query);
extern Query *emogi_query_analyze_with(const char *query, const Oid *types, int ntypes);
extern int	emogi_query_describe_any(const char *query, const char *what, TupleDesc *desc);
extern int	emogi_query_describe(const char *query, TupleDesc *desc);
extern int	emogi_query_describe_two(const char *query, const char *what, const char *example, TupleDesc *desc);
extern char *emogi_query_both_ways(const char *query, int length, const EmogiEdgeColumns *columns);
extern int	emogi_query_describe_edges(char **query, bool wants_weight, TupleDesc *desc, EmogiEdgeColumns *columns);
extern void emogi_query_edge_columns(TupleDesc desc, const char *query, bool wants_weight, EmogiEdgeColumns *columns);
extern void emogi_query_check_key(TupleDesc desc, int column);
extern void emogi_query_check_number(TupleDesc desc, int column, const char *what);

/* ---- params.c ---- */

/* The value of a parameter, and its type. */
typedef struct
{
	Datum		value;
	Oid			type;
	bool		isnull;
} EmogiParamValue;

extern char *emogi_params_put(char *query, const EmogiParamValue *values, int nvalues);

/* ---- with_vertices.c ---- */

extern char *emogi_with_vertices_add(const char *graph, const char *vertices);

/* ---- access.c ---- */

extern bool emogi_access_check(Relation rel, const EmogiSource *source);
extern bool emogi_access_may_select(const EmogiSource *source);
extern bool emogi_access_peek(const EmogiSource *source);

/* ---- snapshot.c: the snapshot that a call reads under ---- */

/* A query that is prepared to be read. */
typedef struct EmogiReading
{
	struct _SPI_plan *plan;
	int			generation;		/* of the plan that was looked at */
} EmogiReading;

extern void emogi_snapshot_init(void);
extern void emogi_snapshot_refuse_worker(void);
extern void emogi_snapshot_push(void);
extern void emogi_snapshot_answer(void);
extern void emogi_snapshot_renew(Oid relid);
extern Oid	emogi_snapshot_find_unseen(List *relids, List *named);
extern bool emogi_snapshot_sees(const EmogiSource *source, List **relids);
extern EmogiReading emogi_snapshot_open(const char *query, int nargs, Oid *types, int cursor_options);
extern void emogi_snapshot_prepare(const char *query);
extern void emogi_snapshot_check(const EmogiReading *reading);

#endif							/* EMOGI_SOURCE_H */
