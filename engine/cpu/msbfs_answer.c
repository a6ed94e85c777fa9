/*
 * msbfs_answer.c: convert the bit planes of a multi-source search to its result, rows or lists by
 * source; and count the words of a level by source, 64 words at a time.
 */
#include "msbfs_steps.h"

#include <string.h>

/*
 * In each group of 2 * half words, swap the high halves of the first `half` words with the low
 * halves of the others.
 */
static inline __attribute__((always_inline)) void
swap_halves(uint64_t *bits, const int half, const uint64_t low)
{
	for (int first = 0; first < 64; first += 2 * half)
	{
		for (int i = first; i < first + half; i++)
		{
			uint64_t	swap = ((bits[i] >> half) ^ bits[i + half]) & low;

			bits[i] ^= swap << half;
			bits[i + half] ^= swap;
		}
	}
}

/* Transpose 64 x 64 bits: bit j of word i becomes bit i of word j. */
static void
transpose(uint64_t *bits)
{
	swap_halves(bits, 32, UINT64_C(0x00000000FFFFFFFF));
	swap_halves(bits, 16, UINT64_C(0x0000FFFF0000FFFF));
	swap_halves(bits, 8, UINT64_C(0x00FF00FF00FF00FF));
	swap_halves(bits, 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
	swap_halves(bits, 2, UINT64_C(0x3333333333333333));
	swap_halves(bits, 1, UINT64_C(0x5555555555555555));
}

/* Transpose the words of up to 64 vertices; false if all are zero. */
static bool
take_bits(uint64_t *bits, const uint64_t *words, uint64_t count)
{
	uint64_t	any = 0;

	for (uint64_t i = 0; i < count; i++)
		any |= bits[i] = words[i];
	if (any == 0)
		return false;
	memset(bits + count, 0, (64 - count) * sizeof(uint64_t));
	transpose(bits);
	return true;
}

/* Convert the planes of all vertices to rows, and count reached vertices by source. */
static void
make_rows(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	const EmogiMsbfsResult *result = search->result;
	const uint64_t nplanes = (uint64_t) result->nplanes;
	uint64_t   *counts = search->thread_counts[thread];
	uint64_t	bits[64];
	uint64_t	rows[EMOGI_MSBFS_SOURCES][EMOGI_MSBFS_ROW_CHUNK * EMOGI_MSBFS_PLANES];
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_ROW_CHUNK, search->nwords, &first, &last))
	{
		for (uint64_t w = first; w < last; w++)
		{
			uint64_t	seen[64] = {0};
			uint64_t	count = emogi_cpu_run_chunk_end(w * 64, 64, search->nvertices) - w * 64;

			for (uint64_t k = 0; k < nplanes; k++)
			{
				bool		any = take_bits(bits, search->planes[k] + w * 64, count);

				for (int s = 0; s < result->nsources; s++)
					seen[s] |= rows[s][(w - first) * nplanes + k] = any ? bits[s] : 0;
			}
			for (int s = 0; s < result->nsources; s++)
				counts[s] += emogi_msbfs_count_bits(seen[s]);
		}
		for (int s = 0; s < result->nsources; s++)
			memcpy((uint64_t *) result->memory + (uint64_t) s * result->row_words + first * nplanes,
				   rows[s], (last - first) * nplanes * sizeof(uint64_t));
	}
}

/* Count the touched vertices by chunk and source. */
static void
count_lists(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_LIST_CHUNK, search->nwords, &first, &last))
	{
		uint64_t   *counts = search->counts[first / EMOGI_MSBFS_LIST_CHUNK];

		for (uint64_t w = first; w < last; w++)
		{
			for (uint64_t bits = search->touched[w]; bits != 0; bits &= bits - 1)
			{
				uint64_t	seen = search->seen[w * 64 + (uint64_t) __builtin_ctzll(bits)];

				for (; seen != 0; seen &= seen - 1)
					counts[__builtin_ctzll(seen)]++;
			}
		}
	}
}

/* Convert the touched vertices to lists. */
static void
make_lists(void *arg, int thread, int nthreads)
{
	EmogiMsbfs *search = arg;
	uint32_t   *vertices = search->result->memory;
	uint8_t    *levels = (uint8_t *) (vertices + search->result->starts[search->result->nsources]);
	uint64_t	first,
				last;

	while (emogi_msbfs_take(search, EMOGI_MSBFS_LIST_CHUNK, search->nwords, &first, &last))
	{
		uint64_t   *places = search->counts[first / EMOGI_MSBFS_LIST_CHUNK];

		for (uint64_t w = first; w < last; w++)
		{
			for (uint64_t bits = search->touched[w]; bits != 0; bits &= bits - 1)
			{
				uint64_t	v = w * 64 + (uint64_t) __builtin_ctzll(bits);

				for (uint64_t seen = search->seen[v]; seen != 0; seen &= seen - 1)
				{
					int			s = __builtin_ctzll(seen);
					uint32_t	code = 0;

					for (int k = 0; k < search->nplanes; k++)
						code |= (uint32_t) (search->planes[k][v] >> s & 1) << k;
					vertices[places[s]] = (uint32_t) v;
					levels[places[s]++] = (uint8_t) (code - 1);
				}
			}
		}
	}
}

