/*
 * test_added_keys.c: tests of keys that are added to a dictionary after its build: codes ascend
 * with the keys, and concurrent readers find complete keys. The oracle is a sorted array.
 */
#include "key_sets.h"

#include "contract/builder.h"
#include "threads/pool.h"

#define NMANY (3 * 16384)

static EmogiPool *pool;
static EmogiDictionary *dictionary;
static void *memory;
static size_t memory_bytes;

/* The added keys, in memory that is shared with the readers. */
typedef struct History
{
	uint64_t	nkeys;			/* atomic */
	uint64_t	ntotal;			/* number of keys to add; atomic */
	EmogiKeyBytes *coming;		/* [ncoming], some of them already added */
	uint64_t	ncoming;
	int64_t		codes[1 << 16];
	EmogiKeyBytes keys[1 << 16];
	char		bytes[1 << 22];
	size_t		used;
} History;

static History *history;

/* Map memory shared by processes. */
static void *
map_shared(size_t bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED)
		abort();
	return mapped;
}

/* Provide the dictionary with room for added keys. */
static void
begin_room(void)
{
	const EmogiKeyBytes key = {"without room", 12};
	size_t		bytes;

	CHECK(emogi_dictionary_room(dictionary) == NULL && emogi_dictionary_nadded(dictionary) == 0,
		  "no room yet");
	CHECK(!emogi_dictionary_has_room(dictionary, key) &&
		  emogi_dictionary_add(dictionary, key, emogi_key_compare_bytes, NULL) == EMOGI_NO_CODE,
		  "no room");
	bytes = emogi_dictionary_room_bytes(dictionary);
	CHECK(bytes > 0, "bytes");
	emogi_dictionary_set_room(dictionary, memset(map_shared(bytes), 0xB4, bytes), bytes);
	CHECK(emogi_dictionary_room_bytes(dictionary) == 0 && emogi_dictionary_room(dictionary) != NULL,
		  "room");
	CHECK(emogi_dictionary_has_room(dictionary, key), "room for a key");
	history->nkeys = history->used = 0;
}

/* Build a dictionary of a set, and provide room for added keys. */
static void
begin(const KeySet *set)
{
	const EmogiEdges edges = {0};
	EmogiDictionaryInput input = {.table = table, .fixed_length = set->shape == UUIDS ? 16 : 0,
		.edges = &edges};
	EmogiControl control = {0};
	EmogiError	error;

	begin_table(test_words, false);
	fill_table(set, 1);
	input.table = table;
	if (memory != NULL)
		munmap(memory, memory_bytes);
	memory_bytes = emogi_dictionary_bytes(table, input.fixed_length, input.room_keys);
	input.memory = memory = map_shared(memory_bytes);
	input.scratch = map_shared(emogi_dictionary_scratch_bytes(table, false, 2));
	CHECK(emogi_dictionary_build(pool, &input, &dictionary, &control, &error) == EMOGI_OK, "build");
	munmap(input.scratch, emogi_dictionary_scratch_bytes(table, false, 2));
	begin_room();
}

/* Make an empty dictionary with room for room_keys keys. */
static void
begin_empty(uint64_t room_keys)
{
	begin_table(test_words, false);
	if (memory != NULL)
		munmap(memory, memory_bytes);
	memory_bytes = emogi_dictionary_bytes(table, 0, room_keys);
	memory = map_shared(memory_bytes);
	dictionary = emogi_dictionary_make_empty(table, 0, room_keys,
											 memset(memory, 0xB4, memory_bytes));
	CHECK(emogi_dictionary_nkeys(dictionary) == 0 &&
		  emogi_dictionary_key(dictionary, 0).bytes == NULL, "empty");
	begin_room();
}

/* Add a key; returns its code. */
static int64_t
add(const char *bytes, uint32_t length)
{
	const uint64_t n = history->nkeys;
	const EmogiKeyBytes key = {history->bytes + history->used, length};
	int64_t		code;

	memcpy(history->bytes + history->used, bytes, length);
	if (emogi_dictionary_find(dictionary, key) != EMOGI_NO_CODE)
		return EMOGI_NO_CODE;
	code = emogi_dictionary_add(dictionary, key, emogi_key_compare_bytes, NULL);
	if (code == EMOGI_NO_CODE)
		return code;
	history->keys[n] = key;
	history->codes[n] = code;
	history->used += length;
	__atomic_store_n(&history->nkeys, n + 1, __ATOMIC_RELEASE);
	return code;
}

