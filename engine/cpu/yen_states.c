/*
 * yen_states.c: states of the vertices that a ranking has met
 *
 * A ranking between near endpoints meets few vertices of a large graph. Arrays over all vertices
 * would cost more than the search, because they are zeroed, or their pages are, one for each vertex.
 * So states are allocated in chunks, in order of first use, and found by a hash table, or by an
 * array of their numbers once that is not larger.
 */
#include "cpu/yen_parts.h"

#include <stdlib.h>

#define MIN_SLOTS 1024

/* Allocate zeroed memory within the limit; NULL, and the job failed, if there is none. */
static void *
take(EmogiYen *ranking, uint64_t count, size_t bytes)
{
	void	   *items = NULL;

	if (ranking->bytes + count * bytes <= ranking->max_bytes &&
		emogi_job_may_allocate(&ranking->job))
		items = calloc(count, bytes);
	if (items == NULL)
		emogi_job_fail(&ranking->job, EMOGI_NO_MEMORY);
	else
		ranking->bytes += count * bytes;
	return items;
}

/* Replace the hash table by an array of all vertices. */
static bool
use_places(EmogiYen *ranking)
{
	ranking->places = take(ranking, ranking->nvertices, sizeof *ranking->places);
	if (ranking->places == NULL)
		return false;
	for (uint64_t i = 0; ranking->slots != NULL && i <= ranking->slot_mask; i++)
		if (ranking->slots[i].place != 0)
			ranking->places[ranking->slots[i].id] = ranking->slots[i].place;
	if (ranking->slots != NULL)
		ranking->bytes -= (ranking->slot_mask + 1) * sizeof *ranking->slots;
	free(ranking->slots);
	ranking->slots = NULL;
	return true;
}

/* Move the states to a hash table of `count` slots, or to an array if that is not larger. */
static bool
use_slots(EmogiYen *ranking, uint64_t count)
{
	EmogiYenSlot *before = ranking->slots;
	const uint64_t before_mask = ranking->slot_mask;
	EmogiYenSlot *slots;

	if (count * sizeof *slots >= ranking->nvertices * sizeof *ranking->places)
		return use_places(ranking);
	slots = take(ranking, count, sizeof *slots);
	if (slots == NULL)
		return false;
	ranking->slots = slots;
	ranking->slot_mask = count - 1;
	for (uint64_t i = 0; before != NULL && i <= before_mask; i++)
		if (before[i].place != 0)
			*emogi_yen_slot(ranking, before[i].id) = before[i];
	if (before != NULL)
		ranking->bytes -= (before_mask + 1) * sizeof *before;
	free(before);
	return true;
}

bool
emogi_yen_states_begin(EmogiYen *ranking)
{
	return use_slots(ranking, MIN_SLOTS);
}

/* Allocate a chunk of states. */
static bool
add_chunk(EmogiYen *ranking)
{
	EmogiYenState *chunk;

	if (!emogi_yen_reserve(ranking, (void **) &ranking->chunks, &ranking->chunks_room,
						   ranking->nchunks + 1, sizeof *ranking->chunks))
		return false;
	chunk = take(ranking, EMOGI_YEN_CHUNK, sizeof *chunk);
	if (chunk == NULL)
		return false;
	ranking->chunks[ranking->nchunks++] = chunk;
	return true;
}

EmogiYenState *
emogi_yen_states_add(EmogiYen *ranking, uint32_t id)
{
	const uint32_t place = ranking->nstates;

	if ((place / EMOGI_YEN_CHUNK == ranking->nchunks && !add_chunk(ranking)) ||
		(ranking->slots != NULL && place >= ranking->slot_mask / 2 &&
		 !use_slots(ranking, 2 * (ranking->slot_mask + 1))))
		return &ranking->spare;
	if (ranking->slots != NULL)
		*emogi_yen_slot(ranking, id) = (EmogiYenSlot) {id, place + 1};
	else
		ranking->places[id] = place + 1;
	ranking->nstates++;
	return &ranking->chunks[place / EMOGI_YEN_CHUNK][place % EMOGI_YEN_CHUNK];
}

void
emogi_yen_states_free(EmogiYen *ranking)
{
	for (uint64_t i = 0; i < ranking->nchunks; i++)
		free(ranking->chunks[i]);
	free(ranking->chunks);
	free(ranking->slots);
	free(ranking->places);
}
