/*
 * cursor.c: iteration over the requested rows of any row kind other than plain vertices, in order
 * (cursor.h)
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "contract/partition_point.h"
#include "function/cursor.h"

/* Rows between two checks for interrupts. */
#define ROWS_PER_CHECK 65536

/* ---- selection of rows ---- */

/* Intersect the interval [*first, *end) with a range. */
static void
clip(const EmogiRange *range, uint64 *first, uint64 *end)
{
	if (!range->given)
		return;
	if (range->min > range->max || range->max < 0)
		*end = *first;
	else
	{
		*first = Max(*first, (uint64) Max(range->min, 0));
		*end = Min(*end, (uint64) range->max + 1);
	}
}

/*
 * Determine the columns whose ranges must be checked for each row, because they are not implied by
 * elements and places.
 */
static void
choose_checks(EmogiRowCursor *cursor)
{
	const EmogiRowKind *kind = cursor->kind;

	cursor->nchecks = 0;
	for (int i = 0; kind->columns[i].name != NULL; i++)
	{
		if (!cursor->ranges[i].given)
			continue;
		cursor->wanted |= 1U << i;
		if ((i == kind->element && cursor->leads) || i == kind->place)
			continue;
		cursor->checks[cursor->nchecks++] = i;
	}
	cursor->checks_key = cursor->keys != NULL && !(cursor->leads && kind->key == kind->element);
	if (cursor->checks_key)
		cursor->wanted |= 1U << kind->key;
}

/*
 * Initialize the data that rows are read from, in the current context, and position before the
 * first requested row. Raises a cancel.
 */
void
emogi_cursor_begin(EmogiRowCursor *cursor)
{
	cursor->leads = cursor->kind->element >= 0;
	cursor->kind->begin(cursor);
	emogi_cursor_rewind(cursor);
}

/* Position before the first requested row. The request may have changed. */
void
emogi_cursor_rewind(EmogiRowCursor *cursor)
{
	choose_checks(cursor);
	cursor->next = cursor->place = cursor->nplaces = 0;
	cursor->end = cursor->nelements;
	if (cursor->keys != NULL && !cursor->checks_key)
		cursor->end = cursor->nkeys;
	else if (cursor->leads)
		clip(&cursor->ranges[cursor->kind->element], &cursor->next, &cursor->end);
}

/* Restrict the places of the current element to their range. */
static void
clip_places(EmogiRowCursor *cursor)
{
	const EmogiRowKind *kind = cursor->kind;

	if (kind->place >= 0)
		clip(&cursor->ranges[kind->place], &cursor->place, &cursor->nplaces);
}

/* Is an element selected by a key outside the range of its column? */
static bool
is_out_of_range(const EmogiRowCursor *cursor)
{
	const EmogiRange *range = &cursor->ranges[cursor->kind->element];

	return range->given &&
		((int64) cursor->element < range->min || (int64) cursor->element > range->max);
}

/* Advance to the next element; return false if there is none. */
static bool
enter_next(EmogiRowCursor *cursor)
{
	if (cursor->next >= cursor->end)
		return false;
	cursor->element = cursor->next++;
	if (cursor->keys != NULL && !cursor->checks_key)
	{
		cursor->element = cursor->keys[cursor->element];
		if (is_out_of_range(cursor))
		{
			cursor->place = cursor->nplaces = 0;
			return true;
		}
	}
	cursor->kind->enter(cursor);
	clip_places(cursor);
	return true;
}

/* Is a vertex among the keys? */
static bool
is_key(const EmogiRowCursor *cursor, int64 v)
{
	const uint64 low = EMOGI_PARTITION_POINT(0, cursor->nkeys, middle, cursor->keys[middle] < v);

	return low < cursor->nkeys && cursor->keys[low] == v;
}

/* Does the current row pass the checks that elements and places do not imply? */
static bool
passes(const EmogiRowCursor *cursor)
{
	for (int i = 0; i < cursor->nchecks; i++)
	{
		const int	place = cursor->checks[i];
		const EmogiRange *range = &cursor->ranges[place];
		const EmogiCell cell = cursor->cells[place];
		const EmogiColumnType type = cursor->kind->columns[place].type;

		if (type == EMOGI_FLOAT64 ? !(cell.real >= range->min_float &&
									  cell.real <= range->max_float) :
			(cell.number < range->min || cell.number > range->max ||
			 (type == EMOGI_VERTEX && cell.number == EMOGI_NO_VERTEX)))
			return false;
	}
	return !cursor->checks_key || is_key(cursor, cursor->cells[cursor->kind->key].number);
}

/* Advance to the next requested row; return false if there is none. Raises a cancel. */
bool
emogi_cursor_next(EmogiRowCursor *cursor)
{
	for (;;)
	{
		if (++cursor->nvisited % ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (cursor->place < cursor->nplaces)
		{
			const bool	has_row = cursor->kind->fill(cursor);

			cursor->place++;
			if (has_row && (likely(cursor->nchecks == 0 && !cursor->checks_key) || passes(cursor)))
				return true;
		}
		else if (!enter_next(cursor))
			return false;
	}
}

/* ---- into a tuplestore ---- */

/* Put all rows of a call into its tuplestore, in order. */
void
emogi_cursor_put(FunctionCallInfo fcinfo, EmogiCall *call, EmogiKeyIO *form,
				 const EmogiRowKind *kind, const EmogiGraph *graph,
				 const EmogiResult *result, const EmogiQuery *query)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
													  ALLOCSET_SMALL_SIZES);
	MemoryContext old;
	EmogiRowCursor cursor = {
		.kind = kind,.form = form,.graph = graph,.result = result,.query = query,
			.wanted = PG_UINT32_MAX
	};
	bool		nulls[EMOGI_MAX_COLUMNS] = {false};
	Datum		values[EMOGI_MAX_COLUMNS];

	emogi_cursor_begin(&cursor);
	old = MemoryContextSwitchTo(row_context);
	while (emogi_cursor_next(&cursor))
	{
		for (int i = 0; i < rsinfo->setDesc->natts; i++)
			values[i] = emogi_cursor_datum(&cursor, i, &nulls[i]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		if (form->kind != EMOGI_KEY_IO_INTEGER)
			MemoryContextReset(row_context);
		call->record.nrows++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_context);
}
