/*
 * filter_program.h: conditions on rows as programs over property columns (contract/edge_filter.h)
 *
 * filter_program.c translates the conditions of a filtered table, and filter_leaves.c comparisons
 * of a column, with filter_bounds.c.
 */
#ifndef EMOGI_FILTER_PROGRAM_H
#define EMOGI_FILTER_PROGRAM_H

#include "nodes/primnodes.h"

#include "cache/columns.h"
#include "contract/edge_filter.h"
#include "source/source.h"

/* The columns that a program reads, in any order. */
typedef struct EmogiFilterColumns
{
	int			count;
	EmogiColumnIdentity columns[EMOGI_FILTER_MAX_COLUMNS];
	EmogiColumnKind kinds[EMOGI_FILTER_MAX_COLUMNS];
} EmogiFilterColumns;

/* Memory of a program, in the current context. */
typedef struct EmogiFilterProgram
{
	uint32		nsteps;
	uint32		room;
	EmogiFilterStep *steps;		/* [nsteps] */
} EmogiFilterProgram;

extern bool emogi_filter_program_is_possible(List *quals, const EmogiFilterColumns *columns);
extern bool emogi_filter_program_make(List *quals, const EmogiFilterColumns *columns,
									  const EmogiColumns *stored, EmogiFilterProgram *program);
extern Size emogi_filter_program_bytes(const EmogiFilterProgram *program);
extern void emogi_filter_program_copy(const EmogiFilterProgram *program, void *memory,
									  EmogiEdgeFilter *filter);

/* ---- for filter_leaves.c ---- */

/* A translation in progress. */
typedef struct EmogiFilterTranslation
{
	const EmogiFilterColumns *columns;
	const EmogiColumns *stored; /* NULL = only check whether the conditions can be translated */
	EmogiFilterProgram *program;
	int			depth;			/* truths on the stack */
} EmogiFilterTranslation;

extern bool emogi_filter_program_push(EmogiFilterTranslation *translation,
									  const EmogiFilterStep *step);
extern bool emogi_filter_program_add(EmogiFilterTranslation *translation, EmogiFilterKind kind);
extern bool emogi_filter_leaves_operator(EmogiFilterTranslation *translation, Oid operator,
										 Oid collation, List *args);
extern bool emogi_filter_leaves_array(EmogiFilterTranslation *translation,
									  const ScalarArrayOpExpr *expr);
extern bool emogi_filter_leaves_column(EmogiFilterTranslation *translation, Node *node,
									   uint32 *column);

#endif							/* EMOGI_FILTER_PROGRAM_H */
