/*
 * cursor.h: rows that are not vertices, one by one: those of hierarchies (communities.c), of edges
 * and of blocks (edge_rows.c), of pairs and walks (pair_rows.c), and of a path (shortest_path.c);
 * or vertices with columns that may be NULL, of trees of searches (search_trees.c).
 *
 * A kind of rows has two numbers for a row: that of an element, and its place within that. A
 * hierarchy's element is a vertex, and a place a level. Elements and places ascend, so where a
 * column is one of the two, a condition on it leaves out all others without a look at them. Nothing
 * is made of a row but numbers, until a Datum of a column is asked for.
 */
#ifndef EMOGI_CURSOR_H
#define EMOGI_CURSOR_H

#include "contract/summary.h"
#include "function/function.h"

/*
 * A value of a row at hand: of an integer or of a vertex, whose number it is, EMOGI_NO_VERTEX =
 * NULL; of a float; or an edge's name, NULL = none.
 */
typedef union EmogiCell
{
	int64		number;
	double		real;
	const NullableDatum *name;
} EmogiCell;

/* Whether NULLs are wanted. */
typedef enum EmogiNulls
{
	EMOGI_NULLS_TOO = 0,
	EMOGI_NULLS_ONLY,
	EMOGI_NULLS_NEVER,
	EMOGI_NULLS_NONE			/* both: no row will do */
} EmogiNulls;

typedef struct EmogiRowCursor EmogiRowCursor;

/* What a row is. */
typedef struct EmogiRowKind
{
	EmogiResultColumn columns[EMOGI_MAX_COLUMNS + 1];	/* of the SQL function, all of them, as they
														 * are there */
	int			key;			/* place of the column whose vertices a condition may choose; -1 =
								 * vertices cannot be told by their numbers */
	int			element;		/* place of the column that is the element; -1 = none is */
	int			place;			/* ... that is the place in it */
	int			nullable;		/* ... that may be NULL; -1 = none may */
	int			norder;			/* rows ascend by so many of the first columns */

	/* Makes what rows are read from, in the current context, and sets nelements; raises a cancel */
	void		(*begin) (EmogiRowCursor *cursor);

	/* Sets place and nplaces of the element at hand: all there are */
	void		(*enter) (EmogiRowCursor *cursor);

	/*
	 * Fills the cells of the place at hand, at least those of wanted columns; false when it has no
	 * row
	 */
	bool		(*fill) (EmogiRowCursor *cursor);
} EmogiRowKind;

struct EmogiRowCursor
{
	/* whose rows, and which are wanted: the caller's */
	const EmogiRowKind *kind;
	EmogiForm  *form;
	const EmogiGraph *graph;
	const EmogiResult *result;
	const EmogiQuery *query;	/* what was asked of the engine, in memory for as long as the cursor
								 * is */
	uint32		wanted;			/* columns whose values are looked at, a bit each by their place */
	EmogiRange	ranges[EMOGI_MAX_COLUMNS];
	EmogiNulls	nulls;			/* of the column that may be NULL */
	/* [nkeys], ascending: rows of these vertices alone; NULL = of all */
	const uint32 *keys;
	uint64		nkeys;

	/* of its kind */
	uint64		nelements;
	bool		leads;			/* the column that is the element tells rows apart by it:
								 * kind->element of this call */
	const uint64 *starts;		/* [nelements + 1]: of edges and blocks; places of an element begin
								 * here, and end where the next begin */
	const uint32 *second;		/* what stands there */
	uint32		community;		/* of a hierarchy: the one that the vertex was in at the place
								 * before */

	/* where it is */
	int			nchecks;		/* columns whose ranges each row is checked by */
	int			checks[EMOGI_MAX_COLUMNS];
	bool		checks_key;		/* and whether it has one of the keys */
	uint64		next;			/* element, or index into keys */
	uint64		end;
	uint64		element;
	uint64		place;			/* within the element */
	uint64		nplaces;
	uint64		nlooked;		/* for a cancel */
	EmogiCell	cells[EMOGI_MAX_COLUMNS];
};

/* ---- cursor.c ---- */

extern void emogi_cursor_begin(EmogiRowCursor *cursor);
extern void emogi_cursor_rewind(EmogiRowCursor *cursor);
extern bool emogi_cursor_next(EmogiRowCursor *cursor);
extern void emogi_cursor_put(FunctionCallInfo fcinfo, EmogiCall *call, EmogiForm *form,
							 const EmogiRowKind *kind,
							 const EmogiGraph *graph, const EmogiResult *result,
							 const EmogiQuery *query);

/* ---- kinds.c, and the kinds ---- */

extern const EmogiRowKind *emogi_kinds_find(const EmogiAlgorithmRow *function);
extern const EmogiResultColumn *emogi_kinds_column(const EmogiAlgorithmRow *function, int place);
extern int	emogi_kinds_key(const EmogiAlgorithmRow *function);

extern const EmogiRowKind emogi_hierarchy_rows;
extern const EmogiRowKind emogi_weighted_edge_rows;
extern const EmogiRowKind emogi_edge_rows;
extern const EmogiRowKind emogi_block_rows;
extern const EmogiRowKind emogi_similarity_rows;
extern const EmogiRowKind emogi_index_search_rows;
extern const EmogiRowKind emogi_distance_rows;
extern const EmogiRowKind emogi_bfs_tree_rows;
extern const EmogiRowKind emogi_shortest_path_tree_rows;
extern const EmogiRowKind emogi_path_rows;

/* ---- search_trees.c ---- */

extern void emogi_search_trees_name(const EmogiTask *task, const EmogiGraph *graph,
									EmogiResult *result);

/*
 * The function emogi_shortest_path, as if it had a row of the table of algorithms: its arguments
 * and its column of distances.
 */
extern const EmogiAlgorithmRow emogi_path_function;

/* Get a column of the row at hand, for as long as emogi_form_give says. */
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
	if (likely(cursor->form->kind == EMOGI_FORM_INTEGER))
		return Int64GetDatum(cursor->graph->ids[cell.number]);
	return emogi_form_give(cursor->form, cursor->graph, cursor->graph->ids[cell.number]);
}

#endif							/* EMOGI_CURSOR_H */
