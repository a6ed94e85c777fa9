/*
 * grouping.c: count the rows of a result and fold their values by group, without forming rows
 *
 * Vertices are processed in blocks: select those with a row in the ranges (ranges.c), find the slot
 * of each one's group, then run one loop for the counts and one for each fold (grouping_fold.c).
 * Slot 0 collects the rows that are not selected, so that the loops need no branches. Slots are
 * assigned to values in order of first occurrence. A table maps values to slots; its pieces are
 * allocated on first use, so that its size follows the number of distinct values, for levels as for
 * components.
 *
 * Counts have four lanes, because neighboring rows are often in the same group, and an addition to
 * memory waits for the previous one to the same address.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "scan_node/grouping_parts.h"

/* Values that share a piece of the slot table */
#define PIECE_VALUES 4096

/*
 * If the column has at most FEW_VALUES values, they are counted one value at a time. Otherwise up
 * to SINGLE_VALUES values of a block are. If more than MAX_LEFT of its rows remain after that, this
 * is skipped for the next BLOCKS_BETWEEN blocks.
 */
#define FEW_VALUES 32
#define SINGLE_VALUES 12
#define MAX_LEFT (EMOGI_BLOCK_VERTICES / 4)
#define BLOCKS_BETWEEN 16

/* A piece without any slot */
static const uint32 empty_piece[PIECE_VALUES];
#define no_slots ((uint32 *) empty_piece)

/* Bytes compared in one vector */
#define VECTOR_BYTES 32
typedef uint8 __attribute__((vector_size(VECTOR_BYTES))) ByteVector;
StaticAssertDecl(EMOGI_BLOCK_VERTICES / VECTOR_BYTES <= PG_UINT8_MAX &&
				 EMOGI_BLOCK_VERTICES % VECTOR_BYTES == 0, "sums of a byte");

/* Is this a column of floats? */
bool
emogi_grouping_is_float(const EmogiResultColumn *columns, int place)
{
	return place > 0 && columns[place - 1].type == EMOGI_FLOAT64;
}

/* ---- slots ---- */

/*
 * Initialize the values of a new group. A sum of floats starts at -0, the neutral element of
 * addition.
 */
static void
init_values(const EmogiFolding *folding, EmogiGrouped *values)
{
	for (int i = 0; i < folding->wanted->nfolds; i++)
	{
		const EmogiGrouping *fold = &folding->wanted->folds[i];

		if (emogi_grouping_is_float(folding->columns, fold->place))
			values[i].number = fold->kind == EMOGI_FOLD_SUM ? -0.0 :
				fold->kind == EMOGI_FOLD_MIN ? (double) INFINITY : -(double) INFINITY;
		else
			values[i].integer = fold->kind == EMOGI_FOLD_SUM ? 0 :
				fold->kind == EMOGI_FOLD_MIN ? PG_INT64_MAX : PG_INT64_MIN;
	}
}

/* Allocate a slot. */
static uint32
allocate_slot(EmogiFolding *folding)
{
	const int	nfolds = folding->wanted->nfolds;

	if (folding->nslots == folding->room)
	{
		folding->room = Max(folding->room * 2, 64);
		folding->counts = folding->counts == NULL ?
			palloc(folding->room * EMOGI_COUNT_LANES * sizeof *folding->counts) :
			repalloc_huge(folding->counts,
						  folding->room * EMOGI_COUNT_LANES * sizeof *folding->counts);
		folding->values = folding->values == NULL ?
			palloc(folding->room * Max(nfolds, 1) * sizeof *folding->values) :
			repalloc_huge(folding->values,
						  folding->room * Max(nfolds, 1) * sizeof *folding->values);
	}
	memset(&folding->counts[folding->nslots * EMOGI_COUNT_LANES], 0,
		   EMOGI_COUNT_LANES * sizeof *folding->counts);
	init_values(folding, &folding->values[folding->nslots * nfolds]);
	return (uint32) folding->nslots++;
}

/* Allocate a slot for a value of the grouping column. n: the value minus the minimum. */
static uint32
make_slot(EmogiFolding *folding, uint32 n)
{
	uint32	  **piece = &folding->pieces[n / PIECE_VALUES];

	if (*piece == no_slots)
		*piece = palloc0(PIECE_VALUES * sizeof **piece);
	return (*piece)[n % PIECE_VALUES] = allocate_slot(folding);
}

