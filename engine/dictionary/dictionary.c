/*
 * dictionary.c: build a dictionary from a key table, and translate edge endpoints into codes.
 *
 * The keys are listed and sorted (or come in order), counted in pieces, and copied to the arena in
 * order. This pass also inserts each key into the hash table and writes rank_of[temporary], which
 * maps temporary numbers to ranks. A last pass turns the edge endpoints into codes. All steps run
 * on all threads.
 *
 * If two keys compete for a slot, the smaller one gets it and the other moves on to the next slot.
 * The hash table is therefore the same for every schedule of the threads [1].
 *
 * [1] J. Shun, G. E. Blelloch. Phase-concurrent hash tables for determinism. SPAA 2014. Section 4.
 */
#include "dictionary_parts.h"
#include "key_sort.h"

#include <stdio.h>

#define MAX_SHIFT 40
#define MIN_ROOM_KEYS 1024
#define PIECE_KEYS 8192
#define PIECE_BYTES ((size_t) 1 << 20)	/* unit of populating */
#define KEYS_PER_POLL 256
#define EDGES_PER_POLL 4096
#define PREFETCH_KEYS 16		/* prefetch distance in keys, and keys that wait for insertion into
								 * the hash table */

_Static_assert(sizeof(EmogiDictionary) % EMOGI_LINE_BYTES == 0,
			   "what follows the header is aligned");

/* Consecutive keys that one thread counts and writes. */
typedef struct Piece
{
	uint64_t	nkeys;			/* distinct keys; after the prefix sum, those of the pieces
								 * before */
	uint64_t	bytes;			/* likewise for their bytes */
} Piece;

typedef struct DictionaryBuild
{
	EmogiJob   *job;
	const EmogiDictionaryInput *input;
	EmogiDictionary *dictionary;
	uint64_t	nkeys;			/* keys in the table */
	Piece	   *pieces;			/* [npieces] */
	uint64_t	npieces;
	EmogiSortedKey *sorted;		/* [nkeys]; NULL if the input has an order */
	void	   *sort_scratch;
	uint32_t   *rank_of;		/* [ntemporaries], reuses the memory of sort_scratch */
	uint64_t	starts[EMOGI_KEY_PARTITIONS];	/* first key of each partition in sorted */
	char	   *populate;		/* memory to populate, and to clear if `clear` */
	size_t		populate_bytes;
	bool		clear;
	uint64_t	next;			/* atomic: next piece, partition or chunk */
} DictionaryBuild;

/* A key whose slot is being prefetched. */
typedef struct WaitingKey
{
	uint64_t	home;
	uint32_t	slot;			/* 0 = no key waits */
} WaitingKey;

/* ---- layout ---- */

/* Round up to a multiple of the cache line size. */
static inline uint64_t
whole_lines(uint64_t bytes)
{
	return (bytes + EMOGI_LINE_BYTES - 1) & ~(uint64_t) (EMOGI_LINE_BYTES - 1);
}

int
emogi_dictionary_plan_shift(uint64_t nkeys)
{
	int			shift = MAX_SHIFT;

	while (shift > 0 && nkeys + 2 > EMOGI_CODES >> shift)
		shift--;
	return shift;
}

uint64_t
emogi_dictionary_plan_room(uint64_t nkeys, uint64_t wanted)
{
	uint64_t	room_keys = nkeys / 8 > MIN_ROOM_KEYS ? nkeys / 8 : MIN_ROOM_KEYS;

	room_keys = wanted > room_keys ? wanted : room_keys;
	return room_keys < EMOGI_MAX_VERTICES - nkeys ? room_keys : EMOGI_MAX_VERTICES - nkeys;
}

/*
 * Fill in all fields of the header that follow from the number and bytes of the keys; return the
 * size of the block.
 */
