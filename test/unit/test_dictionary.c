/*
 * test_dictionary.c: tests of dictionary builds: a dictionary has the keys of a table in order, and
 * edges get the codes of their endpoints, whichever processes and threads fill and build. The
 * oracle is a sorted array.
 */
#include "key_sets.h"

#include "contract/builder.h"
#include "threads/pool.h"

#include <ctype.h>
#include <pthread.h>

#define NPOOLS 3
#define EDGES_PER_CHUNK 20000

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */

/* Chunks of edges between temporary numbers. */
typedef struct Chunks
{
	EmogiEdges	edges;
	EmogiEdgeChunk **chunks;
} Chunks;

/* A dictionary and its memory. */
typedef struct Built
{
	EmogiDictionary *dictionary;
	void	   *memory;
	size_t		memory_bytes;
	void	   *scratch;
	size_t		scratch_bytes;
	Chunks		chunks;
} Built;

/* Make edges from the temporary numbers of a set's endpoints. */
static Chunks
make_chunks(const KeySet *set, bool weighted)
{
	const uint64_t nedges = set->nends / 2;
	Chunks chunks = {.edges = {.nchunks = nedges / EDGES_PER_CHUNK + 2, .weighted = weighted,
		.nedges = nedges}};

	chunks.chunks = malloc(chunks.edges.nchunks * sizeof(*chunks.chunks));
	for (uint64_t c = 0; c < chunks.edges.nchunks; c++)
	{
		chunks.chunks[c] = calloc(1,
								  sizeof(EmogiEdgeChunk) +
								  EDGES_PER_CHUNK * sizeof(EmogiWeightedEdge));
		chunks.chunks[c]->min_key = -5;
		chunks.chunks[c]->max_key = 5;
	}
	for (uint64_t e = 0; e < nedges; e++)
	{
		/* the first chunk is empty */
		EmogiEdgeChunk *chunk = chunks.chunks[1 + e / EDGES_PER_CHUNK];
		const int64_t src = shared->numbers[2 * e],
					dst = shared->numbers[2 * e + 1];

		if (weighted)
			emogi_weighted_edges(chunk)[chunk->nedges++] = (EmogiWeightedEdge) {src, dst,
				(double) e};
		else
			chunk->edges[chunk->nedges++] = (EmogiEdge) {src, dst};
	}
	chunks.edges.chunks = chunks.chunks;
	return chunks;
}

/* Free chunks. */
static void
free_chunks(Chunks *chunks)
{
	for (uint64_t c = 0; c < chunks->edges.nchunks; c++)
		free(chunks->chunks[c]);
	free(chunks->chunks);
}

/* Map memory with undefined contents. */
static void *
map_memory(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memset(memory, 0xC3, bytes);
}

/* Build a dictionary of the table, and replace the temporary numbers of the set's edges. */
static EmogiStatus
build(EmogiPool *pool, const KeySet *set, const EmogiKeyOrder *order, bool weighted,
	  EmogiControl *control, EmogiError *error, Built *built)
{
	const uint32_t fixed_length = set->shape == UUIDS ? 16 : 0;
	EmogiDictionaryInput input = {.table = table, .order = order, .fixed_length = fixed_length};

	*built = (Built) {.memory_bytes = emogi_dictionary_bytes(table, fixed_length, 0),
		.scratch_bytes = emogi_dictionary_scratch_bytes(table, order != NULL,
														emogi_pool_size(pool)),
		.chunks = make_chunks(set, weighted)};
	built->memory = map_memory(built->memory_bytes);
	built->scratch = map_memory(built->scratch_bytes);
	input.memory = built->memory;
	input.scratch = built->scratch;
	input.edges = &built->chunks.edges;
	return emogi_dictionary_build(pool, &input, &built->dictionary, control, error);
}

/* Free a dictionary, its memory, and its chunks. */
static void
free_built(Built *built)
{
	munmap(built->memory, built->memory_bytes);
	munmap(built->scratch, built->scratch_bytes);
	free_chunks(&built->chunks);
}

