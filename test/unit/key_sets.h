/*
 * key_sets.h: fixture of the tests of engine/dictionary/: sets of keys of many shapes, sorted by
 * qsort as the oracle, and memory shared by processes
 */
#ifndef EMOGI_KEY_SETS_H
#define EMOGI_KEY_SETS_H

#include "check.h"
#include "contract/builder.h"
#include "threads/pool.h"
#include "dictionary/key_table_parts.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t test_words[4] = {UINT64_C(0x243F6A8885A308D3), UINT64_C(0x13198A2E03707344),
UINT64_C(0xA4093822299F31D0), UINT64_C(0x082EFA98EC4E6C89)};

/* ---- keys ---- */

typedef enum KeyShape
{
	UUIDS,						/* 16 random bytes */
	TEXTS,						/* 0 to 60 bytes of a small alphabet */
	TWO_FRONTS,					/* long keys that differ in the first byte */
	PREFIXES,					/* keys that are prefixes of each other */
	ZEROS,						/* short keys of bytes 0, 1, 255 */
	LONG_KEYS,					/* 1 MiB, different at the end */
	ONE_KEY,
	NSHAPES
} KeyShape;

/* The endpoints of edges, and their distinct keys. */
typedef struct KeySet
{
	KeyShape	shape;
	uint64_t	nends;
	EmogiKeyBytes *ends;		/* [nends], of all edges: src, dst, src, dst, ... */
	uint64_t	nkeys;
	EmogiKeyBytes *sorted;		/* [nkeys], distinct, ascending */
	char	   *bytes;
} KeySet;

/* Mix bits; a bijection. */
static inline uint64_t
mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xE9846AF9B1A615D);
	x ^= x >> 32;
	x *= UINT64_C(0xE9846AF9B1A615D);
	return x ^ x >> 28;
}

static uint64_t seed = 1;

/* Draw a number below n. */
static inline uint64_t
draw(uint64_t n)
{
	return mix(seed++) % n;
}

/* Get the maximum length of a key of a shape. */
static inline size_t
shape_bytes(KeyShape shape)
{
	return shape == LONG_KEYS ? EMOGI_MAX_KEY_BYTES : shape == PREFIXES ? 3000 : 64;
}

/* Write the key of vertex v; returns its length. */
static inline uint32_t
write_key(KeyShape shape, uint64_t v, char *to)
{
	const uint64_t x = mix(v + 1000);
	const uint64_t y = mix(x + 77);
	uint32_t	length = 0;

	switch (shape)
	{
		case UUIDS:
			memcpy(to, &x, 8);
			memcpy(to + 8, &y, 8);
			return 16;
		case TEXTS:
			for (length = 0; length < x % 61; length++)
				to[length] = (char) ('a' + (y >> length & 3) % 3);
			return length;
		case TWO_FRONTS:
			length = (uint32_t) sprintf(to, "%cttps://example.org/item/", v & 1 ? 'g' : 'h');
			return length + (uint32_t) sprintf(to + length, v % 3 == 0 ? "%llx" : "%llu",
											   (unsigned long long) x);
		case PREFIXES:
			memset(to, 'x', v % 3000);
			return (uint32_t) (v % 3000);
		case ZEROS:
			for (length = 0; length < v % 11; length++)
				to[length] = (char) (x >> (2 * length) & 3) -
					((x >> (2 * length) & 3) == 2 ? 3 : 0);
			return length;
		case LONG_KEYS:
			memset(to, 'l', EMOGI_MAX_KEY_BYTES);
			to[EMOGI_MAX_KEY_BYTES - 1 - v % 5] = (char) v;
			return EMOGI_MAX_KEY_BYTES - (uint32_t) (v % 3);
		default:
			memcpy(to, "only", 4);
			return 4;
	}
}

/* Order keys for qsort. */
static inline int
compare_for_qsort(const void *a, const void *b)
{
	const EmogiKeyBytes *x = a,
			   *y = b;
	const int	order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);

	return order != 0 ? order : (int) (x->length > y->length) - (int) (x->length < y->length);
}

/*
 * Make a set of nends endpoints among nvertices vertices. If power_law, the first vertices have
 * most of them.
 */
static inline KeySet
make_set(KeyShape shape, uint64_t nvertices, uint64_t nends, bool power_law)
{
	KeySet		set = {.shape = shape, .nends = nends};
	uint64_t   *at = malloc((nvertices + 1) * sizeof(uint64_t));
	char	   *buffer = malloc(shape_bytes(shape));
	size_t		used = 0;

	set.ends = malloc(nends * sizeof(EmogiKeyBytes));
	set.sorted = malloc(nends * sizeof(EmogiKeyBytes));
	for (uint64_t v = 0; v < nvertices; v++)
	{
		at[v] = used;
		used += write_key(shape, v, buffer);
	}
	at[nvertices] = used;
	set.bytes = malloc(used + 1);
	for (uint64_t v = 0; v < nvertices; v++)
	{
		write_key(shape, v, buffer);
		memcpy(set.bytes + at[v], buffer, at[v + 1] - at[v]);
	}
	for (uint64_t i = 0; i < nends; i++)
	{
		const uint64_t v = power_law ? draw(1 + draw(1 + draw(nvertices))) : draw(nvertices);

		set.ends[i] = (EmogiKeyBytes) {set.bytes + at[v], (uint32_t) (at[v + 1] - at[v])};
	}
	memcpy(set.sorted, set.ends, nends * sizeof(EmogiKeyBytes));
	qsort(set.sorted, nends, sizeof(EmogiKeyBytes), compare_for_qsort);
	for (uint64_t i = 0; i < nends; i++)
	{
		if (i == 0 || compare_for_qsort(&set.sorted[i], &set.sorted[set.nkeys - 1]) != 0)
			set.sorted[set.nkeys++] = set.sorted[i];
	}
	free(buffer);
	free(at);
	return set;
}