static uint64_t
lay_out(EmogiDictionary *dictionary, uint64_t nkeys, uint64_t key_bytes, uint32_t fixed_length,
		uint64_t room_keys)
{
	uint64_t	max;

	memset(dictionary, 0, sizeof(*dictionary));
	dictionary->nkeys = nkeys;
	dictionary->arena_bytes = key_bytes;
	dictionary->fixed_length = fixed_length;
	dictionary->offset_bytes = fixed_length > 0 ? 0 : key_bytes <= UINT32_MAX ? 4 : 8;
	dictionary->shift = emogi_dictionary_plan_shift(nkeys);
	dictionary->room_keys = emogi_dictionary_plan_room(nkeys, room_keys);
	max = nkeys + dictionary->room_keys;
	dictionary->number_bits = 64 - (uint32_t) __builtin_clzll(max);
	dictionary->nslots = max + max / 3 + 1;
	dictionary->slots_at = sizeof(EmogiDictionary);
	dictionary->offsets_at = dictionary->slots_at +
		whole_lines(dictionary->nslots * sizeof(uint32_t));
	dictionary->arena_at = dictionary->offsets_at +
		whole_lines((nkeys + 1) * dictionary->offset_bytes);
	return dictionary->arena_at + whole_lines(key_bytes);
}

size_t
emogi_dictionary_bytes(const EmogiKeyTable *table, uint32_t fixed_length, uint64_t room_keys)
{
	EmogiDictionary dictionary;

	return lay_out(&dictionary, emogi_key_table_nkeys(table), emogi_key_table_key_bytes(table),
				   fixed_length, room_keys);
}

EmogiDictionary *
emogi_dictionary_make_empty(const EmogiKeyTable *table, uint32_t fixed_length, uint64_t room_keys,
							void *memory)
{
	EmogiDictionary *dictionary = memory;

	memset(memory, 0, lay_out(dictionary, 0, 0, fixed_length, room_keys));
	(void) lay_out(dictionary, 0, 0, fixed_length, room_keys);
	dictionary->hash = table->hash;
	return dictionary;
}

/* Get the number of pieces of nkeys keys. */
static uint64_t
count_pieces(uint64_t nkeys)
{
	return (nkeys + PIECE_KEYS - 1) / PIECE_KEYS;
}

/* Get the bytes of the scratch memory, and set the pointers to its parts. */
static uint64_t
lay_out_scratch(DictionaryBuild *build, const EmogiKeyTable *table, uint64_t nkeys, bool ordered,
				int nthreads, char *scratch)
{
	const uint64_t ranks_bytes = emogi_key_table_ntemporaries(table) * sizeof(uint32_t);
	const uint64_t sort_bytes = ordered ? 0 : emogi_key_sort_scratch_bytes(nkeys, nthreads);
	uint64_t	bytes = whole_lines(count_pieces(nkeys) * sizeof(Piece));

	build->nkeys = nkeys;
	build->pieces = (Piece *) scratch;
	build->npieces = count_pieces(nkeys);
	build->sorted = ordered ? NULL : (EmogiSortedKey *) (scratch + bytes);
	bytes += ordered ? 0 : whole_lines(nkeys * sizeof(EmogiSortedKey));
	build->sort_scratch = scratch + bytes;
	build->rank_of = (uint32_t *) (scratch + bytes);
	return bytes + whole_lines(ranks_bytes > sort_bytes ? ranks_bytes : sort_bytes);
}

size_t
emogi_dictionary_scratch_bytes(const EmogiKeyTable *table, bool ordered, int nthreads)
{
	DictionaryBuild build;

	return lay_out_scratch(&build, table, emogi_key_table_nkeys(table), ordered, nthreads, NULL);
}

/* ---- steps ---- */

/* Populate memory, and clear it if requested. */
static void
populate_pieces(void *arg, int thread, int nthreads)
{
	DictionaryBuild *build = arg;
	uint64_t	first;

	while (!emogi_job_stopped(build->job) &&
		   (first = emogi_job_claim(&build->next, PIECE_BYTES)) < build->populate_bytes)
	{
		const size_t bytes = build->populate_bytes - first < PIECE_BYTES
			? build->populate_bytes - first : PIECE_BYTES;

		if (!emogi_job_populate(build->job, build->populate + first, bytes))
			emogi_job_fail(build->job, EMOGI_NO_MEMORY);
		else if (build->clear)
			memset(build->populate + first, 0, bytes);
	}
}