/* Get the slot of a value. The difference has the same bits for int32 and for vertex numbers. */
static inline uint32
get_slot(EmogiFolding *folding, uint32 value)
{
	const uint32 n = value - (uint32) folding->min;
	const uint32 place = folding->pieces[n / PIECE_VALUES][n % PIECE_VALUES];

	return likely(place != 0) ? place : make_slot(folding, n);
}

/* Add to the count of a value. Get its slot first, because a new slot may move the counts. */
static inline void
add_rows(EmogiFolding *folding, uint32 value, uint64 count)
{
	const uint32 place = get_slot(folding, value);

	folding->counts[(uint64) place * EMOGI_COUNT_LANES] += count;
}

/* Find the slots of a block's rows, as get_slot does. */
static void
find_slots(EmogiFolding *folding)
{
	const int	column = folding->wanted->place - 1;
	const uint32 *values = (const uint32 *) folding->result->columns[Max(column, 0)].vertex +
		folding->first;
	const uint32 min = (uint32) folding->min;
	const uint32 count = folding->count;
	uint32	  **pieces = folding->pieces;

	for (uint32 i = 0; column >= 0 && i < count; i++)
	{
		const uint32 wanted = -(uint32) folding->mask[i];
		const uint32 n = (values[i] - min) & wanted;
		uint32		place = pieces[n / PIECE_VALUES][n % PIECE_VALUES] & wanted;

		if (unlikely((place == 0) & (wanted != 0)))
			place = make_slot(folding, n);
		folding->slots[i] = place;
	}
}

/* Count the values that equal this one. */
static EMOGI_VECTORS uint32
count_equal(const uint32 *values, uint32 value, uint32 count)
{
	uint32		nequal = 0;

	for (uint32 i = 0; i < count; i++)
		nequal += values[i] == value;
	return nequal;
}

/* Clear the mask for the values that equal this one. */
static EMOGI_VECTORS void
clear_equal(const uint32 *values, uint32 value, uint32 count, uint8 *mask)
{
	for (uint32 i = 0; i < count; i++)
		mask[i] &= values[i] != value;
}

/* Count the rows of a block with this value, of nselected selected rows. */
static uint32
count_value(EmogiFolding *folding, uint32 value, uint32 nselected)
{
	const uint32 *values =
		(const uint32 *) folding->result->columns[folding->wanted->place - 1].vertex +
		folding->first;
	uint32		nequal;

	if (folding->is_only_column)
		nequal = count_equal(values, value, folding->count);
	else
	{
		clear_equal(values, value, folding->count, folding->mask);
		nequal = nselected - emogi_ranges_count(folding->mask, folding->count);
	}
	if (nequal > 0)
		add_rows(folding, value, nequal);
	return nequal;
}

/*
 * Write values as their difference to the minimum in bytes, padded to a whole vector. bytes:
 * [count], and up to VECTOR_BYTES - 1 more.
 */
static EMOGI_VECTORS void
pack(const uint32 *values, uint32 min, uint32 count, uint8 *bytes)
{
	for (uint32 i = 0; i < count; i++)
		bytes[i] = (uint8) (values[i] - min);
	for (uint32 i = count; i % VECTOR_BYTES != 0; i++)
		bytes[i] = PG_UINT8_MAX;
}

/*
 * Count the bytes that equal this one, in vectors. A block is too small for a byte's sum to
 * overflow.
 */
static EMOGI_VECTORS uint32
count_bytes(const uint8 *bytes, uint8 value, uint32 count)
{
	const ByteVector wanted = (ByteVector) {0} + value;
	ByteVector		sums = {0};
	uint32		nequal = 0;

	for (uint32 i = 0; i < count; i += VECTOR_BYTES)
	{
		ByteVector		these;

		memcpy(&these, bytes + i, sizeof these);
		sums -= (ByteVector) (these == wanted);
	}
	for (uint32 k = 0; k < VECTOR_BYTES; k++)
		nequal += sums[k];
	return nequal;
}

/*
 * Count the rows of a block one value at a time, if the column has few values and they alone tell
 * which rows are selected.
 */
