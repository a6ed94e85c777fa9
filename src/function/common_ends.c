/*
 * common_ends.c: the error for a vertex that is given as a source and as a target of a flow
 *
 * The arguments decide, whether the vertex is in the graph or not. Two texts may also denote the
 * same key, such as '1' and '1.0'; the engine refuses these if the key is in the graph (refusal.c).
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "function/function.h"

/* A source, by its hash. */
typedef struct Entry
{
	uint32		hash;
	Datum		vertex;
} Entry;

/* The type of the vertices. */
typedef struct VertexType
{
	Oid			oid;
	int16		length;
	bool		by_value;
} VertexType;

static int
compare_hashes(const void *a, const void *b)
{
	const uint32 x = ((const Entry *) a)->hash;
	const uint32 y = ((const Entry *) b)->hash;

	return x < y ? -1 : x > y;
}

/* Get the sources, ascending by hash. */
static Entry *
sort_sources(const EmogiVertexDatums *sources, const VertexType *type)
{
	Entry	   *entries = palloc_extended(sources->count * sizeof(Entry), MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < sources->count; i++)
		entries[i] = (Entry) {datum_image_hash(sources->datums[i], type->by_value, type->length),
		sources->datums[i]};
	qsort(entries, sources->count, sizeof(Entry), compare_hashes);
	return entries;
}

/* Find the first entry whose hash is not less; count if there is none. */
static uint64
find_hash(const Entry *entries, uint64 count, uint32 hash)
{
	uint64		low = 0;

	while (low < count)
	{
		const uint64 middle = low + (count - low) / 2;

		if (entries[middle].hash < hash)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* Is a target one of the sources? */
static bool
is_source(const Entry *entries, uint64 count, Datum target, const VertexType *type)
{
	const uint32 hash = datum_image_hash(target, type->by_value, type->length);

	for (uint64 i = find_hash(entries, count, hash); i < count && entries[i].hash == hash; i++)
		if (datum_image_eq(entries[i].vertex, target, type->by_value, type->length))
			return true;
	return false;
}

/* Get a vertex as text, for messages. */
static char *
text_of(Datum vertex, Oid type)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, vertex);
}

/* Raise 22023 if a vertex, as given, is a source and a target of a task, which is a flow. */
void
emogi_common_ends_check(const EmogiTask *task)
{
	VertexType	type = {.oid = task->vertex_type};
	Entry	   *entries;

	if (task->sources.count == 0 || task->target_array.count == 0)
		return;
	get_typlenbyval(type.oid, &type.length, &type.by_value);
	entries = sort_sources(&task->sources, &type);
	for (uint64 i = 0; i < task->target_array.count; i++)
		if (is_source(entries, task->sources.count, task->target_array.datums[i], &type))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("vertex %s is a source and a target",
							text_of(task->target_array.datums[i], type.oid)),
					 errhint("Leave it out of one of the two.")));
	pfree(entries);
}
