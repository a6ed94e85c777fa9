/*
 * cursor.h: iteration over rows that are not plain vertices: of community hierarchies
 * (hierarchy_rows.c), edges and blocks (edge_rows.c), pairs and random walks (pair_rows.c), and
 * paths (shortest_path.c); or vertices with columns that may be NULL, in search trees
 * (search_trees.c)
 *
 * A row is identified by two numbers: an element, and a place within the element. In a hierarchy
 * the element is a vertex, and the place a level. Elements and places ascend, so a condition on a
 * column that is one of the two skips all other rows without visiting them. A row consists of
 * numbers only; a Datum is made when a column is requested.
 */
#ifndef EMOGI_CURSOR_H
#define EMOGI_CURSOR_H

#include "contract/summary.h"
#include "function/function.h"

/*
 * A value of the current row: an integer, or the number of a vertex, EMOGI_NO_VERTEX = NULL; a
 * float; or an edge's name, NULL = none.
 */
typedef union EmogiCell
{
	int64		number;
	double		real;
	const NullableDatum *name;
} EmogiCell;

/* Whether rows with NULL are requested. */
typedef enum EmogiNulls
{
	EMOGI_NULLS_INCLUDED = 0,
	EMOGI_NULLS_ONLY,
	EMOGI_NULLS_EXCLUDED,
	EMOGI_NULLS_CONTRADICTORY	/* contradicting conditions: no row qualifies */
} EmogiNulls;

typedef struct EmogiRowCursor EmogiRowCursor;

/* Description of a kind of rows. */
typedef struct EmogiRowKind
{
	/* all columns of the SQL function, in order */
	EmogiResultColumn columns[EMOGI_MAX_COLUMNS + 1];
	int			key;			/* number of the column whose vertices a condition can select; -1 =
								 * none */
	int			element;		/* number of the column that is the element; -1 = none */
	int			place;			/* number of the column that is the place; -1 = none */
	int			nullable;		/* number of the column that may be NULL; -1 = none */
	int			norder;			/* rows are sorted by this many leading columns */

	/* Finds the names of edges, as another column of the result; NULL = rows have none */
	void		(*name) (const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result);

	/*
	 * Initializes the data that rows are read from, in the current context, and sets nelements;
	 * raises a cancel
	 */
	void		(*begin) (EmogiRowCursor *cursor);

	/* Sets place and nplaces of the current element to all places that exist */
	void		(*enter) (EmogiRowCursor *cursor);

	/*
	 * Fills the cells of the current place, at least those of requested columns; returns false if
	 * it has no row
	 */
	bool		(*fill) (EmogiRowCursor *cursor);
} EmogiRowKind;

struct EmogiRowCursor
{
	/* source and selection of the rows, set by the caller */
	const EmogiRowKind *kind;
	EmogiKeyIO  *form;
	const EmogiGraph *graph;
	const EmogiResult *result;
	const EmogiQuery *query;	/* the engine's query, in memory that lives as long as the cursor */
	uint32		wanted;			/* requested columns, one bit each */
	EmogiRange	ranges[EMOGI_MAX_COLUMNS];
	EmogiNulls	nulls;			/* of the nullable column */
	/* [nkeys], ascending: return only rows of these vertices; NULL = all */
	const uint32 *keys;
	uint64		nkeys;

	/* set by the row kind */
	uint64		nelements;
	/* in this call, the column kind->element equals the element number */
	bool		leads;
	const uint64 *starts;		/* [nelements + 1], for edges and blocks: start of each element's
								 * places */
	const uint32 *second;		/* the second column of each place */
	uint32		community;		/* for hierarchies: the vertex's community at the previous level */

	/* position */
	int			nchecks;		/* columns whose ranges are checked for each row */
	int			checks[EMOGI_MAX_COLUMNS];
	bool		checks_key;		/* each row is also checked for having one of the keys */
	uint64		next;			/* element, or index into keys */
	uint64		end;
	uint64		element;
	uint64		place;			/* within the element */
	uint64		nplaces;
	uint64		nvisited;		/* rows visited, for interrupts */
	EmogiCell	cells[EMOGI_MAX_COLUMNS];
};

/* ---- cursor.c ---- */

extern void emogi_cursor_begin(EmogiRowCursor *cursor);
extern void emogi_cursor_rewind(EmogiRowCursor *cursor);
extern bool emogi_cursor_next(EmogiRowCursor *cursor);
extern void emogi_cursor_put(FunctionCallInfo fcinfo, EmogiCall *call, EmogiKeyIO *form,
							 const EmogiRowKind *kind,
							 const EmogiGraph *graph, const EmogiResult *result,
							 const EmogiQuery *query);

/* ---- row_kind.c, and the kinds ---- */

extern const EmogiRowKind *const emogi_row_kinds[EMOGI_NSHAPES];

/* Get the kind of a function's rows; NULL if they are plain vertices, or if it has none. */
static inline const EmogiRowKind *
emogi_row_kind_find(const EmogiAlgorithmRow *function)
{
	return emogi_row_kinds[function->shape];
}

extern const EmogiResultColumn *emogi_row_kind_column(const EmogiAlgorithmRow *function, int place);
extern int	emogi_row_kind_key(const EmogiAlgorithmRow *function);

#define EMOGI_DECLARE_ROWS(NAME, kind, ...) extern const EmogiRowKind emogi_##kind;
EMOGI_SHAPES(EMOGI_NOTHING, EMOGI_DECLARE_ROWS, EMOGI_DECLARE_ROWS)

/* Check whether the rows of a function have names of edges that its row kind finds. */
static inline bool
emogi_row_kind_has_names(const EmogiAlgorithmRow *function)
{
	return emogi_row_kind_find(function) != NULL && emogi_row_kind_find(function)->name != NULL;
}

/*
 * The function emogi_shortest_path, as if it were in the table of algorithms: its arguments and its
 * distance column.
 */
extern const EmogiAlgorithmRow emogi_path_function;

/* Get a column of the current row, valid as long as emogi_key_io_output says. */
static inline Datum
emogi_cursor_datum(const EmogiRowCursor *cursor, int place, bool *isnull)
{
	const EmogiCell cell = cursor->cells[place];

	*isnull = false;
	switch (cursor->kind->columns[place].type)
	{
		case EMOGI_INT32:
			return Int32GetDatum((int32) cell.number);
		case EMOGI_INT64:
			return Int64GetDatum(cell.number);
		case EMOGI_FLOAT64:
			return Float8GetDatum(cell.real);
		case EMOGI_EDGE:
			*isnull = cell.name == NULL || cell.name->isnull;
			return *isnull ? (Datum) 0 : cell.name->value;
		case EMOGI_VERTEX:
			break;
	}
	*isnull = cell.number == EMOGI_NO_VERTEX;
	if (*isnull)
		return (Datum) 0;
	if (likely(cursor->form->kind == EMOGI_KEY_IO_INTEGER))
		return Int64GetDatum(cursor->graph->ids[cell.number]);
	return emogi_key_io_output(cursor->form, cursor->graph, cursor->graph->ids[cell.number]);
}

#endif							/* EMOGI_CURSOR_H */