/* Return true if all lookups find a key by its code and its code by the key. */
static bool
is_known(EmogiKeyBytes key, int64_t code)
{
	const EmogiKeyBytes found = emogi_dictionary_key(dictionary, code);
	int64_t		many[2];

	emogi_dictionary_find_many(dictionary, (EmogiKeyBytes[]) {key, key}, 2, many);
	return found.length == key.length && memcmp(found.bytes, key.bytes, key.length) == 0 &&
		many[0] == code && many[1] == code &&
		emogi_dictionary_find(dictionary, key) == code &&
		emogi_dictionary_search(dictionary, key, emogi_key_compare_bytes, NULL) == code;
}

/* Check that all keys, built and added, are found, and that their codes ascend with them. */
static void
check_all(const KeySet *set, const char *what)
{
	const uint64_t n = set->nkeys + history->nkeys;
	EmogiKeyBytes *keys = malloc(n * sizeof(*keys));
	uint64_t	wrong = 0;
	int64_t		last = INT64_MIN;

	memcpy(keys, set->sorted, set->nkeys * sizeof(*keys));
	memcpy(keys + set->nkeys, history->keys, history->nkeys * sizeof(*keys));
	qsort(keys, n, sizeof(*keys), compare_for_qsort);
	for (uint64_t i = 0; i < n; i++)
	{
		const int64_t code = emogi_dictionary_find(dictionary, keys[i]);
		const uint64_t number = emogi_dictionary_number(dictionary, code);

		wrong += code <= last || !is_known(keys[i], code);
		wrong += number >= n || emogi_dictionary_code(dictionary, number) != code;
		last = code;
	}
	for (uint64_t i = 0; i < history->nkeys; i++)
	{
		wrong += emogi_dictionary_find(dictionary, history->keys[i]) != history->codes[i];
		wrong += emogi_dictionary_number(dictionary, history->codes[i]) != set->nkeys + i;
	}
	for (uint64_t i = 0; i < set->nkeys; i++)
		wrong += emogi_dictionary_find(dictionary, set->sorted[i]) !=
			(int64_t) (i + 1) << emogi_dictionary_shift(dictionary);
	CHECK(wrong == 0, "%s: %llu of %llu wrong", what, (unsigned long long) wrong,
		  (unsigned long long) n);
	CHECK(emogi_dictionary_nadded(dictionary) == history->nkeys &&
		  emogi_dictionary_nkeys(dictionary) == set->nkeys, "%s: counts", what);
	free(keys);
}

/* Check that at least min_keys keys can be added in random order before the room is full. */
static void
check_random(KeyShape shape, uint64_t nvertices, uint64_t min_keys)
{
	KeySet		set = make_set(shape, nvertices, 2 * nvertices, false);
	char	   *bytes = malloc(shape_bytes(shape));
	int			refused = 0;

	begin(&set);
	for (uint64_t v = 0; refused < 100 && v < 40000; v++)
	{
		const uint32_t length = write_key(shape, nvertices + mix(v + 3) % 100000, bytes);

		if (emogi_dictionary_find(dictionary, (EmogiKeyBytes) {bytes, length}) == EMOGI_NO_CODE)
			refused += add(bytes, length) == EMOGI_NO_CODE;
	}
	CHECK(history->nkeys >= min_keys, "shape %d: only %llu added", shape,
		  (unsigned long long) history->nkeys);
	check_all(&set, "random order");
	free(bytes);
	free_set(&set);
}

/* Add ascending or descending keys to one gap until there is no code; returns their number. */
static uint64_t
add_run(const KeySet *set, const char *front, int first, int step, int max_keys, const char *what)
{
	char		bytes[64];
	int			n = 0;

	begin(set);
	for (int at = first; n < max_keys && at >= 0; at += step, n++)
	{
		if (add(bytes, (uint32_t) sprintf(bytes, "%s%08d", front, at)) == EMOGI_NO_CODE)
			break;
	}
	check_all(set, what);
	return (uint64_t) n;
}

/*
 * Add keys to one gap in an interleaved order: two ascending runs, two runs towards each other, a
 * hundred ascending runs, random order. The room must be full before the gap is.
 */