/* List the keys of all partitions. */
static void
list_partitions(void *arg, int thread, int nthreads)
{
	DictionaryBuild *build = arg;

	for (uint64_t p; emogi_job_take(build->job, &build->next, EMOGI_KEY_PARTITIONS, &p);)
	{
		const uint64_t end = p + 1 < EMOGI_KEY_PARTITIONS ? build->starts[p + 1] : build->nkeys;
		EmogiSortedKey *keys = build->sorted + build->starts[p];
		const uint64_t nkeys = end - build->starts[p];
		const EmogiKeyRecord **records = (const EmogiKeyRecord **) ((char *) (keys + nkeys) -
																	nkeys * sizeof(*records));

		/*
		 * The records occupy the second half of the memory of the keys; none is overwritten before
		 * it is read.
		 */
		emogi_key_partition_list(build->input->table, &build->input->table->partitions[p], records);
		for (uint64_t i = 0; i < nkeys; i++)
		{
			const EmogiKeyRecord *record = records[i];

			keys[i] = (EmogiSortedKey) {0, record};
		}
	}
}

/* Get the i-th key in order, and whether it differs from the previous one. */
static inline EmogiTemporaryKey
key_in_order(const DictionaryBuild *build, uint64_t i, bool *isnew)
{
	const EmogiKeyOrder *order = build->input->order;
	const EmogiKeyRecord *record;

	*isnew = order == NULL || order->is_equal == NULL || i == 0 || !order->is_equal[i];
	if (order != NULL)
		return order->keys[i];
	record = build->sorted[i].record;
	return (EmogiTemporaryKey) {{record->bytes, record->length}, record->temporary};
}

/* Prefetch the i-th key in order. */
static inline void
prefetch_key(const DictionaryBuild *build, uint64_t i)
{
	__builtin_prefetch(build->sorted != NULL ? (const char *) build->sorted[i].record
					   : build->input->order->keys[i].key.bytes);
}

/* Count the distinct keys of each piece and their bytes. */
static void
count_keys(void *arg, int thread, int nthreads)
{
	DictionaryBuild *build = arg;

	for (uint64_t p; emogi_job_take(build->job, &build->next, build->npieces, &p);)
	{
		const uint64_t end = (p + 1) * PIECE_KEYS < build->nkeys ? (p + 1) * PIECE_KEYS
			: build->nkeys;
		const uint32_t fixed_length = build->input->fixed_length;
		Piece		piece = {0, 0};

		for (uint64_t i = p * PIECE_KEYS; i < end; i++)
		{
			bool		isnew = true;
			uint32_t	length = fixed_length;

			if (fixed_length == 0 || build->sorted == NULL)
			{
				if (i + PREFETCH_KEYS < end && build->sorted != NULL)
					prefetch_key(build, i + PREFETCH_KEYS);
				length = key_in_order(build, i, &isnew).key.length;
			}
			piece.nkeys += isnew;
			piece.bytes += isnew ? length : 0;
		}
		build->pieces[p] = piece;
	}
}

/* Insert a slot into the hash table, moving larger slots on. */
static void
put_slot(EmogiDictionary *dictionary, WaitingKey key)
{
	uint32_t   *slots = emogi_dictionary_slots(dictionary);
	uint64_t	at = key.home;
	uint32_t	slot = key.slot;

	while (slot != 0)
	{
		uint32_t	there = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);

		if (there == 0 || there > slot)
		{
			if (!__atomic_compare_exchange_n(&slots[at], &there, slot, false, __ATOMIC_RELAXED,
											 __ATOMIC_RELAXED))
				continue;
			slot = there;
		}
		at = at + 1 < dictionary->nslots ? at + 1 : 0;
	}
}

/* Write a key with its number, and queue it for insertion into the hash table. */
static void
write_key(EmogiDictionary *dictionary, EmogiKeyBytes key, uint64_t number, uint64_t offset,
		  WaitingKey *waiting)
{
	char	   *block = (char *) dictionary;
	const uint64_t hash = emogi_key_hash(&dictionary->hash, key.bytes, key.length);

	if (dictionary->offset_bytes == 4)
		((uint32_t *) (block + dictionary->offsets_at))[number] = (uint32_t) offset;
	else if (dictionary->offset_bytes == 8)
		((uint64_t *) (block + dictionary->offsets_at))[number] = offset;
	if (key.length > 0)
		memcpy(block + dictionary->arena_at + offset, key.bytes, key.length);
	if (waiting->slot != 0)
		put_slot(dictionary, *waiting);
	waiting->home = emogi_dictionary_home(hash, dictionary->nslots);
	waiting->slot = emogi_dictionary_slot(dictionary, hash, number);
	__builtin_prefetch(emogi_dictionary_slots(dictionary) + waiting->home, 1);
}