static void
count_few(EmogiFolding *folding)
{
	const EmogiRange *range = &folding->ranges->of[0];
	const uint32 *values = folding->result->columns[0].vertex + folding->first;
	const double none = folding->columns[0].none;

	pack(values, (uint32) folding->min, folding->count, folding->mask);
	for (uint32 i = 0; i < folding->nvalues; i++)
	{
		const int64 value = folding->min + i;
		uint32		nequal;

		if ((double) value == none ||
			(range->given && (value < range->min || value > range->max)))
			continue;
		nequal = count_bytes(folding->mask, (uint8) i, folding->count);
		if (nequal > 0)
			add_rows(folding, (uint32) value, nequal);
	}
}

/*
 * Count the rows of a block for some values, one value at a time, and clear the mask for them;
 * return how many rows are left. This is fast because most vertices are in one component, and on
 * few levels.
 */
static uint32
count_frequent(EmogiFolding *folding, uint32 nselected)
{
	const uint32 *values =
		(const uint32 *) folding->result->columns[folding->wanted->place - 1].vertex +
		folding->first;

	for (int i = 0; i < SINGLE_VALUES && nselected > 0; i++)
	{
		const uint8 *next = memchr(folding->mask, 1, folding->count);
		const uint32 value = values[next - folding->mask];

		nselected -= count_value(folding, value, nselected);
		if (folding->is_only_column && nselected > 0)
			clear_equal(values, value, folding->count, folding->mask);
	}
	if (nselected > MAX_LEFT)
		folding->nblocks_left = BLOCKS_BETWEEN;
	return nselected;
}

/* Count the remaining rows of a block one by one. */
static void
count_rare(EmogiFolding *folding)
{
	const uint32 *values =
		(const uint32 *) folding->result->columns[folding->wanted->place - 1].vertex +
		folding->first;
	const uint8 *end = folding->mask + folding->count;

	for (const uint8 *p = folding->mask; p < end && (p = memchr(p, 1, end - p)) != NULL; p++)
		add_rows(folding, values[p - folding->mask], 1);
}

/* ---- blocks ---- */

/* Count the rows of a block. */
static void
count_rows(EmogiFolding *folding, uint32 nselected)
{
	uint64	   *counts = folding->counts;
	const uint32 *slots = folding->slots;
	const uint32 count = folding->count;

	if (folding->wanted->place == 0)
	{
		counts[EMOGI_COUNT_LANES] += nselected;
		return;
	}
	for (uint32 i = 0; i < count; i++)
		counts[(uint64) slots[i] * EMOGI_COUNT_LANES + i % EMOGI_COUNT_LANES]++;
}

/*
 * Count the rows of a block one value at a time; return false if this would take too long for the
 * remaining rows.
 */
static bool
count_values(EmogiFolding *folding, uint32 *nselected)
{
	if (folding->is_only_column && folding->nvalues <= FEW_VALUES)
	{
		count_few(folding);
		return true;
	}
	if (--folding->nblocks_left >= 0)
		return false;
	*nselected = count_frequent(folding, *nselected);
	if (*nselected > MAX_LEFT)
		return false;
	if (*nselected > 0)
		count_rare(folding);
	return true;
}

/* Process a block whose mask is set. */
static void
fold_block(EmogiFolding *folding, uint32 nselected)
{
	if (folding->wanted->place > 0 && folding->wanted->nfolds == 0 &&
		count_values(folding, &nselected))
		return;
	find_slots(folding);
	count_rows(folding, nselected);
	for (int i = 0; i < folding->wanted->nfolds; i++)
		emogi_grouping_fold(folding, i);
}

/* ---- all blocks ---- */

/* Get the minimum and maximum of the values. */
static EMOGI_VECTORS void
find_bounds(const int32 *values, uint64 n, int32 *min, int32 *max)
{
	int32		low = PG_INT32_MAX;
	int32		high = PG_INT32_MIN;

	for (uint64 v = 0; v < n; v++)
	{
		low = values[v] < low ? values[v] : low;
		high = values[v] > high ? values[v] : high;
	}
	*min = low;
	*max = high;
}

/*
 * Allocate the mask and the slots of a block of at most `most` vertices, and make the slot table
 * for the range of values in the grouping column. The mask has whole vectors (pack).
 */
