/*
 * function.h: the SQL functions that compute.
 *
 * functions.c reads the arguments into a Task. run.c carries it out: it begins a call, obtains the Graph (../build), has the
 * worker run the Query (../call), and returns the Result as rows. values.c reads a query of start values.
 */
#ifndef EMOGI_FUNCTION_H
#define EMOGI_FUNCTION_H

#include "fmgr.h"

#include "build/build.h"

/* ---- values.c ---- */

extern void emogi_values_check(const char *query);
extern void emogi_values_query(const EmogiGraph *graph, const char *query, double otherwise, double *values,
							   bool *given);

/* ---- run.c ---- */

/* What a SQL function asks for. */
typedef struct EmogiTask
{
	EmogiGraphArgument graph;
	EmogiDirection direction;	/* which way a stored edge leads */
	EmogiQuery	query;			/* algorithm and numbers; sources and values are filled in when the Graph stands */
	bool		has_sources;
	int64	   *keys;			/* [nkeys], sources */
	uint64		nkeys;
	bool		no_rows;		/* none is wanted: for errors alone */
	bool		has_targets;	/* rows of these vertices alone are wanted */
	const int64 *targets;		/* [ntargets], keys */
	uint64		ntargets;
	char	   *start;			/* text of the query of start values; NULL = none */
	bool		with_backward;
	Oid		   *table;			/* where to note the relation that is read, InvalidOid for a query; NULL = nobody asks */
} EmogiTask;

/* What a row of an algorithm is: the key of a vertex, then its columns. */
typedef struct EmogiRowKind
{
	int			ncolumns;		/* after `vertex` */

	/* Get the first vertex of [v, end) that has a row; `end` when there is none. */
	uint64		(*next) (const EmogiResult *result, uint64 v, uint64 end);

	/* Get a column of vertex v's row, 0 = the first after `vertex`. */
	Datum		(*column) (const EmogiGraph *graph, const EmogiResult *result, uint64 v, int column);
} EmogiRowKind;

extern const EmogiRowKind *emogi_row_kind(EmogiAlgorithm algorithm);
extern void emogi_wish_of(const EmogiTask *task, EmogiGraphKey *key);
extern EmogiCall *emogi_run_open(Oid function, const EmogiTask *task, EmogiGraph *graph);
extern bool emogi_run_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result);
extern void emogi_run_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources,
							int nsources, EmogiBatchResult *result);
extern bool emogi_run_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 *path,
						   double *distance, uint64 *length);
extern EmogiCall *emogi_run(Oid function, const EmogiTask *task, EmogiGraph *graph, EmogiResult *result);
extern void emogi_run_to_rows(FunctionCallInfo fcinfo, const EmogiTask *task);
extern void emogi_notice_missing(const char *what, int64 key);

/* ---- functions.c ---- */

/* Reads the arguments of a SQL function; raises what is wrong with them. */
typedef void (*EmogiReader) (FunctionCallInfo fcinfo, EmogiTask *task);

/* A SQL function whose rows are vertices, one each, in ascending order of keys. */
typedef struct EmogiFunction
{
	const char *symbol;			/* of its C entry */
	EmogiAlgorithm algorithm;
	EmogiReader read;
	int			direction_argument; /* -1 = none */
	EmogiDirection direction;	/* otherwise */
	bool		has_start;		/* takes a query of start values */
} EmogiFunction;

extern const EmogiFunction *emogi_function(const char *symbol);
extern bool emogi_read_direction(const char *text, EmogiDirection *direction);
extern void emogi_graph_argument(FunctionCallInfo fcinfo, EmogiGraphArgument *graph);
extern EmogiDirection emogi_direction_argument(FunctionCallInfo fcinfo, int n, EmogiDirection otherwise);

#endif							/* EMOGI_FUNCTION_H */
