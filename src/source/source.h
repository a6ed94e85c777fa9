/*
 * source.h: the graph argument: what it names, the caller's privileges, and the snapshot of the
 * call
 *
 * emogi_source_resolve (known_sources.c) turns the graph argument into a source: a relation, which
 * it locks, with the columns that make an edge, or a query.
 *
 * known_sources.c        knows what the session has resolved before
 * source.c               resolves it anew
 * seen_by.c              knows which snapshots see the catalogs so
 * source_peek.c          does the same for the planner, without locks or errors
 * default_columns.c      finds the columns of a relation if none were named
 * ambiguous_columns.c    refuses columns that could be read in two ways
 * column_order.c         refuses lists of columns in another order
 * graph_grammar.c        parses the forms of the text
 * columns.c              parses lists of columns
 * select_text.c          writes the query for a relation with a condition
 * edge_filter.c          reads and writes the condition on edges that a call has besides
 * query_argument.c, query_edges.c, params.c, with_vertices.c   handle query text
 * endpoint_type.c        finds the key type of the endpoints
 * anonymous_rows.c       finds the columns of an anonymous row
 * name_hints.c           suggests names if a relation does not exist
 * column_hints.c         ... if a column does not exist
 * query_hints.c          ... the form of a query if an argument is something else
 * weight_guess.c         chooses a weight if none was named
 * parser_hints.c         explains errors that are raised before a call; function_names.c names
 *                        the functions, argument_hints.c the arguments
 * text_literals.c        finds the literals by which texts of one form differ
 * query_id.c             identifies a source in the call statistics
 * access.c               checks privileges (emogi_access_check)
 * snapshot.c             ensures that the call's snapshot is not older than the named objects;
 *                        catalog_visibility.c tells what a snapshot sees in the catalogs
 */
#ifndef EMOGI_SOURCE_H
#define EMOGI_SOURCE_H

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "contract/algorithms.h"
#include "keys/keys.h"

/* ---- source.c ---- */

/* A parameter in a text: offset of its first byte, length, and the length of its value there. */
typedef struct EmogiParamPlace
{
	int			place;
	int			length;
	int			number;			/* from 1 */
	int			written;
} EmogiParamPlace;

/* The parameters of a text, ascending. */
typedef struct EmogiParamPlaces
{
	int			nplaces;
	EmogiParamPlace *places;	/* [nplaces] */
} EmogiParamPlaces;

/* The condition on edges that a call has besides its graph argument (edge_filter.c). */
typedef struct EmogiEdgeCondition
{
	char	   *text;			/* as given */
	char	   *condition;		/* with values in place of its parameters; NULL = not made */
	EmogiParamPlaces values;	/* of the text */
} EmogiEdgeCondition;

/* The graph argument as given: text, or a relation (regclass) with a list of columns. */
typedef struct EmogiGraphArgument
{
	char	   *text;			/* the argument; for a relation, text that names it and the
								 * columns */
	bool		is_relation;
	Oid			relid;			/* of a relation; may be any number, including 0 */
	char	   *columns;		/* of a relation; NULL = not named */
	EmogiEdgeCondition *filter;	/* NULL = none */
	bool		reads_names;	/* the call may also read edge names, under the snapshot of the
								 * graph */
	const char *missing_hint;	/* for a name that resembles no relation's; NULL = a general one */
} EmogiGraphArgument;

/*
 * The column taken as the weight of edges, or possibly meant as it, if the caller has named none
 * (weight_guess.c).
 */
typedef struct EmogiWeightGuess
{
	const char *column;			/* NULL = nothing to report */
	const char *src;
	const char *dst;
	bool		is_taken;
} EmogiWeightGuess;

/* Maximum number of columns that conditions may read. With more, changes are not tracked. */
#define EMOGI_FILTER_MAX_COLUMNS 16

/* Conditions that are ready for evaluation, made when they are first needed. */
typedef struct EmogiReadyQuals
{
	bool		are_made;
	List	   *quals;			/* Expr *, in the memory of this struct, or those of the filter if
								 * these are ready, with constants of the analysis; calls pin it,
								 * so that no other call replaces the values */
} EmogiReadyQuals;

/*
 * Conditions on the rows of a relation: a row is an edge if all of them are true. Made by
 * analysis/table_filter.c.
 */