/* Convert the counts by chunk to the positions of each chunk in the lists. */
static void
place_lists(EmogiMsbfs *search, uint64_t nchunks)
{
	EmogiMsbfsResult *result = search->result;
	uint64_t	place = 0;

	for (int s = 0; s < result->nsources; s++)
	{
		result->starts[s] = place;
		for (uint64_t c = 0; c < nchunks; c++)
		{
			uint64_t	count = search->counts[c][s];

			search->counts[c][s] = place;
			place += count;
		}
		result->nreached[s] = place - result->starts[s];
	}
	result->starts[result->nsources] = place;
}

/*
 * Get the words of a row: whole cache lines, and an odd number of them, so that rows do not all map
 * to the same cache sets.
 */
uint64_t
emogi_msbfs_row_words(uint64_t nvertices, int nplanes)
{
	uint64_t	nlines = ((nvertices + 63) / 64 * (uint64_t) nplanes + 15) / 16;

	return (nlines | 1) * 16;
}

/* Convert the planes to the result; false if the job has stopped. */
bool
emogi_msbfs_make_answer(EmogiMsbfs *search)
{
	EmogiMsbfsResult *result = search->result;
	uint64_t	nchunks = (search->nwords + EMOGI_MSBFS_LIST_CHUNK - 1) / EMOGI_MSBFS_LIST_CHUNK;
	int			nplanes = 32 - __builtin_clz(result->nlevels);

	result->row_words = emogi_msbfs_row_words(result->nvertices, nplanes);
	result->used_bytes = (uint64_t) result->nsources * result->row_words * sizeof(uint64_t);
	if (search->only_queues)
	{
		if (!emogi_cpu_run_step(&search->run, count_lists, search, false))
			return false;
		place_lists(search, nchunks);
		if (result->starts[result->nsources] * 5 <= result->used_bytes)
		{
			result->row_words = 0;
			result->used_bytes = result->starts[result->nsources] * 5;
			return emogi_cpu_run_step(&search->run, make_lists, search, false);
		}
	}
	result->nplanes = nplanes;
	if (!emogi_cpu_run_step(&search->run, make_rows, search, false))
		return false;
	for (int s = 0; s < result->nsources; s++)
	{
		result->nreached[s] = 0;
		for (int t = 0; t < emogi_pool_size(search->run.pool); t++)
			result->nreached[s] += search->thread_counts[t][s];
	}
	return true;
}

void
emogi_msbfs_count_words(EmogiMsbfsCounter *counter)
{
	uint64_t	bits[64];

	if (take_bits(bits, counter->words, counter->nwords))
	{
		for (int s = 0; s < EMOGI_MSBFS_SOURCES; s++)
			counter->counts[s] += emogi_msbfs_count_bits(bits[s]);
	}
	counter->nwords = 0;
}

/* Add the vertices of a level to a source's sums. */
static void
add_to_sums(EmogiMsbfsSums *sums, uint64_t count, uint32_t level)
{
	if (count == 0)
		return;
	if (sums->count == 0)
		sums->min = level;
	sums->max = level;			/* levels come in ascending order */
	sums->count += count;
	sums->sum += count * level;
	if (level > 0)
		sums->harmonic += (double) count / (double) level;
}

void
emogi_msbfs_add_level(EmogiMsbfs *search, uint32_t level)
{
	EmogiMsbfsResult *result = search->result;
	const bool	is_wanted = level >= result->first_level && level <= result->last_level;
	uint64_t	counts[EMOGI_MSBFS_SOURCES] = {0};

	for (int t = 0; t < emogi_pool_size(search->run.pool); t++)
	{
		EmogiMsbfsCounter *counter = &search->level_counts[t];

		emogi_msbfs_count_words(counter);
		for (int s = 0; s < result->nsources; s++)
			counts[s] += counter->counts[s];
		memset(counter->counts, 0, sizeof counter->counts);
	}
	for (int s = 0; s < result->nsources; s++)
	{
		result->nreached[s] += counts[s];
		if (is_wanted)
			/* one addition for all threads, so that rounding does not depend on them */
			add_to_sums(&result->sums[s], counts[s], level);
	}
}