/* Check the codes of a set's edges. class_of[rank in set]; NULL = the rank. */
static void
check_edges(const KeySet *set, const Built *built, const uint64_t *class_of, const char *what)
{
	const int	shift = emogi_dictionary_shift(built->dictionary);
	uint64_t	wrong = 0,
				at = 0;

	for (uint64_t c = 0; c < built->chunks.edges.nchunks; c++)
	{
		EmogiEdgeChunk *chunk = built->chunks.chunks[c];
		int64_t		min_key = INT64_MAX,
					max_key = INT64_MIN;

		for (uint64_t i = 0; i < chunk->nedges; i++)
		{
			const EmogiWeightedEdge edge = built->chunks.edges.weighted
				? emogi_weighted_edges(chunk)[i] :
				(EmogiWeightedEdge) {chunk->edges[i].src, chunk->edges[i].dst, (double) (at / 2)};
			const int64_t ends[] = {edge.src, edge.dst};

			wrong += edge.weight != (double) (at / 2);
			for (int end = 0; end < 2; end++)
			{
				const uint64_t rank = rank_in_set(set, set->ends[at++]);

				wrong += ends[end] != (int64_t) ((class_of != NULL ? class_of[rank] : rank) + 1) <<
					shift;
				min_key = ends[end] < min_key ? ends[end] : min_key;
				max_key = ends[end] > max_key ? ends[end] : max_key;
			}
		}
		wrong += chunk->nedges > 0 && (chunk->min_key != min_key || chunk->max_key != max_key);
	}
	CHECK(wrong == 0 && at == set->nends / 2 * 2, "%s, shape %d: %llu edges wrong", what,
		  set->shape, (unsigned long long) wrong);
}

/* Check the keys of a dictionary against keys[nkeys], whose codes are 1 .. nkeys. */
static void
check_keys(const EmogiDictionary *dictionary, const EmogiKeyBytes *keys, uint64_t nkeys,
		   EmogiKeyCompare compare, const char *what)
{
	const int	shift = emogi_dictionary_shift(dictionary);
	uint64_t	wrong = 0;

	CHECK(emogi_dictionary_nkeys(dictionary) == nkeys, "%s: %llu keys", what,
		  (unsigned long long) emogi_dictionary_nkeys(dictionary));
	CHECK(shift == (nkeys + 2 <= 1 << 21 ? 40 : 39),
		  "%s: shift %d", what, shift);
	for (uint64_t i = 0; i < nkeys; i += EMOGI_KEYS_IN_FLIGHT)
	{
		const int count = nkeys - i < EMOGI_KEYS_IN_FLIGHT ? (int) (nkeys - i)
			: EMOGI_KEYS_IN_FLIGHT;
		int64_t		codes[EMOGI_KEYS_IN_FLIGHT];

		emogi_dictionary_find_many(dictionary, keys + i, count, codes);
		for (int k = 0; k < count; k++)
		{
			const int64_t code = (int64_t) (i + (uint64_t) k + 1) << shift;
			const EmogiKeyBytes key = emogi_dictionary_key(dictionary, code);

			wrong += codes[k] != code ||
				emogi_dictionary_find(dictionary, keys[i + (uint64_t) k]) != code ||
				key.length != keys[i + (uint64_t) k].length ||
					memcmp(key.bytes, keys[i + (uint64_t) k].bytes, key.length) != 0 ||
				emogi_dictionary_search(dictionary, key, compare, NULL) != code;
		}
	}
	CHECK(wrong == 0, "%s: %llu wrong", what, (unsigned long long) wrong);
	CHECK(emogi_dictionary_key(dictionary, 0).bytes == NULL &&
		  emogi_dictionary_key(dictionary, -1).bytes == NULL &&
		  emogi_dictionary_key(dictionary, (int64_t) (nkeys + 1) << shift).bytes == NULL,
		  "%s: unused codes", what);
}

/* Check that unknown keys are not found. */
static void
check_others(const EmogiDictionary *dictionary, const KeySet *set)
{
	uint64_t	wrong = 0;

	for (uint64_t v = 0; v < 500; v++)
	{
		char		bytes[64];
		EmogiKeyBytes key = {bytes,
			(uint32_t) sprintf(bytes, v < 60 ? "%0*llu" : "%*llu", (int) (v % 60),
							   (unsigned long long) v)};
		int64_t		code;

		if (rank_in_set(set, key) != UINT64_MAX)
			continue;
		emogi_dictionary_find_many(dictionary, &key, 1, &code);
		wrong += code != EMOGI_NO_CODE || emogi_dictionary_find(dictionary, key) != EMOGI_NO_CODE ||
			emogi_dictionary_search(dictionary, key, emogi_key_compare_bytes, NULL) !=
				EMOGI_NO_CODE;
	}
	CHECK(wrong == 0, "shape %d: %llu unknown keys are found", set->shape,
		  (unsigned long long) wrong);
}