typedef struct EmogiFilter
{
	List	   *quals;			/* Expr *: over columns of the relation as varno 1, with functions
								 * of operators filled in; in order of evaluation, row security
								 * first */
	int			ncolumns;
	AttrNumber	columns[EMOGI_FILTER_MAX_COLUMNS];	/* [ncolumns]: the columns that the conditions
													 * read, ascending */
	bool		may_share_work;	/* parallel workers may evaluate the conditions */
	EmogiReadyQuals *ready;		/* made by edges/row_filter.c */
	const struct EmogiQueryAnalysis *analysis;	/* analysis that they come from */
	const char *cost_name;		/* of the two costs in the query or view; NULL = it has not two */
	const char *reverse_name;
} EmogiFilter;

/*
 * The columns of weights that a call reads if no list names them. EMOGI_WANTS_WEIGHT: weight, or
 * cost and reverse_cost. EMOGI_WANTS_CAPACITY: capacity and reverse_capacity; without them, those
 * of EMOGI_WANTS_WEIGHT. EMOGI_WANTS_ANY_WEIGHT: those of EMOGI_WANTS_WEIGHT; without them,
 * capacity and reverse_capacity.
 */
typedef enum EmogiWantedWeight
{
	EMOGI_WANTS_NO_WEIGHT = 0,
	EMOGI_WANTS_WEIGHT,
	EMOGI_WANTS_CAPACITY,
	EMOGI_WANTS_ANY_WEIGHT
} EmogiWantedWeight;

/* Get the columns that calls with these weights read. */
static inline EmogiWantedWeight
emogi_source_wanted_weight(EmogiWeights weights)
{
	switch (weights)
	{
		case EMOGI_WEIGHTS_UNUSED:
			return EMOGI_WANTS_NO_WEIGHT;
		case EMOGI_WEIGHTS_CAPACITIES:
			return EMOGI_WANTS_CAPACITY;
		case EMOGI_WEIGHTS_ANY:
			return EMOGI_WANTS_ANY_WEIGHT;
		default:
			return EMOGI_WANTS_WEIGHT;
	}
}

/* A resolved graph argument. */
typedef struct EmogiSource
{
	bool		is_query;
	const EmogiGraphArgument *graph;
	EmogiWantedWeight wants_weight;	/* the call reads weights if there are any */
	EmogiKeyType key;			/* type of both endpoints; of a query known after it is prepared */

	/* a relation: locked with AccessShareLock until the end of the transaction */
	List	   *name;			/* String nodes, possibly qualified; NIL = not given by name */
	Oid			relid;
	bool		was_locked;		/* locked before: the statement may read it elsewhere, too */
	int			known;			/* index in known_sources.c, from 1; 0 = none, and */
	uint64		known_id;		/* ... the entry's identity */
	AttrNumber	src;
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none or unused */
	AttrNumber	reverse;		/* reverse weight: each direction has an edge if its weight is not
								 * negative, and both weights are read even if unused; 0 = edges
								 * have one direction */
	AttrNumber	edge;			/* edge name; 0 = none */
	bool		names_edge;		/* the caller named the edge column */
	EmogiWeightGuess	guess;	/* of the weight, if used; of a query known after its graph is
								 * acquired */
	const EmogiFilter *filter;	/* of a filtered table (analysis/table_filter.c): which of its rows
								 * are edges; NULL = all */

	char	   *query;			/* text of a query */
	bool		has_edge_filter;	/* ... which has the condition of a filter */
	Oid			filtered;		/* then: the relation of the graph argument; InvalidOid = it is a
								 * query */
} EmogiSource;

/*
 * The columns of a query's result that make an edge, numbered from 1. The query is the user's or
 * that of emogi_source_select.
 */
typedef struct EmogiEdgeColumns
{
	int			ncolumns;
	int			src;
	int			dst;
	int			weight;			/* 0 = none or unused */
	int			vertex;			/* a vertex that exists even without edges; 0 = none */
	int			reverse;		/* reverse weight; 0 = none */
	int			edge;			/* edge name; 0 = none */
	bool		is_capacity;	/* the weights were found as capacities */
	bool		unlike;			/* the reverse weight has another type than the weight */
	bool		is_numeric;		/* the weight is of type numeric */
	bool		is_numeric_back;	/* the reverse weight is of type numeric */
	bool		both_ways;		/* the rows come from a query with a reverse weight: weights decide
								 * which edges exist */
	int			back;			/* then: whether a row's weight is the reverse weight */
	int			other;			/* then: weight instead of a NULL in `weight`; 0 = none */
	EmogiKeyType key;			/* type of both endpoints and of the vertex */
	EmogiWeightGuess	guess;	/* of the weight, if used */
} EmogiEdgeColumns;

