/*
 * grouping.c: rows of a result are counted and their values folded, group by group, without a row being made.
 *
 * Block by block of the vertices: which have a row that is wanted (ranges.c), in which place their group is, and then one loop for the
 * counts and one for each fold. Place 0 takes what is not wanted, so that loops need not branch. Places are given to values as they come;
 * a table in pieces, made as they are needed, knows them: it costs as much as there are different values, in a level as in a component.
 *
 * Counts have four lanes: neighbours are often of one group, and an addition to memory waits for the one before.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/float.h"

#include "scan_node/grouping.h"

/* Values that share a piece of the table of places. */
#define PIECE_VALUES 4096

#define LANES 4

/* Where there are so few values at all they are counted one after the other. So many values of a block are counted by themselves, and when that leaves more than a part of its rows, not in the next blocks. */
#define FEW_VALUES 32
#define VALUES_ALONE 12
#define MOST_LEFT (EMOGI_BLOCK_VERTICES / 4)
#define BLOCKS_BETWEEN 16

/* A piece of which no value has a place yet. */
static const uint32 empty_piece[PIECE_VALUES];
#define no_places ((uint32 *) empty_piece)

/* Bytes that are counted abreast. */
#define BYTES_ABREAST 32
typedef uint8 __attribute__((vector_size(BYTES_ABREAST))) Abreast;
StaticAssertDecl(EMOGI_BLOCK_VERTICES / BYTES_ABREAST <= PG_UINT8_MAX && EMOGI_BLOCK_VERTICES % BYTES_ABREAST == 0, "sums of a byte");

/* Groups in the making. */
typedef struct Folding
{
	const EmogiResultColumn *columns;
	const EmogiGraph *graph;
	const EmogiResult *result;
	const EmogiGroups *wanted;
	const EmogiRanges *ranges;
	int64		least;			/* value of the column of groups */
	uint64		nvalues;		/* from it on */
	uint32	  **pieces;			/* [npieces] of [PIECE_VALUES]: places of groups, 0 = none yet */
	uint64		npieces;
	uint64		nplaces;		/* that are taken, that of what is not wanted included */
	uint64		room;
	uint64	   *counts;			/* [room * LANES] */
	EmogiGrouped *values;		/* [room * nfolds] */

	bool		are_alone;		/* the values of the column of groups alone say which rows are wanted */
	int			nblocks_left;	/* until values are counted by themselves again */

	/* the block at hand */
	uint64		first;
	uint32		count;
	uint8		mask[EMOGI_BLOCK_VERTICES];
	uint32		places[EMOGI_BLOCK_VERTICES];
} Folding;

/* Are the values of a column floats? */
bool
emogi_grouping_is_float(const EmogiResultColumn *columns, int place)
{
	return place > 0 && columns[place - 1].type == EMOGI_FLOAT64;
}

/* ---- places ---- */

/* Set the values of a new group. A sum of floats begins with -0, to which any number adds up to itself. */
static void
begin_values(const Folding *folding, EmogiGrouped *values)
{
	for (int i = 0; i < folding->wanted->nfolds; i++)
	{
		const EmogiGrouping *fold = &folding->wanted->folds[i];

		if (emogi_grouping_is_float(folding->columns, fold->place))
			values[i].number = fold->kind == EMOGI_FOLD_SUM ? -0.0 : fold->kind == EMOGI_FOLD_MIN ? (double) INFINITY : -(double) INFINITY;
		else
			values[i].integer = fold->kind == EMOGI_FOLD_SUM ? 0 : fold->kind == EMOGI_FOLD_MIN ? PG_INT64_MAX : PG_INT64_MIN;
	}
}

/* Take a new place. */
static uint32
take_place(Folding *folding)
{
	const int	nfolds = folding->wanted->nfolds;

	if (folding->nplaces == folding->room)
	{
		folding->room = Max(folding->room * 2, 64);
		folding->counts = folding->counts == NULL ? palloc(folding->room * LANES * sizeof *folding->counts) :
			repalloc_huge(folding->counts, folding->room * LANES * sizeof *folding->counts);
		folding->values = folding->values == NULL ? palloc(folding->room * Max(nfolds, 1) * sizeof *folding->values) :
			repalloc_huge(folding->values, folding->room * Max(nfolds, 1) * sizeof *folding->values);
	}
	memset(&folding->counts[folding->nplaces * LANES], 0, LANES * sizeof *folding->counts);
	begin_values(folding, &folding->values[folding->nplaces * nfolds]);
	return (uint32) folding->nplaces++;
}