static void
check_pattern(const KeySet *set, int pattern)
{
	static const char *const names[] = {"two runs", "from both sides", "a hundred runs",
		"random order"};
	char		key[64];

	begin(set);
	for (int i = 0; i < NMANY; i++)
	{
		const int	random = (int) (mix((uint64_t) i) % 1000000000);
		const int	front = pattern < 2 ? i % 2 : pattern == 2 ? i % 100 : 0;
		const int	back = pattern == 3 ? random : pattern == 1 && i % 2 ? 1000000 - i : i;

		if (add(key, (uint32_t) sprintf(key, "00000007a%02d%09d", front, back)) == EMOGI_NO_CODE)
			break;
	}
	CHECK(history->nkeys == NMANY / 8, "%s in a gap: %llu", names[pattern],
		  (unsigned long long) history->nkeys);
	check_all(set, names[pattern]);
}

/*
 * Check that keys can be added to an empty dictionary, in random order and in runs, until the room
 * is full.
 */
static void
check_empty(void)
{
	const KeySet none = {.shape = TEXTS};
	char		key[64];

	for (int order = -1; order <= 1; order++)
	{
		begin_empty(order == 0 ? 5000 : 0);
		for (int i = 0; i < 20000; i++)
		{
			const int at = order == 0 ? (int) (mix((uint64_t) i) % 1000000000)
				: 1000000 + order * i;

			if (add(key, (uint32_t) sprintf(key, "k%09d", at)) == EMOGI_NO_CODE)
				break;
		}
		CHECK(history->nkeys == (order == 0 ? 5000 : 1024), "order %d: %llu", order,
			  (unsigned long long) history->nkeys);
		check_all(&none, "empty");
	}
}

/* Check runs in one gap, after all keys, and before all keys. */
static void
check_runs(void)
{
	static const char *const names[] = {"before", "m", "z"};
	static EmogiKeyBytes ends[NMANY];
	static char bytes[NMANY][16];
	KeySet		set = {.shape = TEXTS, .ends = ends, .sorted = ends, .nends = 3, .nkeys = 3};
	uint64_t	n;

	for (int i = 0; i < 3; i++)
		ends[i] = (EmogiKeyBytes) {names[i], (uint32_t) strlen(names[i])};
	CHECK(add_run(&set, "p", 0, 1, 2000, "ascending") == 1024, "a gap of %d bits: room for all",
		  emogi_dictionary_shift(dictionary));
	CHECK(add_run(&set, "p", 5000, -1, 2000, "descending") == 1024, "descending: room for all");
	CHECK(add_run(&set, "zz", 0, 1, 2000, "after all") == 1024 &&
		  history->codes[1023] > history->codes[1022], "after all");
	CHECK(add_run(&set, "a", 5000, -1, 4000, "before") == 1024 &&
		  history->codes[1023] < history->codes[1022], "before all");
	CHECK(add_run(&set, "a", 5000, 1, 4000, "before, ascending") == 1024, "before all, ascending");
	/* room for more keys than fit if each one halved the gap */
	set.nends = set.nkeys = NMANY;
	for (uint64_t i = 0; i < set.nkeys; i++)
		ends[i] = (EmogiKeyBytes) {bytes[i], (uint32_t) sprintf(bytes[i], "%08d", (int) i)};
	n = add_run(&set, "00000005x", 0, 1, NMANY, "ascending");
	CHECK(n == NMANY / 8 && n == emogi_dictionary_nadded(dictionary),
		  "%llu ascending keys in a gap of %d bits", (unsigned long long) n,
		  emogi_dictionary_shift(dictionary));
	n = add_run(&set, "00000005x", NMANY, -1, NMANY, "descending");
	CHECK(n == NMANY / 8, "%llu descending keys", (unsigned long long) n);
	n = add_run(&set, "x", 0, 1, NMANY, "after all");
	CHECK(n == NMANY / 8, "%llu keys after all", (unsigned long long) n);
	for (int pattern = 0; pattern < 4; pattern++)
		check_pattern(&set, pattern);
}

/* Check that a gap is exhausted if each key lies next to the last one, on an unpredictable side. */
static void
check_no_code(void)
{
	KeySet		set = make_set(UUIDS, 2000, 5000, false);
	char		bytes[64];
	uint64_t	n = 0;

	begin(&set);
	CHECK(add("\0\0\0\1", 4) < 0, "before the first");
	for (int i = 0; i < 200; i++)
		n += add(bytes,
				 (uint32_t) sprintf(bytes, "between %08d", (int) (mix((uint64_t) i) % 100000))) !=
			EMOGI_NO_CODE;
	CHECK(n > 100, "%llu in a gap", (unsigned long long) n);
	for (uint32_t length = 1;; length++)
	{
		char		path[128] = "q";

		for (uint32_t i = 1; i < length; i++)
			path[i] = mix(i) % 2 ? '0' : '2';
		path[length] = '1';
		if (length == sizeof(path) - 1 || add(path, length + 1) == EMOGI_NO_CODE)
		{
			CHECK(length > 10 && length < 50, "%u on a path", length);
			CHECK(emogi_dictionary_has_room(dictionary, (EmogiKeyBytes) {path, length}),
				  "room, but no code");
			break;
		}
	}
	check_all(&set, "no code");
	free_set(&set);
}