extern Oid	emogi_source_resolve_anew(const EmogiGraphArgument *graph,
									  EmogiWantedWeight wants_weight, EmogiSource *source);
extern uint64 emogi_query_id_of_text(const char *text, const char **bare);
extern bool emogi_source_is_query(const EmogiGraphArgument *graph);
extern bool emogi_source_keys_are_current(const EmogiSource *source);
extern Oid	emogi_source_relation(const EmogiGraphArgument *graph);
extern char *emogi_source_select_rows(const EmogiSource *source);
extern EmogiEdgeColumns emogi_source_row_columns(const EmogiSource *source);
extern char *emogi_source_select(const EmogiSource *source);
extern const char *emogi_source_written(const EmogiSource *source, const char *text);
extern EmogiEdgeColumns emogi_source_columns(const EmogiSource *source);

#define EMOGI_GRAPH_ARGUMENT_HINT \
	"Name a table ('edges'), a table with its columns ('edges(src, dst)'), " \
	"or give a query ('SELECT src, dst FROM edges')."

/* ---- text_literals.c: literals of a text ---- */

/* Can a character be part of a word? Letters of all languages can. */
static inline bool
emogi_text_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '$' || IS_HIGHBIT_SET(c);
}

#define EMOGI_MAX_LITERALS 16

typedef struct EmogiTextLiteral
{
	int			start;			/* in the text */
	int			length;			/* with the quotes */
	bool		is_integer;		/* otherwise a string */
} EmogiTextLiteral;

typedef struct EmogiTextLiterals
{
	int			count;
	EmogiTextLiteral found[EMOGI_MAX_LITERALS]; /* [count], ascending */
} EmogiTextLiterals;

extern bool emogi_text_literals_find(const char *text, EmogiTextLiterals *literals);
extern bool emogi_text_literals_is_same(const char *a, const EmogiTextLiteral *of_a,
										const char *b, const EmogiTextLiteral *of_b);
extern bool emogi_text_literals_are_alike(const char *a, const EmogiTextLiterals *of_a,
										  const char *b, const EmogiTextLiterals *of_b);

/* ---- known_sources.c: arguments that were resolved before ---- */

extern void emogi_source_resolve(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
								 EmogiSource *source);
extern bool emogi_known_sources_peek(const EmogiGraphArgument *graph,
									 EmogiWantedWeight wants_weight, EmogiSource *source);
extern bool emogi_known_sources_are_seen(const EmogiSource *source);
extern void emogi_known_sources_note_seen(const EmogiSource *source);
extern bool emogi_known_sources_is_heap(const EmogiSource *source);
extern void emogi_known_sources_note_heap(const EmogiSource *source);

/* ---- source_peek.c: for the planner ---- */

extern bool emogi_source_peek(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
							  EmogiSource *source);
extern bool emogi_source_peek_query(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
									EmogiSource *source);
extern bool emogi_source_is_missing(const EmogiGraphArgument *graph);

/* ---- graph_grammar.c: the text of a graph argument ---- */

extern bool emogi_graph_grammar_is_query(const char *graph);
extern bool emogi_graph_grammar_split(const char *relation, List **name, char **list);
extern const char *emogi_graph_grammar_skip_relation(const char *graph);
extern bool emogi_graph_grammar_split_where(const char *graph, char **relation,
											const char **condition);
extern bool emogi_graph_grammar_split_relation(const char *graph, List **name, List **columns);

/* ---- select_text.c: a relation that is read as a query ---- */

extern char *emogi_select_text_rows(Oid relid, List *columns, const char *condition,
									const EmogiEdgeCondition *filter,
									EmogiWantedWeight wants_weight);
extern char *emogi_select_text_both_weights(Oid relid, const char *condition);
extern char *emogi_select_text_filtered(const EmogiSource *source, const char *condition,
										const EmogiEdgeCondition *filter);

/* ---- endpoint_type.c ---- */

/* An endpoint column of edges. */
typedef struct EmogiEndpoint
{
	const char *name;
	Oid			type;
	int32		typmod;			/* of an anonymous row: of its columns (anonymous_rows.c), -1 =
								 * unknown */
	Oid			collation;
	bool		in_row;			/* one of several columns that make the endpoint */
} EmogiEndpoint;