/* Find the place of a value of the column of groups, counted from the least, that has none yet: make it. */
static uint32
make_place(Folding *folding, uint32 n)
{
	uint32	  **piece = &folding->pieces[n / PIECE_VALUES];

	if (*piece == no_places)
		*piece = palloc0(PIECE_VALUES * sizeof **piece);
	return (*piece)[n % PIECE_VALUES] = take_place(folding);
}

/* Get the place of a value. Differences of int32 and of vertex numbers are the same bits. */
static inline uint32
get_place(Folding *folding, uint32 value)
{
	const uint32 n = value - (uint32) folding->least;
	const uint32 place = folding->pieces[n / PIECE_VALUES][n % PIECE_VALUES];

	return likely(place != 0) ? place : make_place(folding, n);
}

/* Count rows with a value. Its place is found first: a new one may move the counts. */
static inline void
add_rows(Folding *folding, uint32 value, uint64 count)
{
	const uint32 place = get_place(folding, value);

	folding->counts[(uint64) place * LANES] += count;
}

/* Find the places of a block's groups, as get_place does. */
static void
find_places(Folding *folding)
{
	const int	column = folding->wanted->place - 1;
	const uint32 *values = (const uint32 *) folding->result->columns[Max(column, 0)].vertex + folding->first;
	const uint32 least = (uint32) folding->least;
	const uint32 count = folding->count;
	uint32	  **pieces = folding->pieces;

	for (uint32 i = 0; column >= 0 && i < count; i++)
	{
		const uint32 wanted = -(uint32) folding->mask[i];
		const uint32 n = (values[i] - least) & wanted;
		uint32		place = pieces[n / PIECE_VALUES][n % PIECE_VALUES] & wanted;

		if (unlikely((place == 0) & (wanted != 0)))
			place = make_place(folding, n);
		folding->places[i] = place;
	}
}

/* Count values that equal one. */
static EMOGI_VECTORS uint32
count_equal(const uint32 *values, uint32 value, uint32 count)
{
	uint32		nequal = 0;

	for (uint32 i = 0; i < count; i++)
		nequal += values[i] == value;
	return nequal;
}

/* Clear the marks of a block's values that equal one. */
static EMOGI_VECTORS void
clear_equal(const uint32 *values, uint32 value, uint32 count, uint8 *mask)
{
	for (uint32 i = 0; i < count; i++)
		mask[i] &= values[i] != value;
}