/* Compare by bytes, and count the comparisons. */
static int
compare_and_count(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	++*(uint64_t *) arg;
	return emogi_key_compare_bytes(NULL, a, b);
}

/*
 * Write the key of a random walk: usually next to the last key, on either side, sometimes anywhere;
 * returns its length.
 */
static uint32_t
write_walk_key(char *bytes, int i, int *at)
{
	const uint64_t random = mix((uint64_t) i * 3 + 1);

	if (random % 10 == 0)
		*at = (int) (mix(random) % 100000000);
	else
		*at += random % 3 == 0 ? -1 : random % 3 == 1 ? 1 : (int) (random >> 32) % 7 - 3;
	return (uint32_t) sprintf(bytes, "%09d%s", *at < 0 ? 0 : *at, random % 5 == 0 ? "x" : "");
}

/*
 * Check that keys next to the last one need only two comparisons, and that all others get correct
 * codes.
 */
static void
check_next_to_last(void)
{
	KeySet		set = make_set(TEXTS, 30000, 60000, false);
	uint64_t	ncompared;
	uint64_t	max_compared = 0;
	char		bytes[64];
	int			at = 50000000;

	for (int step = -1; step <= 1; step += 2)
	{
		begin(&set);
		add("between", 7);
		add(bytes, (uint32_t) sprintf(bytes, "between%09d", at));
		for (int i = 1; i < 2000; i++)
		{
			const EmogiKeyBytes key = {history->bytes + history->used,
				(uint32_t) sprintf(history->bytes + history->used, "between%09d", at + i * step)};

			ncompared = 0;
			history->codes[history->nkeys] = emogi_dictionary_add(dictionary, key,
																  compare_and_count, &ncompared);
			history->keys[history->nkeys++] = key;
			history->used += key.length;
			max_compared = ncompared > max_compared ? ncompared : max_compared;
		}
		check_all(&set, "next to last");
	}
	CHECK(max_compared == 2, "up to %llu comparisons", (unsigned long long) max_compared);
	begin(&set);
	for (int i = 0; i < 3000; i++)
		add(bytes, write_walk_key(bytes, i, &at));
	CHECK(history->nkeys > 2000, "%llu in a walk", (unsigned long long) history->nkeys);
	check_all(&set, "walk");
	free_set(&set);
}

/* ---- a reader ---- */

/*
 * Look up keys while they are added, until all have been. Each key must be found completely or not
 * at all, and stay. Returns the number of errors.
 */
static uint64_t
read_until_all_added(const KeySet *set)
{
	uint64_t	wrong = 0,
				n = 0;

	for (uint64_t i = 0; wrong == 0 && n < __atomic_load_n(&history->ntotal, __ATOMIC_ACQUIRE); i++)
	{
		uint64_t	at;
		EmogiKeyBytes key;
		int64_t		code;

		n = __atomic_load_n(&history->nkeys, __ATOMIC_ACQUIRE);
		at = mix(i) % (n + 1);
		if (at < n)
			wrong += !is_known(history->keys[at], history->codes[at]);
		at = mix(i + 5) % set->nkeys;
		wrong += !is_known(set->sorted[at],
						   (int64_t) (at + 1) << emogi_dictionary_shift(dictionary));
		wrong += emogi_dictionary_nadded(dictionary) < n;
		/* a key that is added, or will be */
		key = history->coming[mix(i + 7) % history->ncoming];
		code = emogi_dictionary_search(dictionary, key, emogi_key_compare_bytes, NULL);
		wrong += code != EMOGI_NO_CODE &&
			emogi_dictionary_key(dictionary, code).length != key.length;
		code = emogi_dictionary_find(dictionary, key);
		wrong += code != EMOGI_NO_CODE && !is_known(key, code);
	}
	return wrong;
}