extern EmogiEndpoint emogi_endpoint_type_of_column(Relation rel, AttrNumber attnum);
extern bool emogi_endpoint_type_find_key(const EmogiEndpoint *end, EmogiKeyType *key);
extern void emogi_endpoint_type_check_count(int nsrc, int ndst, const char *of);
extern void emogi_endpoint_type_find_row_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst,
											  int nparts, const char *of, EmogiKeyType *keys);
extern void emogi_endpoint_type_find_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst,
										  const char *of, EmogiKeyType *keys);

/* ---- default_columns.c ---- */

extern bool emogi_default_columns_find(Oid relid, EmogiSource *source);
extern void emogi_default_columns_weights(Oid relid, EmogiWantedWeight wants_weight,
										  EmogiSource *source);

/* ---- columns.c: a list of columns, as text ---- */

extern bool emogi_columns_are_identifiers(const char *text, char separator);
extern bool emogi_columns_split(const char *text, List **columns);
extern const char *emogi_columns_weight(List *columns);
extern const char *emogi_columns_reverse(List *columns);
extern const char *emogi_columns_edge(List *columns);
extern bool emogi_columns_have_rows(List *columns);
extern bool emogi_columns_can_be_weights(Oid type);

/* ---- column_order.c ---- */

extern bool emogi_column_order_are_ends(const char *a, const char *b);
extern bool emogi_column_order_is_row(const char *name);
extern void emogi_column_order_check(Relation rel, List *columns, const EmogiSource *source);

/* ---- ambiguous_columns.c ---- */

extern void emogi_ambiguous_columns_check(TupleDesc desc, EmogiWantedWeight wants_weight,
										  const char *of, const char *relation);

/* ---- weight_guess.c ---- */

extern bool emogi_weight_guess_is_explicit(const char *query);
extern bool emogi_weight_guess_is_from_star(const char *text, const char *name);
extern EmogiWeightGuess emogi_weight_guess_of_column(TupleDesc desc, int src, int dst, int column,
													 bool is_taken);
extern EmogiWeightGuess emogi_weight_guess_find(TupleDesc desc, int src, int dst);
extern EmogiWeightGuess emogi_weight_guess_copy(const EmogiWeightGuess *guess);
extern void emogi_weight_guess_remember(const char *query, const char *graph, const char *relation,
										const EmogiWeightGuess *guess, bool has_capacities);
extern void emogi_weight_guess_report(const EmogiSource *source);

/* ---- anonymous_rows.c ---- */

extern void emogi_anonymous_rows_describe(Query *query, TupleDesc desc);

/* ---- name_hints.c ---- */

extern bool emogi_source_has_rows(char relkind);
extern void emogi_name_hints_report_form(const char *graph);
extern void emogi_name_hints_report_name(const char *graph, List *name, const char *hint);

/* ---- column_hints.c ---- */

extern void emogi_column_hints_report_missing(Relation rel, const char *name, const char *hint);
extern void emogi_column_hints_report_ends(Relation rel);

/* ---- query_hints.c ---- */

extern void emogi_query_hints_check(const char *query, const char *what);

/* ---- query_argument.c: query text as an argument ---- */

#define EMOGI_GRAPH_QUERY "graph query"
#define EMOGI_START_QUERY "query of start values"
#define EMOGI_COMMUNITIES_QUERY "query of communities"
#define EMOGI_PAIRS_QUERY "query of pairs"
#define EMOGI_VERTEX_QUERY "query of vertices"

extern void emogi_query_explain_text(void *text);
extern Query *emogi_query_analyze(const char *query);
extern Query *emogi_query_analyze_with(const char *query, const Oid *types, int ntypes);
extern int	emogi_query_text_length(const char *query, const char *what);
extern int	emogi_query_describe_any(const char *query, const char *what, TupleDesc *desc);
extern int	emogi_query_describe(const char *query, TupleDesc *desc);
extern int	emogi_query_describe_two(const char *query, const char *what, const char *example,
									 TupleDesc *desc);
extern void emogi_query_check_key(TupleDesc desc, int column);
extern void emogi_query_check_number(TupleDesc desc, int column, const char *what);
extern char *emogi_query_column_names(TupleDesc desc);

/* ---- query_edges.c: the columns of edges in its result ---- */

extern const char *const emogi_query_end_names[2][2];
extern char *emogi_query_both_ways(const char *query, int length, const EmogiEdgeColumns *columns);
extern void emogi_query_both_ways_columns(TupleDesc desc, const char *query,
										  EmogiEdgeColumns *columns);