/* Count the rows of a block whose values are one, of nselected that are marked. */
static uint32
count_value(Folding *folding, uint32 value, uint32 nselected)
{
	const uint32 *values = (const uint32 *) folding->result->columns[folding->wanted->place - 1].vertex + folding->first;
	uint32		nequal;

	if (folding->are_alone)
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

/* Write how far values are from the least as bytes, up to a whole vector of them. bytes: [count], and up to BYTES_ABREAST - 1 more. */
static EMOGI_VECTORS void
pack(const uint32 *values, uint32 least, uint32 count, uint8 *bytes)
{
	for (uint32 i = 0; i < count; i++)
		bytes[i] = (uint8) (values[i] - least);
	for (uint32 i = count; i % BYTES_ABREAST != 0; i++)
		bytes[i] = PG_UINT8_MAX;
}

/* Count bytes that equal one, in vectors: there are too few of these for a sum in a byte to overflow. */
static EMOGI_VECTORS uint32
count_bytes(const uint8 *bytes, uint8 value, uint32 count)
{
	const Abreast wanted = (Abreast) {0} + value;
	Abreast		sums = {0};
	uint32		nequal = 0;

	for (uint32 i = 0; i < count; i += BYTES_ABREAST)
	{
		Abreast		these;

		memcpy(&these, bytes + i, sizeof these);
		sums -= (Abreast) (these == wanted);
	}
	for (uint32 k = 0; k < BYTES_ABREAST; k++)
		nequal += sums[k];
	return nequal;
}

/* Count the rows of a block value by value, where there are few values at all, and they alone say which rows are wanted. */
static void
count_few(Folding *folding)
{
	const EmogiRange *range = &folding->ranges->of[0];
	const uint32 *values = folding->result->columns[0].vertex + folding->first;
	const double none = folding->columns[0].none;

	pack(values, (uint32) folding->least, folding->count, folding->mask);
	for (uint32 i = 0; i < folding->nvalues; i++)
	{
		const int64 value = folding->least + i;
		uint32		nequal;

		if ((double) value == none || (range->given && (value < range->least || value > range->most)))
			continue;
		nequal = count_bytes(folding->mask, (uint8) i, folding->count);
		if (nequal > 0)
			add_rows(folding, (uint32) value, nequal);
	}
}

/*
 * Count the rows of a block value by value, and clear their marks, for some values; get how many rows are left. Most vertices are in one
 * component, and on a few levels.
 */
static uint32
count_frequent(Folding *folding, uint32 nselected)
{
	const uint32 *values = (const uint32 *) folding->result->columns[folding->wanted->place - 1].vertex + folding->first;

	for (int i = 0; i < VALUES_ALONE && nselected > 0; i++)
	{
		const uint8 *next = memchr(folding->mask, 1, folding->count);
		const uint32 value = values[next - folding->mask];

		nselected -= count_value(folding, value, nselected);
		if (folding->are_alone && nselected > 0)
			clear_equal(values, value, folding->count, folding->mask);
	}
	if (nselected > MOST_LEFT)
		folding->nblocks_left = BLOCKS_BETWEEN;
	return nselected;
}

/* Count the rows of a block that are left, one by one. */
static void
count_rare(Folding *folding)
{
	const uint32 *values = (const uint32 *) folding->result->columns[folding->wanted->place - 1].vertex + folding->first;
	const uint8 *end = folding->mask + folding->count;

	for (const uint8 *p = folding->mask; p < end && (p = memchr(p, 1, end - p)) != NULL; p++)
		add_rows(folding, values[p - folding->mask], 1);
}

/* ---- folds ---- */

/* Count the rows of a block. */
static void
count_rows(Folding *folding, uint32 nselected)
{
	uint64	   *counts = folding->counts;
	const uint32 *places = folding->places;
	const uint32 count = folding->count;

	if (folding->wanted->place == 0)
	{
		counts[LANES] += nselected;
		return;
	}
	for (uint32 i = 0; i < count; i++)
		counts[(uint64) places[i] * LANES + i % LANES]++;
}

/* Fold an integer value into a group's. */
static inline void
fold_integer(EmogiGrouped *folded, EmogiFoldKind kind, int64 value)
{
	if (kind == EMOGI_FOLD_SUM)
		folded->integer += value;
	else if (kind == EMOGI_FOLD_MIN ? value < folded->integer : value > folded->integer)
		folded->integer = value;
}

/* Get the integer value of a vertex: of `vertex` and columns of vertices for a sum the key, else the number. */
static inline int64
integer_value(const Folding *folding, const EmogiGrouping *fold, uint64 v)
{
	uint32		number;

	if (fold->place > 0 && folding->columns[fold->place - 1].type == EMOGI_INT32)
		return folding->result->columns[fold->place - 1].int32[v];
	if (fold->place > 0 && folding->columns[fold->place - 1].type == EMOGI_INT64)
		return folding->result->columns[fold->place - 1].int64[v];
	number = fold->place == 0 ? (uint32) v : folding->result->columns[fold->place - 1].vertex[v];
	if (fold->kind != EMOGI_FOLD_SUM)
		return number;
	return folding->graph->ids != NULL ? folding->graph->ids[number] : (int64) number;
}

/* Fold a block's integers. */
static void
fold_integers(Folding *folding, int n)
{
	const EmogiGrouping *fold = &folding->wanted->folds[n];
	EmogiGrouped *values = folding->values + n;
	const int	nfolds = folding->wanted->nfolds;

	for (uint32 i = 0; i < folding->count; i++)
		if (folding->mask[i])
			fold_integer(&values[(uint64) folding->places[i] * nfolds], fold->kind, integer_value(folding, fold, folding->first + i));
}

/* Get the sum, the least or the most of values that are marked. */
static EMOGI_VECTORS int64
fold_marked(EmogiFoldKind kind, const int32 *values, const uint8 *mask, uint32 count)
{
	int64		sum = 0;
	int32		least = PG_INT32_MAX;
	int32		most = PG_INT32_MIN;

	for (uint32 i = 0; kind == EMOGI_FOLD_SUM && i < count; i++)
		sum += values[i] & -(int32) mask[i];
	for (uint32 i = 0; kind == EMOGI_FOLD_MIN && i < count; i++)
	{
		const int32 marked = -(int32) mask[i];
		const int32 value = (values[i] & marked) | (PG_INT32_MAX & ~marked);

		least = value < least ? value : least;
	}
	for (uint32 i = 0; kind == EMOGI_FOLD_MAX && i < count; i++)
	{
		const int32 marked = -(int32) mask[i];
		const int32 value = (values[i] & marked) | (PG_INT32_MIN & ~marked);

		most = value > most ? value : most;
	}
	return kind == EMOGI_FOLD_SUM ? sum : kind == EMOGI_FOLD_MIN ? least : most;
}

/* Fold a block's int32 values of all rows, which are one group. */
static void
fold_int32(Folding *folding, int n)
{
	const EmogiGrouping *fold = &folding->wanted->folds[n];
	const int32 *values = folding->result->columns[fold->place - 1].int32 + folding->first;

	fold_integer(&folding->values[folding->wanted->nfolds + n], fold->kind, fold_marked(fold->kind, values, folding->mask, folding->count));
}

/* Fold a block's floats. A sum of finite numbers that is not finite is an error, as it is for PostgreSQL. */
static void
fold_floats(Folding *folding, int n)
{
	const EmogiGrouping *fold = &folding->wanted->folds[n];
	const double *values = folding->result->columns[fold->place - 1].float64 + folding->first;
	const int	nfolds = folding->wanted->nfolds;

	for (uint32 i = 0; i < folding->count; i++)
	{
		double	   *folded = &folding->values[(uint64) folding->places[i] * nfolds + n].number;

		if (!folding->mask[i])
			continue;
		if (fold->kind == EMOGI_FOLD_MIN)
			*folded = Min(*folded, values[i]);
		else if (fold->kind == EMOGI_FOLD_MAX)
			*folded = Max(*folded, values[i]);
		else
		{
			const double sum = *folded + values[i];

			if (unlikely(isinf(sum)) && !isinf(*folded) && !isinf(values[i]))
				float_overflow_error();
			*folded = sum;
		}
	}
}

/* Count the rows of a block value by value; false when rows are left for which that would take too long. */
static bool
count_values(Folding *folding, uint32 *nselected)
{
	if (folding->are_alone && folding->nvalues <= FEW_VALUES)
	{
		count_few(folding);
		return true;
	}
	if (--folding->nblocks_left >= 0)
		return false;
	*nselected = count_frequent(folding, *nselected);
	if (*nselected > MOST_LEFT)
		return false;
	if (*nselected > 0)
		count_rare(folding);
	return true;
}

/* Take the rows of a block into account, whose mask is made. */
static void
fold_block(Folding *folding, uint32 nselected)
{
	if (folding->wanted->place > 0 && folding->wanted->nfolds == 0 && count_values(folding, &nselected))
		return;
	find_places(folding);
	count_rows(folding, nselected);
	for (int i = 0; i < folding->wanted->nfolds; i++)
	{
		const int	place = folding->wanted->folds[i].place;

		if (emogi_grouping_is_float(folding->columns, place))
			fold_floats(folding, i);
		else if (folding->wanted->place == 0 && place > 0 && folding->columns[place - 1].type == EMOGI_INT32)
			fold_int32(folding, i);
		else
			fold_integers(folding, i);
	}
}

/* ---- the whole ---- */

/* Get the least and the most of values. */
static EMOGI_VECTORS void
find_bounds(const int32 *values, uint64 n, int32 *least, int32 *most)
{
	int32		low = PG_INT32_MAX;
	int32		high = PG_INT32_MIN;

	for (uint64 v = 0; v < n; v++)
	{
		low = values[v] < low ? values[v] : low;
		high = values[v] > high ? values[v] : high;
	}
	*least = low;
	*most = high;
}

/* Make the table of places, for the values that there are in the column of groups. */
static void
make_table(Folding *folding)
{
	const int	column = folding->wanted->place - 1;
	const uint64 n = folding->graph->nvertices;

	folding->nvalues = n;
	(void) take_place(folding);
	if (column < 0)
	{
		const uint32 place = take_place(folding);

		for (uint32 i = 0; i < EMOGI_BLOCK_VERTICES; i++)
			folding->places[i] = place;
		return;
	}
	if (folding->columns[column].type == EMOGI_INT32)
	{
		int32		least;
		int32		most;

		find_bounds(folding->result->columns[column].int32, n, &least, &most);
		folding->least = least;
		folding->nvalues = n == 0 ? 0 : (uint64) ((int64) most - least) + 1;
	}
	folding->npieces = folding->nvalues / PIECE_VALUES + 1;
	folding->pieces = palloc_extended(folding->npieces * sizeof *folding->pieces, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < folding->npieces; i++)
		folding->pieces[i] = no_places;
}

/* Give a group its row of what comes of it. */
static void
put_group(const Folding *folding, uint32 place, int64 label, EmogiGroups *groups)
{
	const int	nfolds = groups->nfolds;
	uint64		count = 0;

	for (int i = 0; i < LANES; i++)
		count += folding->counts[(uint64) place * LANES + i];
	groups->labels[groups->ngroups] = label;
	groups->counts[groups->ngroups] = count;
	for (int i = 0; i < nfolds; i++)
		groups->values[groups->ngroups * nfolds + i] = folding->values[(uint64) place * nfolds + i];
	groups->ngroups++;
}

/* Put the groups in the order of their labels. */
static void
put_groups(const Folding *folding, EmogiGroups *groups)
{
	const Size	room = folding->nplaces * sizeof(int64);

	groups->ngroups = 0;
	groups->labels = palloc_extended(room, MCXT_ALLOC_HUGE);
	groups->counts = palloc_extended(room, MCXT_ALLOC_HUGE);
	groups->values = palloc_extended(folding->nplaces * Max(groups->nfolds, 1) * sizeof *groups->values, MCXT_ALLOC_HUGE);
	if (groups->place == 0)
		put_group(folding, 1, 0, groups);
	for (uint64 piece = 0; piece < folding->npieces; piece++)
		for (uint64 i = 0; folding->pieces[piece] != no_places && i < PIECE_VALUES; i++)
			if (folding->pieces[piece][i] != 0)
				put_group(folding, folding->pieces[piece][i], folding->least + (int64) (piece * PIECE_VALUES + i), groups);
}

/*
 * Fold the rows of a result whose values lie in the ranges, of all vertices or of those that are wanted: [nwanted] numbers, ascending and
 * distinct, NULL = all. groups: what is wanted, and what comes of it in the current memory context. Raises 22003.
 */
void
emogi_grouping_rows(const EmogiResultColumn *columns, const EmogiGraph *graph, const EmogiResult *result, const EmogiRanges *ranges,
				const uint32 *wanted, uint64 nwanted, EmogiGroups *groups)
{
	Folding    *folding = palloc0(sizeof *folding);
	const uint64 n = wanted != NULL ? nwanted : graph->nvertices;

	folding->columns = columns;
	folding->graph = graph;
	folding->result = result;
	folding->wanted = groups;
	folding->ranges = ranges;
	folding->are_alone = groups->place == 1 && !ranges->excludes && ranges->nlisted == 0;
	for (int i = 1; i < EMOGI_MAX_COLUMNS; i++)
		folding->are_alone &= !ranges->of[i].given;
	make_table(folding);
	for (uint64 i = 0; i < n; i += folding->count)
	{
		uint32		nselected;

		folding->first = wanted != NULL ? wanted[i] : i;
		folding->count = wanted != NULL ? 1 : (uint32) Min(EMOGI_BLOCK_VERTICES, n - i);
		if (i % EMOGI_BLOCK_VERTICES == 0)
			CHECK_FOR_INTERRUPTS();
		nselected = emogi_ranges_select(ranges, columns, result, folding->first, folding->count, folding->mask);
		if (nselected > 0)
			fold_block(folding, nselected);
	}
	put_groups(folding, groups);
	pfree(folding);
}