/* Reverse the order of a set's endpoints. */
static void
reverse_ends(KeySet *set)
{
	for (uint64_t i = 0; i < set->nends / 2; i++)
	{
		const EmogiKeyBytes key = set->ends[i];

		set->ends[i] = set->ends[set->nends - 1 - i];
		set->ends[set->nends - 1 - i] = key;
	}
}

/*
 * Check that the dictionaries of one set are identical, whatever the order in which the table was
 * filled, and the number of threads.
 */
static void
check_set(KeySet set)
{
	Built		first = {0};

	for (int p = 0; p < NPOOLS; p++)
	{
		EmogiControl control = {0};
		EmogiError	error;
		Built		built;
		EmogiStatus status;

		begin_table(test_words, false);
		fill_table(&set, p == 0 ? 1 : 1 + p);
		status = build(pools[p], &set, NULL, p == 1, &control, &error, &built);
		CHECK(status == EMOGI_OK, "shape %d: status %d", set.shape, status);
		check_edges(&set, &built, NULL, "by bytes");
		if (p == 0)
		{
			check_keys(built.dictionary, set.sorted, set.nkeys, emogi_key_compare_bytes,
					   "by bytes");
			check_others(built.dictionary, &set);
			first = built;
		}
		else
		{
			CHECK(built.memory_bytes == first.memory_bytes &&
				  memcmp(built.memory, first.memory, first.memory_bytes) == 0,
				  "shape %d: pool %d builds another dictionary", set.shape, p);
			free_built(&built);
		}
		reverse_ends(&set);
	}
	free_built(&first);
	free_set(&set);
}

/* ---- an explicit order ---- */

/* Compare letters, ignoring case. */
static int
compare_letters(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	for (uint32_t i = 0; i < a.length && i < b.length; i++)
	{
		const int order = tolower((unsigned char) a.bytes[i]) - tolower((unsigned char) b.bytes[i]);

		if (order != 0)
			return order;
	}
	return (a.length > b.length) - (a.length < b.length);
}

/* Order listed keys for qsort by letters; equal ones by bytes. */
static int
compare_listed(const void *a, const void *b)
{
	const EmogiTemporaryKey *x = a,
			   *y = b;
	const int	order = compare_letters(NULL, x->key, y->key);

	return order != 0 ? order : compare_for_qsort(&x->key, &y->key);
}

/* Check that keys that compare equal are one vertex. */
static void
check_order(EmogiPool *pool, bool weighted)
{
	KeySet		set = make_set(TEXTS, 30000, 100000, false);
	EmogiKeyOrder order;
	EmogiTemporaryKey *keys;
	uint8_t    *is_equal;
	uint64_t   *class_of;
	EmogiKeyBytes *firsts;
	uint64_t	nclasses = 0,
				wrong = 0;
	EmogiControl control = {0};
	EmogiError	error;
	Built		built;

	/* short keys with random capital letters */
	for (uint64_t i = 0; i < set.nends; i++)
	{
		set.ends[i].length = set.ends[i].length % 9;
		for (uint32_t b = 0; b < set.ends[i].length; b++)
			((char *) (uintptr_t) set.ends[i].bytes)[b] = (char) (draw(2)
																  ? toupper(set.ends[i].bytes[b])
																  : set.ends[i].bytes[b]);
	}
	memcpy(set.sorted, set.ends, set.nends * sizeof(*set.ends));
	qsort(set.sorted, set.nends, sizeof(*set.ends), compare_for_qsort);
	set.nkeys = 0;
	for (uint64_t i = 0; i < set.nends; i++)
	{
		if (i == 0 || compare_for_qsort(&set.sorted[i], &set.sorted[set.nkeys - 1]) != 0)
			set.sorted[set.nkeys++] = set.sorted[i];
	}
	begin_table(test_words, false);
	fill_table(&set, 2);
	keys = malloc(set.nkeys * sizeof(*keys));
	is_equal = malloc(set.nkeys);
	class_of = malloc(set.nkeys * sizeof(*class_of));
	firsts = malloc(set.nkeys * sizeof(*firsts));
	emogi_key_table_list(table, keys);
	qsort(keys, set.nkeys, sizeof(*keys), compare_listed);
	for (uint64_t i = 0; i < set.nkeys; i++)
	{
		is_equal[i] = i > 0 && compare_letters(NULL, keys[i].key, keys[i - 1].key) == 0;
		if (!is_equal[i])
			firsts[nclasses++] = keys[i].key;
		class_of[rank_in_set(&set, keys[i].key)] = nclasses - 1;
	}
	CHECK(nclasses < set.nkeys * 2 / 3, "%llu classes of %llu keys", (unsigned long long) nclasses,
		  (unsigned long long) set.nkeys);
	order = (EmogiKeyOrder) {set.nkeys, keys, is_equal};
	CHECK(build(pool, &set, &order, weighted, &control, &error, &built) == EMOGI_OK, "an order");
	check_keys(built.dictionary, firsts, nclasses, compare_letters, "an order");
	check_edges(&set, &built, class_of, "an order");
	for (uint64_t i = 0; i < set.nkeys; i++)
	{
		const int64_t code = (int64_t) (class_of[rank_in_set(&set, keys[i].key)] + 1) <<
			emogi_dictionary_shift(built.dictionary);

		wrong += emogi_dictionary_search(built.dictionary, keys[i].key, compare_letters, NULL) !=
			code ||
			emogi_dictionary_find(built.dictionary, keys[i].key) !=
				(is_equal[i] ? EMOGI_NO_CODE : code);
	}
	CHECK(wrong == 0, "an order: %llu spellings wrong", (unsigned long long) wrong);
	free_built(&built);
	/* all keys differ */
	order.is_equal = NULL;
	CHECK(build(pool, &set, &order, weighted, &control, &error, &built) == EMOGI_OK &&
		  emogi_dictionary_nkeys(built.dictionary) == set.nkeys, "an order of different keys");
	free_built(&built);
	free(keys);
	free(is_equal);
	free(class_of);
	free(firsts);
	free_set(&set);
}