static void
make_table(EmogiFolding *folding, uint64 most)
{
	const uint32 room = (uint32) TYPEALIGN(VECTOR_BYTES, Min(most, EMOGI_BLOCK_VERTICES));
	const int	column = folding->wanted->place - 1;
	const uint64 n = folding->graph->nvertices;

	folding->mask = palloc(room * sizeof *folding->mask);
	folding->slots = palloc(room * sizeof *folding->slots);
	folding->nvalues = n;
	(void) allocate_slot(folding);
	if (column < 0)
	{
		const uint32 place = allocate_slot(folding);

		for (uint32 i = 0; i < room; i++)
			folding->slots[i] = place;
		return;
	}
	if (folding->columns[column].type == EMOGI_INT32)
	{
		int32		min;
		int32		max;

		find_bounds(folding->result->columns[column].int32, n, &min, &max);
		folding->min = min;
		folding->nvalues = n == 0 ? 0 : (uint64) ((int64) max - min) + 1;
	}
	folding->npieces = folding->nvalues / PIECE_VALUES + 1;
	folding->pieces = palloc_extended(folding->npieces * sizeof *folding->pieces, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < folding->npieces; i++)
		folding->pieces[i] = no_slots;
}

/* Append the group in a slot to the output. */
static void
output_group(const EmogiFolding *folding, uint32 place, int64 label, EmogiGroups *groups)
{
	const int	nfolds = groups->nfolds;
	uint64		count = 0;

	for (int i = 0; i < EMOGI_COUNT_LANES; i++)
		count += folding->counts[(uint64) place * EMOGI_COUNT_LANES + i];
	groups->labels[groups->ngroups] = label;
	groups->counts[groups->ngroups] = count;
	for (int i = 0; i < nfolds; i++)
		groups->values[groups->ngroups * nfolds + i] = folding->values[(uint64) place * nfolds + i];
	groups->ngroups++;
}

/* Output the groups in ascending order of their labels. */
static void
output_groups(const EmogiFolding *folding, EmogiGroups *groups)
{
	const Size	room = folding->nslots * sizeof(int64);

	groups->ngroups = 0;
	groups->labels = palloc_extended(room, MCXT_ALLOC_HUGE);
	groups->counts = palloc_extended(room, MCXT_ALLOC_HUGE);
	groups->values = palloc_extended(folding->nslots * Max(groups->nfolds, 1) *
									 sizeof *groups->values, MCXT_ALLOC_HUGE);
	if (groups->place == 0)
		output_group(folding, 1, 0, groups);
	for (uint64 piece = 0; piece < folding->npieces; piece++)
		for (uint64 i = 0; folding->pieces[piece] != no_slots && i < PIECE_VALUES; i++)
			if (folding->pieces[piece][i] != 0)
				output_group(folding, folding->pieces[piece][i],
							 folding->min + (int64) (piece * PIECE_VALUES + i), groups);
}

/*
 * Group and fold the rows of a result whose values lie in the ranges.
 *
 * wanted: [nwanted] vertex numbers, ascending and distinct, NULL = all. groups: describes the
 * groups and folds, and receives the output in the current memory context. Raises 22003.
 */
void
emogi_grouping_rows(const EmogiResultColumn *columns, const EmogiGraph *graph,
					const EmogiResult *result, const EmogiRanges *ranges, const uint32 *wanted,
					uint64 nwanted, EmogiGroups *groups)
{
	EmogiFolding *folding = palloc0(sizeof *folding);
	const uint64 n = wanted != NULL ? nwanted : graph->nvertices;

	folding->columns = columns;
	folding->graph = graph;
	folding->result = result;
	folding->wanted = groups;
	folding->ranges = ranges;
	folding->is_only_column = groups->place == 1 && !ranges->excludes && !ranges->compares_self &&
		ranges->nlisted == 0;
	for (int i = 1; i < EMOGI_MAX_COLUMNS; i++)
		folding->is_only_column &= !ranges->of[i].given;
	make_table(folding, wanted != NULL ? 1 : n);
	for (uint64 i = 0; i < n; i += folding->count)
	{
		uint32		nselected;

		folding->first = wanted != NULL ? wanted[i] : i;
		folding->count = wanted != NULL ? 1 : (uint32) Min(EMOGI_BLOCK_VERTICES, n - i);
		if (i % EMOGI_BLOCK_VERTICES == 0)
			CHECK_FOR_INTERRUPTS();
		nselected = emogi_ranges_select(ranges, columns, result, folding->first, folding->count,
										folding->mask);
		if (nselected > 0)
			fold_block(folding, nselected);
	}
	output_groups(folding, groups);
	pfree(folding->mask);
	pfree(folding->slots);
	pfree(folding);
}