extern const char *emogi_query_cost_name(const EmogiSource *source,
										 const EmogiEdgeColumns *columns, bool back);
extern void emogi_query_write_weight(StringInfo sql, const char *schema, const EmogiSource *source,
									 const EmogiEdgeColumns *columns);
extern int	emogi_query_describe_edges(char **query, const char *written,
									   EmogiWantedWeight wants_weight, TupleDesc *desc,
									   EmogiEdgeColumns *columns);
extern void emogi_query_edge_columns(TupleDesc desc, const char *query,
									 EmogiWantedWeight wants_weight, EmogiEdgeColumns *columns);

/* ---- params.c ---- */

/* The value of a parameter, and its type. */
typedef struct
{
	Datum		value;
	Oid			type;
	bool		isnull;
} EmogiParamValue;

extern char *emogi_params_put(const char *text, const char *what, void (*explain) (void *),
							  void *arg, const EmogiParamValue *values, int nvalues,
							  EmogiParamPlaces *places);
extern char *emogi_params_substitute(char *query, const EmogiParamValue *values, int nvalues);

/* ---- edge_filter.c ---- */

#define EMOGI_FILTERED_QUERY "q"	/* name of a graph argument's query for its filter */

extern void emogi_edge_condition_explain(void *arg);
extern EmogiEdgeCondition *emogi_edge_condition_make(char *text, const EmogiParamValue *values,
											   int nvalues);
extern Node *emogi_edge_condition_parse_condition(const char *condition);
extern Node *emogi_edge_condition_parse(const EmogiEdgeCondition *filter);
extern void emogi_edge_condition_write_where(StringInfo query, const char *condition,
										  const EmogiEdgeCondition *filter);
extern char *emogi_edge_condition_select(const EmogiGraphArgument *graph);
extern char *emogi_edge_condition_show(const EmogiGraphArgument *graph);

/* ---- parser_hints.c ---- */

extern void emogi_parser_hints_init(void);

/* ---- function_names.c ---- */

extern char *emogi_function_names_hint(const char *message, int length);

/* ---- argument_hints.c ---- */

extern char *emogi_argument_hints_explain(const char *function, const char *parameters,
										  const char *call);

/* ---- with_vertices.c ---- */

extern char *emogi_with_vertices_add(Oid function, const char *graph, const char *vertices);

/* ---- access.c ---- */

extern bool emogi_access_check(Relation rel, const EmogiSource *source);
extern bool emogi_access_may_select(const EmogiSource *source);
extern bool emogi_access_peek(const EmogiSource *source);

/* ---- seen_by.c: the snapshots that see the catalogs as one was found to ---- */

#define EMOGI_SEEN_BY_MAX_RUNNING 64

/* Transactions that had ended when a snapshot was found to see the newest catalogs. */
typedef struct EmogiSeenBy
{
	bool		is_known;
	TransactionId xmax;
	uint32		nrunning;
	TransactionId running[EMOGI_SEEN_BY_MAX_RUNNING];	/* [nrunning] */
	TransactionId own;			/* the transaction that has looked; invalid = none was assigned */
	CommandId	command;		/* of that transaction */
} EmogiSeenBy;

extern bool emogi_seen_by_active(const EmogiSeenBy *seen_by);
extern void emogi_seen_by_note(EmogiSeenBy *seen_by);

/* ---- snapshot.c: the snapshot that a call reads under ---- */

/* A query prepared for reading. */
typedef struct EmogiPreparedQuery
{
	struct _SPI_plan *plan;
	int			generation;		/* of the plan that was checked */
} EmogiPreparedQuery;

extern void emogi_snapshot_init(void);
extern void emogi_snapshot_refuse_worker(void);
extern bool emogi_snapshot_is_kept(void);
extern void emogi_snapshot_push(void);
extern void emogi_snapshot_mark_used(void);
extern void emogi_snapshot_renew(Oid relid);
extern Oid	emogi_snapshot_find_unseen(List *relids, List *named);
extern void emogi_snapshot_require_seen(List *relids, List *named);
extern bool emogi_snapshot_sees(const EmogiSource *source, List **relids);
extern EmogiPreparedQuery emogi_snapshot_open(const char *query, int nargs, Oid *types,
											  int cursor_options);
extern void emogi_snapshot_prepare(const char *query);
extern void emogi_snapshot_check(const EmogiPreparedQuery *reading);

#endif							/* EMOGI_SOURCE_H */
