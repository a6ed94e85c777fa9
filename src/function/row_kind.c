/*
 * row_kind.c: the kinds of rows of functions, and their columns
 */
#include "postgres.h"

#include "function/cursor.h"

/* Of aggregates, which no function returns. */
const EmogiRowKind emogi_no_rows = {.key = -1,.element = -1,.place = -1,.nullable = -1};

const EmogiRowKind *const emogi_row_kinds[EMOGI_NSHAPES] = {
#define ROWS(NAME, kind, ...) [EMOGI_SHAPE_##NAME] = &emogi_##kind,
	EMOGI_SHAPES(EMOGI_NOTHING, ROWS, ROWS)
#undef ROWS
};

/* Get a column of a function's rows by its number, from 0; NULL if there is none. */
const EmogiResultColumn *
emogi_row_kind_column(const EmogiAlgorithmRow *function, int place)
{
	static const EmogiResultColumn vertex = {"vertex", EMOGI_VERTEX, NAN};
	const EmogiRowKind *kind = emogi_row_kind_find(function);
	const EmogiResultColumn *column = &vertex;

	if (kind != NULL)
		column = &kind->columns[place];
	else if (place > 0)
		column = &function->columns[place - 1];
	return column->name != NULL ? column : NULL;
}

/*
 * Get the number of the column of a function's rows whose vertices a condition can select; -1 =
 * none.
 */
int
emogi_row_kind_key(const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_row_kind_find(function);

	return kind != NULL ? kind->key : 0;
}