/* ---- failures ---- */

/* Check that a failure of the n-th allocation, for all n, returns NO_MEMORY with a message. */
static void
check_no_memory(const KeySet *set)
{
	EmogiStatus status = EMOGI_NO_MEMORY;
	uint32_t	n;

	for (n = 1; status == EMOGI_NO_MEMORY && n < 1000; n++)
	{
		EmogiControl control = {.fail_allocation = n};
		EmogiError	error = {{0}, {0}};
		Built		built;

		status = build(pools[n % NPOOLS], set, NULL, false, &control, &error, &built);
		CHECK(status == EMOGI_OK || (status == EMOGI_NO_MEMORY && error.message[0] != '\0'),
			  "allocation %u: status %d", n, status);
		free_built(&built);
	}
	CHECK(status == EMOGI_OK && n > 5, "status %d after %u allocations", status, n);
}

/* Set cancel shortly after the start. */
static void *
cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(3000);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Check cancellation before and during a build. */
static void
check_cancel(const KeySet *set)
{
	for (int p = 0; p < NPOOLS; p++)
	{
		EmogiControl control = {.cancel = 1};
		EmogiError	error;
		Built		built;
		pthread_t	thread;
		EmogiStatus status;

		status = build(pools[p], set, NULL, false, &control, &error, &built);
		CHECK(status == EMOGI_CANCELED, "status %d", status);
		free_built(&built);
		control.cancel = 0;
		pthread_create(&thread, NULL, cancel_soon, &control);
		status = build(pools[p], set, NULL, false, &control, &error, &built);
		pthread_join(thread, NULL);
		CHECK(status == EMOGI_CANCELED || status == EMOGI_OK, "status %d", status);
		free_built(&built);
	}
}

int
main(void)
{
	static const int nthreads[NPOOLS] = {1, 2, 5};
	KeySet		set;

	for (int p = 0; p < NPOOLS; p++)
		pools[p] = emogi_pool_create(nthreads[p]);
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		check_set(make_set((KeyShape) shape, shape == LONG_KEYS ? 12 : 20000,
						   shape == LONG_KEYS ? 100 : 60000, false));
		check_set(make_set((KeyShape) shape, shape == LONG_KEYS ? 5 : 400, 3000, true));
		check_set(make_set((KeyShape) shape, 3, 2, false));
	}
	/* large groups with one code are sorted by all threads */
	check_set(make_set(TWO_FRONTS, 170000, 400000, false));
	check_set(make_set(UUIDS, 60000, 600000, true));
	for (int p = 0; p < NPOOLS; p++)
		check_order(pools[p], p == 1);
	set = make_set(TEXTS, 100000, 200000, false);
	begin_table(test_words, false);
	fill_table(&set, 1);
	check_no_memory(&set);
	check_cancel(&set);
	free_set(&set);
	for (int p = 0; p < NPOOLS; p++)
		emogi_pool_destroy(pools[p]);
	return check_report("test_dictionary");
}