/* Read in a thread, so that a sanitizer sees the accesses. */
static void *
run_reader(void *arg)
{
	return (void *) (uintptr_t) read_until_all_added(arg);
}

/* Add keys while two other processes and a thread read. */
static void
check_readers(KeyShape shape, uint64_t nvertices)
{
	KeySet		set = make_set(shape, nvertices, 3 * nvertices, false);
	KeySet		coming = make_set(shape, 2 * nvertices, nvertices / 8, false);
	pid_t		pids[2];
	pthread_t	thread;
	void	   *wrong;
	int			status;

	begin(&set);
	history->ntotal = UINT64_MAX;
	history->coming = coming.ends;
	history->ncoming = coming.nends;
	fflush(stdout);
	for (int r = 0; r < 2; r++)
	{
		if ((pids[r] = fork()) == 0)
			_exit(read_until_all_added(&set) > 0);
	}
	pthread_create(&thread, NULL, run_reader, &set);
	for (uint64_t i = 0; i < coming.nends; i++)
	{
		add(coming.ends[i].bytes, coming.ends[i].length);
		if (i % 64 == 0)
			usleep(100);
	}
	__atomic_store_n(&history->ntotal, history->nkeys, __ATOMIC_RELEASE);
	for (int r = 0; r < 2; r++)
	{
		waitpid(pids[r], &status, 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "shape %d: a reader's status is %d",
			  shape, status);
	}
	pthread_join(thread, &wrong);
	CHECK(wrong == NULL, "shape %d: the reading thread found errors", shape);
	CHECK(history->nkeys > nvertices / 32, "shape %d: %llu added", shape,
		  (unsigned long long) history->nkeys);
	check_all(&set, "readers");
	free_set(&coming);
	free_set(&set);
}

/* ---- comparisons that do not return ---- */

static jmp_buf comparison_left;

/* Compare by bytes; longjmp after *arg comparisons. */
static int
compare_some(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	int		   *left = arg;

	if ((*left)-- == 0)
		longjmp(comparison_left, 1);
	return emogi_key_compare_bytes(NULL, a, b);
}

/* Check that an exit from any of the comparisons changes nothing. */
static void
check_left_comparisons(void)
{
	KeySet		set = make_set(TEXTS, 500, 1000, false);
	char		bytes[64];
	static volatile int n;
	static int	left;
	char	   *before;

	begin(&set);
	before = malloc(memory_bytes);
	for (uint64_t v = 0; v < 200; v++)
	{
		const uint32_t length = write_key(TEXTS, 500 + v, bytes);

		if (emogi_dictionary_find(dictionary, (EmogiKeyBytes) {bytes, length}) != EMOGI_NO_CODE)
			continue;
		for (n = 0; v % 40 == 39; n++)
		{
			memcpy(before, memory, memory_bytes);
			left = n;
			if (setjmp(comparison_left) == 0)
			{
				const int64_t code = emogi_dictionary_search(dictionary,
															 (EmogiKeyBytes) {bytes, length},
															 compare_some, &left);

				CHECK(code == EMOGI_NO_CODE, "found after %d comparisons", n);
				left = n;
				CHECK(emogi_dictionary_add(dictionary, (EmogiKeyBytes) {bytes, length},
										   compare_some, &left) != EMOGI_NO_CODE, "added");
				memcpy(history->bytes + history->used, bytes, length);
				history->keys[history->nkeys] = (EmogiKeyBytes) {history->bytes + history->used,
					length};
				history->codes[history->nkeys++] = emogi_dictionary_find(dictionary,
																		 (EmogiKeyBytes) {bytes,
					length});
				history->used += length;
				break;
			}
			CHECK(memcmp(before, memory, memory_bytes) == 0, "%d comparisons", n);
			check_all(&set, "comparison left");
		}
		if (v % 40 != 39)
			add(bytes, length);
	}
	check_all(&set, "after comparisons that were left");
	free(before);
	free_set(&set);
}

int
main(void)
{
	pool = emogi_pool_create(2);
	history = map_shared(sizeof(*history));
	check_random(TEXTS, 1000, 1024);
	check_random(UUIDS, 30000, 3200);
	check_random(PREFIXES, 500, 100);
	check_random(ZEROS, 20, 5);
	check_runs();
	check_empty();
	check_no_code();
	check_next_to_last();
	check_readers(UUIDS, 40000);
	check_readers(TEXTS, 20000);
	check_left_comparisons();
	emogi_pool_destroy(pool);
	return check_report("test_added_keys");
}