/* Free it. */
static inline void
free_set(KeySet *set)
{
	free(set->ends);
	free(set->sorted);
	free(set->bytes);
}

/* Get the position of a key among the sorted ones, or UINT64_MAX. */
static inline uint64_t
rank_in_set(const KeySet *set, EmogiKeyBytes key)
{
	const EmogiKeyBytes *found = bsearch(&key, set->sorted, set->nkeys, sizeof(EmogiKeyBytes),
										 compare_for_qsort);

	return found == NULL ? UINT64_MAX : (uint64_t) (found - set->sorted);
}

/* ---- a table in memory shared by processes ---- */

#define SHARED_BYTES ((size_t) 3 << 30)
#define MAX_ENDS ((size_t) 2 << 20)

typedef struct Shared
{
	uint64_t	next;			/* atomic: offset of the next piece */
	uint32_t	numbers[MAX_ENDS];	/* temporary numbers */
} Shared;

static Shared *shared;
static EmogiKeyTable *table;
/* number of allocations before the one that fails; < 0 = none fails */
static int	pieces_left = -1;
static jmp_buf no_piece;

/* Allocate a piece of shared memory with undefined contents. */
static inline void *
alloc_piece(void *arg, size_t bytes)
{
	uint64_t	at;

	if (bytes > EMOGI_KEY_PIECE_BYTES)
		abort();
	if (pieces_left >= 0 && pieces_left-- == 0)
		longjmp(no_piece, 1);
	at = __atomic_fetch_add(&shared->next, (bytes + 63) / 64 * 64, __ATOMIC_RELAXED);
	if (at + bytes > SHARED_BYTES)
		abort();
	return memset((char *) shared + at, 0x5A, bytes);
}

/* Map the shared memory, and create an empty table in it. */
static inline void
begin_table(const uint64_t *words, bool secure_hash)
{
	if (shared == NULL)
		shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	madvise(shared, SHARED_BYTES, MADV_REMOVE);
	table = (EmogiKeyTable *) ((char *) shared + (sizeof(Shared) + 127) / 128 * 128);
	shared->next = (sizeof(Shared) + emogi_key_table_bytes() + 4095) / 4096 * 4096;
	memset(table, 0xA5, emogi_key_table_bytes());
	emogi_key_table_init(table, words, secure_hash);
}

/* Put endpoints first, first + step, ... of a set into the table. */
static inline EmogiKeyOutcome
put_ends(EmogiKeyFiller *filler, const KeySet *set, uint64_t first, uint64_t step)
{
	EmogiKeyBytes keys[EMOGI_KEYS_IN_FLIGHT];
	uint32_t	numbers[EMOGI_KEYS_IN_FLIGHT];
	EmogiKeyOutcome outcome = EMOGI_KEYS_PUT;
	const int	max_count = 1 + (int) (mix(first + set->nends) % EMOGI_KEYS_IN_FLIGHT);

	for (uint64_t i = first; i < set->nends && outcome == EMOGI_KEYS_PUT;)
	{
		const uint64_t begin = i;
		int			count = 0;

		for (; count < max_count && i < set->nends; i += step)
			keys[count++] = set->ends[i];
		outcome = emogi_key_filler_put(filler, keys, count, numbers);
		for (int k = 0; k < count && outcome == EMOGI_KEYS_PUT; k++)
			shared->numbers[begin + (uint64_t) k * step] = numbers[k];
	}
	return outcome;
}

/* Put a set into the table with nprocesses processes; returns the worst outcome. */
static inline EmogiKeyOutcome
fill_table(const KeySet *set, int nprocesses)
{
	pid_t		pids[16];
	EmogiKeyFiller filler = {.table = table, .alloc = alloc_piece};

	for (int p = 1; p < nprocesses; p++)
	{
		fflush(stdout);
		pids[p] = fork();
		if (pids[p] == 0)
		{
			put_ends(&filler, set, (uint64_t) p, (uint64_t) nprocesses);
			_exit(0);
		}
	}
	put_ends(&filler, set, 0, (uint64_t) nprocesses);
	for (int p = 1; p < nprocesses; p++)
		waitpid(pids[p], NULL, 0);
	return emogi_key_table_outcome(table);
}

/* The endpoints that a thread puts into the table. */
typedef struct ThreadFill
{
	const KeySet *set;
	uint64_t	first;
	uint64_t	step;
} ThreadFill;

/* Put a thread's endpoints into the table. */
static inline void *
run_thread_fill(void *arg)
{
	const ThreadFill *fill = arg;
	EmogiKeyFiller filler = {.table = table, .alloc = alloc_piece};

	put_ends(&filler, fill->set, fill->first, fill->step);
	return NULL;
}

/* Put a set into the table with nthreads threads, so that a sanitizer sees the accesses. */
static inline EmogiKeyOutcome
fill_table_by_threads(const KeySet *set, int nthreads)
{
	pthread_t	threads[16];
	ThreadFill	fills[16];

	for (int t = 0; t < nthreads; t++)
	{
		fills[t] = (ThreadFill) {set, (uint64_t) t, (uint64_t) nthreads};
		pthread_create(&threads[t], NULL, run_thread_fill, &fills[t]);
	}
	for (int t = 0; t < nthreads; t++)
		pthread_join(threads[t], NULL);
	return emogi_key_table_outcome(table);
}

#endif							/* EMOGI_KEY_SETS_H */