/* Write the keys of a piece and their ranks. */
static void
write_piece(DictionaryBuild *build, uint64_t p)
{
	const uint64_t end = (p + 1) * PIECE_KEYS < build->nkeys ? (p + 1) * PIECE_KEYS : build->nkeys;
	WaitingKey	waiting[PREFETCH_KEYS] = {{0, 0}};
	uint64_t	rank = build->pieces[p].nkeys;
	uint64_t	offset = build->pieces[p].bytes;

	for (uint64_t i = p * PIECE_KEYS; i < end; i++)
	{
		bool		isnew;
		const EmogiTemporaryKey key = key_in_order(build, i, &isnew);

		if (i % KEYS_PER_POLL == 0 && emogi_job_stopped(build->job))
			return;
		if (i + PREFETCH_KEYS < end)
			prefetch_key(build, i + PREFETCH_KEYS);
		if (isnew)
		{
			write_key(build->dictionary, key.key, rank, offset, &waiting[rank % PREFETCH_KEYS]);
			rank++;
			offset += key.key.length;
		}
		build->rank_of[key.temporary] = (uint32_t) (rank - 1);
	}
	for (int i = 0; i < PREFETCH_KEYS; i++)
	{
		if (waiting[i].slot != 0)
			put_slot(build->dictionary, waiting[i]);
	}
}

/* Write all pieces. */
static void
write_keys(void *arg, int thread, int nthreads)
{
	DictionaryBuild *build = arg;

	for (uint64_t p; emogi_job_take(build->job, &build->next, build->npieces, &p);)
		write_piece(build, p);
}

/* Turn the endpoints of `count` edges of a chunk into codes. */
static void
renumber_edges(const DictionaryBuild *build, EmogiEdgeChunk *chunk, uint64_t first, uint64_t count)
{
	const EmogiDictionary *dictionary = build->dictionary;
	const uint32_t *rank_of = build->rank_of;
	EmogiWeightedEdge *weighted = emogi_weighted_edges(chunk);
	uint32_t	min = UINT32_MAX,
				max = 0;
	int64_t		code;

	for (uint64_t i = first; i < first + count; i++)
	{
		int64_t    *src = build->input->edges->weighted ? &weighted[i].src : &chunk->edges[i].src;
		int64_t    *dst = build->input->edges->weighted ? &weighted[i].dst : &chunk->edges[i].dst;
		const uint32_t s = rank_of[*src],
					d = rank_of[*dst];

		min = s < min ? s : min;
		min = d < min ? d : min;
		max = s > max ? s : max;
		max = d > max ? d : max;
		*src = emogi_dictionary_built_code(dictionary, s);
		*dst = emogi_dictionary_built_code(dictionary, d);
	}
	code = emogi_dictionary_built_code(dictionary, min);
	chunk->min_key = first == 0 || code < chunk->min_key ? code : chunk->min_key;
	code = emogi_dictionary_built_code(dictionary, max);
	chunk->max_key = first == 0 || code > chunk->max_key ? code : chunk->max_key;
}

/* Turn the endpoints of all edges into codes. */
static void
renumber_chunks(void *arg, int thread, int nthreads)
{
	DictionaryBuild *build = arg;
	const EmogiEdges *edges = build->input->edges;
	uint64_t	c;

	while ((c = emogi_job_claim(&build->next, 1)) < edges->nchunks)
	{
		EmogiEdgeChunk *chunk = edges->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i += EDGES_PER_POLL)
		{
			if (emogi_job_stopped(build->job))
				return;
			renumber_edges(build, chunk, i,
						   chunk->nedges - i < EDGES_PER_POLL ? chunk->nedges - i : EDGES_PER_POLL);
		}
		emogi_job_done(build->job, chunk->nedges);
	}
}

/* ---- the build ---- */

