/*
 * parameters.h: table of the parameters of a query that are numbers or switches
 *
 * The SQL functions (src/function/arguments.c) read and check their arguments by it, and both
 * engines check queries by it (query.c). parameter.c is its run-time form.
 *
 * A parameter is a row:
 *
 *   PARAMETER(KIND, name, type, field, min, max, none, hint)
 *
 * KIND      EMOGI_KIND is its kind (algorithms.h)
 * name      of the SQL functions' argument
 * type      EMOGI_PARAMETER_* below, without the prefix
 * field     of EmogiQuery
 * min, max  inclusive range. -DBL_MAX and DBL_MAX: any finite value
 * none      a value outside the range that a query may also have: no bound, or not given;
 *           NAN: there is no such value
 * hint      of the error when an int is below min; NULL: for other types, the range is named
 *
 * Defaults depend on the algorithm: its row in algorithms.h has them. Kinds without a row here are
 * vertices, queries or names.
 */
#ifndef EMOGI_PARAMETERS_H
#define EMOGI_PARAMETERS_H

#include "engine.h"

#include <float.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of parameters, with their types in EmogiQuery and in SQL. */
typedef enum EmogiParameterType
{
	EMOGI_PARAMETER_INT,		/* int64_t, int: SQL checks min only, because max is not below that
								 * of int */
	EMOGI_PARAMETER_BIGINT,		/* uint64_t, bigint: any number */
	EMOGI_PARAMETER_FLOAT8,		/* double, float8 */
	EMOGI_PARAMETER_BOOLEAN		/* bool, boolean */
} EmogiParameterType;

/* p and q of random walks are in 1e-100 .. 1e100, so that products of them stay finite. */
#define EMOGI_PARAMETERS(PARAMETER) \
	PARAMETER(MAX_DEPTH, max_depth, INT, max_depth, 0, INFINITY, -1, \
			  "Use NULL for no limit, 0 for the source only.") \
	PARAMETER(MAX_DISTANCE, max_distance, FLOAT8, max_distance, 0, INFINITY, NAN, NULL) \
	PARAMETER(DAMPING, damping, FLOAT8, damping, 0, 1, NAN, NULL) \
	PARAMETER(ALPHA, alpha, FLOAT8, alpha, 0, DBL_MAX, NAN, NULL) \
	PARAMETER(BETA, beta, FLOAT8, beta, -DBL_MAX, DBL_MAX, NAN, NULL) \
	PARAMETER(MAX_ITERATIONS, max_iterations, INT, max_iterations, 1, INFINITY, NAN, \
			  "Use 1 or more.") \
	PARAMETER(TOLERANCE, tolerance, FLOAT8, tolerance, 0, INFINITY, NAN, NULL) \
	PARAMETER(SAMPLES, samples, INT, samples, 1, INFINITY, 0, \
			  "Use 1 or more, or NULL for all vertices.") \
	PARAMETER(RESOLUTION, resolution, FLOAT8, resolution, 0, DBL_MAX, NAN, NULL) \
	PARAMETER(THETA, theta, FLOAT8, theta, 0, INFINITY, NAN, NULL) \
	PARAMETER(MAX_CLUSTER_SIZE, max_cluster_size, INT, max_cluster_size, 1, INFINITY, 0, \
			  "Use NULL for no limit, or 1 or more.") \
	PARAMETER(MAX_LEVELS, max_levels, INT, max_levels, 1, INFINITY, 0, \
			  "Use NULL for no limit, or 1 or more.") \
	PARAMETER(SEED, seed, BIGINT, seed, -INFINITY, INFINITY, NAN, NULL) \
	PARAMETER(NORMALIZED, normalized, BOOLEAN, normalized, 0, 1, NAN, NULL) \
	PARAMETER(LENGTH, length, INT, length, 0, INT32_MAX, NAN, \
			  "Use 0 for the source only, or 1 or more steps.") \
	PARAMETER(WALKS, walks, INT, walks, 1, INT32_MAX, NAN, "Use 1 or more, from each source.") \
	PARAMETER(RETURN, p, FLOAT8, return_parameter, 1e-100, 1e100, NAN, NULL) \
	PARAMETER(IN_OUT, q, FLOAT8, in_out_parameter, 1e-100, 1e100, NAN, NULL) \
	PARAMETER(TOP_K, top_k, INT, top_k, 1, INT32_MAX, NAN, "Use 1 or more, of each vertex.") \
	PARAMETER(CUTOFF, cutoff, FLOAT8, cutoff, 0, 1, NAN, NULL) \
	PARAMETER(MAXIMUM, maximum, BOOLEAN, maximum, 0, 1, NAN, NULL) \
	PARAMETER(WEIGHTED, weights, BOOLEAN, is_weighted, 0, 1, NAN, NULL)

/* A row at run time. */
typedef struct EmogiParameterRow
{
	const char *name;
	EmogiParameterType type;
	size_t		offset;			/* of the field in EmogiQuery */
	double		min;
	double		max;
	double		none;			/* NAN = none */
	const char *hint;			/* NULL = name the range */
} EmogiParameterRow;

extern const EmogiParameterRow emogi_parameter_rows[EMOGI_WEIGHTED + 1];

/* Get the row of a parameter kind; NULL if it is neither a number nor a switch. */
static inline const EmogiParameterRow *
emogi_parameter_row(EmogiParameterKind kind)
{
	return emogi_parameter_rows[kind].name != NULL ? &emogi_parameter_rows[kind] : NULL;
}

/* Get the value of a parameter in a query. */
extern double emogi_parameter_value(const EmogiParameterRow *row, const EmogiQuery *query);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_PARAMETERS_H */