/* Run one task of the build from its first unit; false if the job was stopped. */
static bool
run_task(EmogiPool *pool, DictionaryBuild *build, EmogiPoolTask task)
{
	build->next = 0;
	emogi_pool_run(pool, task, build);
	return !emogi_job_stopped(build->job);
}

/* Populate memory, and clear it if requested; false if the job was stopped. */
static bool
populate(EmogiPool *pool, DictionaryBuild *build, void *memory, size_t bytes, bool clear)
{
	build->populate = memory;
	build->populate_bytes = bytes;
	build->clear = clear;
	return run_task(pool, build, populate_pieces);
}

/* List and sort the keys of the table. */
static bool
sort_keys(EmogiPool *pool, DictionaryBuild *build)
{
	uint64_t	sum = 0;

	for (int p = 0; p < EMOGI_KEY_PARTITIONS; p++)
	{
		build->starts[p] = sum;
		sum += emogi_key_partition_nkeys(&build->input->table->partitions[p]);
	}
	return run_task(pool, build, list_partitions) &&
		emogi_key_sort(pool, build->sorted, build->nkeys, build->sort_scratch, build->job);
}

/* Count the keys, and write the header, a cleared hash table, and zeros as padding. */
static bool
begin_dictionary(EmogiPool *pool, DictionaryBuild *build)
{
	const EmogiDictionaryInput *input = build->input;
	EmogiDictionary header;
	Piece		sum = {0, 0};
	uint64_t	bytes;

	if (!run_task(pool, build, count_keys))
		return false;
	for (uint64_t p = 0; p < build->npieces; p++)
	{
		const Piece piece = build->pieces[p];

		build->pieces[p] = sum;
		sum.nkeys += piece.nkeys;
		sum.bytes += piece.bytes;
	}
	bytes = lay_out(&header, sum.nkeys, sum.bytes, input->fixed_length, input->room_keys);
	header.hash = input->table->hash;
	if (!populate(pool, build, input->memory, header.offsets_at, true) ||
		!populate(pool, build, (char *) input->memory + header.offsets_at,
				  bytes - header.offsets_at, false))
		return false;
	*build->dictionary = header;
	if (header.offset_bytes > 0)
		memset((char *) input->memory + header.arena_at - EMOGI_LINE_BYTES, 0, EMOGI_LINE_BYTES);
	if (bytes > header.arena_at)
		memset((char *) input->memory + bytes - EMOGI_LINE_BYTES, 0, EMOGI_LINE_BYTES);
	if (header.offset_bytes == 4)
		((uint32_t *) ((char *) input->memory +
					   header.offsets_at))[sum.nkeys] = (uint32_t) sum.bytes;
	else if (header.offset_bytes == 8)
		((uint64_t *) ((char *) input->memory + header.offsets_at))[sum.nkeys] = sum.bytes;
	return true;
}

/* Fill in the error message if out of memory, and return the status of the job. */
static EmogiStatus
report(const DictionaryBuild *build, EmogiError *error)
{
	if (build->job->status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof(error->message), "out of memory while building a graph");
		snprintf(error->detail, sizeof(error->detail), "%llu keys, %llu edges",
				 (unsigned long long) build->nkeys,
				 (unsigned long long) build->input->edges->nedges);
	}
	return (EmogiStatus) build->job->status;
}

EmogiStatus
emogi_dictionary_build(EmogiPool *pool, const EmogiDictionaryInput *input,
					   EmogiDictionary **dictionary,
					   EmogiControl *control, EmogiError *error)
{
	EmogiJob	job = {.control = control};
	DictionaryBuild build = {.job = &job, .input = input, .dictionary = input->memory};
	const bool	ordered = input->order != NULL;
	uint64_t	scratch_bytes;

	emogi_job_phase(&job, EMOGI_PHASE_KEYS, input->edges->nedges);
	scratch_bytes = lay_out_scratch(&build, input->table, emogi_key_table_nkeys(input->table),
									ordered, emogi_pool_size(pool),
									input->scratch);
	if (populate(pool, &build, input->scratch, scratch_bytes, false) &&
		(ordered || sort_keys(pool, &build)) &&
		begin_dictionary(pool, &build) &&
		run_task(pool, &build, write_keys) &&
		run_task(pool, &build, renumber_chunks))
		*dictionary = build.dictionary;
	return report(&build, error);
}
