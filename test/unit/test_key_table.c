/*
 * test_key_table.c: tests of the table of keys: each distinct key of any shape gets one temporary
 * number, whichever processes put it, and after failures
 */
#include "key_sets.h"

#include "contract/engine.h"

/* Order listed keys for qsort. */
static int
compare_listed(const void *a, const void *b)
{
	return compare_for_qsort(&((const EmogiTemporaryKey *) a)->key,
							 &((const EmogiTemporaryKey *) b)->key);
}

/* Check that the table has exactly the keys of a set or, if not `whole`, some of them. */
static void
check_table(const KeySet *set, bool whole, const char *what)
{
	const uint64_t nkeys = emogi_key_table_nkeys(table);
	const uint32_t ntemporaries = emogi_key_table_ntemporaries(table);
	EmogiTemporaryKey *keys = malloc((nkeys + 1) * sizeof(*keys));
	uint64_t   *rank_of = malloc((ntemporaries + 1) * sizeof(uint64_t));
	uint64_t	key_bytes = 0,
				wrong = 0;

	memset(rank_of, 0xFF, (ntemporaries + 1) * sizeof(uint64_t));
	emogi_key_table_list(table, keys);
	qsort(keys, nkeys, sizeof(*keys), compare_listed);
	CHECK(whole ? nkeys == set->nkeys : nkeys <= set->nkeys, "%s, shape %d: %llu keys", what,
		  set->shape, (unsigned long long) nkeys);
	for (uint64_t i = 0; i < nkeys; i++)
	{
		const uint64_t rank = rank_in_set(set, keys[i].key);

		key_bytes += keys[i].key.length;
		wrong += rank == UINT64_MAX || (whole && rank != i) ||
			(i > 0 && compare_listed(&keys[i], &keys[i - 1]) == 0);
		if (keys[i].temporary >= ntemporaries || rank_of[keys[i].temporary] != UINT64_MAX)
			wrong++;
		else
			rank_of[keys[i].temporary] = rank;
	}
	for (uint64_t i = 0; whole && i < set->nends; i++)
		wrong += shared->numbers[i] >= ntemporaries ||
			rank_of[shared->numbers[i]] != rank_in_set(set, set->ends[i]);
	CHECK(wrong == 0, "%s, shape %d: %llu wrong", what, set->shape, (unsigned long long) wrong);
	CHECK(key_bytes == emogi_key_table_key_bytes(table), "%s, shape %d: bytes", what, set->shape);
	free(keys);
	free(rank_of);
}

/* Check sets of all shapes, put by one process and by several. */
static void
check_shapes(void)
{
	for (int shape = 0; shape < NSHAPES; shape++)
	{
		for (int variant = 0; variant < 4; variant++)
		{
			KeySet		set = make_set((KeyShape) shape, shape == LONG_KEYS ? 12 : 20000,
									   shape == LONG_KEYS ? 100 : variant == 0 ? 3 : 60000,
									   variant == 2);

			begin_table(test_words, variant == 3);
			CHECK(fill_table(&set, 1 + variant) == EMOGI_KEYS_PUT, "shape %d", shape);
			check_table(&set, true, "shapes");
			free_set(&set);
		}
	}
}

/* Check that threads can fill a table as processes do. */
static void
check_threads(void)
{
	static const KeyShape shapes[] = {UUIDS, TEXTS, ONE_KEY};

	for (int i = 0; i < 6; i++)
	{
		KeySet		set = make_set(shapes[i % 3], 10000, 20000, false);

		begin_table(test_words, false);
		table->max_slots = i < 3 ? EMOGI_KEY_MAX_SLOTS : 6;
		CHECK(fill_table_by_threads(&set, 4) == EMOGI_KEYS_PUT, "threads");
		check_table(&set, true, "threads");
		free_set(&set);
	}
}

/* Check that arrays that cannot grow get children. */
static void
check_children(void)
{
	KeySet		set = make_set(UUIDS, 120000, 200000, false);

	for (uint32_t max_slots = 6; max_slots < 9; max_slots++)
	{
		begin_table(test_words, false);
		table->max_slots = max_slots;
		CHECK(fill_table(&set, (int) max_slots - 4) == EMOGI_KEYS_PUT, "children");
		check_table(&set, true, "children");
	}
	free_set(&set);
}

/*
 * Check that keys with equal hashes are detected by all processes, and that the secure hash
 * separates them.
 */
static void
check_crowded(void)
{
	static const uint64_t zeros[4];
	const EmogiKeyBytes other = {"other", 5};
	char		bytes[2000][16];
	EmogiKeyBytes keys[2000];
	KeySet		set = {.nends = 2000, .ends = keys};
	EmogiKeyFiller second;
	uint32_t	number;

	memset(bytes, 0, sizeof(bytes));
	for (int i = 0; i < 2000; i++)
	{
		memcpy(bytes[i] + 8, &i, sizeof(i));
		keys[i] = (EmogiKeyBytes) {bytes[i], 16};
	}
	for (int nprocesses = 1; nprocesses < 4; nprocesses++)
	{
		begin_table(zeros, false);
		CHECK(fill_table(&set, nprocesses) == EMOGI_KEYS_COLLISIONS, "%d processes", nprocesses);
		CHECK(emogi_key_table_nkeys(table) < 1000, "collisions detected with %llu keys",
			  (unsigned long long) emogi_key_table_nkeys(table));
		second = (EmogiKeyFiller) {.table = table, .alloc = alloc_piece};
		CHECK(emogi_key_filler_put(&second, &other, 1, &number) == EMOGI_KEYS_COLLISIONS,
			  "another filler");
		begin_table(zeros, true);
		CHECK(fill_table(&set, nprocesses) == EMOGI_KEYS_PUT &&
			  emogi_key_table_nkeys(table) == 2000, "careful");
		begin_table(test_words, false);
		CHECK(fill_table(&set, nprocesses) == EMOGI_KEYS_PUT &&
			  emogi_key_table_nkeys(table) == 2000, "other words");
	}
}

/* Check SipHash-2-4 of the bytes 0 .. 14 with the key 0 .. 15 against its paper. */
static void
check_sip(void)
{
	const uint64_t words[4] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908), 1, 2};
	char		bytes[15];

	for (int i = 0; i < 15; i++)
		bytes[i] = (char) i;
	CHECK(emogi_key_siphash(words, bytes, 15) == UINT64_C(0xa129ca6149be45e5), "SipHash-2-4");
}

/* Check the maximum number of temporary numbers. */
static void
check_too_many(void)
{
	KeySet		set = make_set(UUIDS, 20000, 20000, false);

	for (int nprocesses = 1; nprocesses < 4; nprocesses++)
	{
		begin_table(test_words, false);
		table->next_number = EMOGI_MAX_VERTICES / 1024 * 1024 - 5 * 1024;
		CHECK(fill_table(&set, nprocesses) == EMOGI_KEYS_TOO_MANY, "too many");
		CHECK(emogi_key_table_nkeys(table) <= 5 * 1024 &&
			  emogi_key_table_nkeys(table) > (uint64_t) (5 - nprocesses) * 1024, "%llu keys",
			  (unsigned long long) emogi_key_table_nkeys(table));
	}
	free_set(&set);
}

/*
 * Check that a failed allocation of any piece leaves the table valid, and that the filler can
 * continue.
 */
static void
check_no_piece(KeyShape shape, uint64_t nvertices, uint64_t nends, uint32_t max_slots)
{
	KeySet		set = make_set(shape, nvertices, nends, false);
	static EmogiKeyFiller filler,
				second;
	static volatile bool failed;
	volatile int n = 0;

	do
	{
		failed = false;
		begin_table(test_words, false);
		table->max_slots = max_slots;
		filler = (EmogiKeyFiller) {.table = table, .alloc = alloc_piece};
		pieces_left = n;
		if (setjmp(no_piece) == 0)
			put_ends(&filler, &set, 0, 1);
		else
			failed = true;
		pieces_left = -1;
		check_table(&set, !failed, "after a failed allocation");
		second = (EmogiKeyFiller) {.table = table, .alloc = alloc_piece};
		put_ends(&second, &set, set.nends / 2, 1);
		CHECK(put_ends(&filler, &set, 0, 1) == EMOGI_KEYS_PUT, "continues");
		check_table(&set, true, "continued after a failed allocation");
		n++;
	} while (failed);
	CHECK(n > 2, "%d pieces", n);
	free_set(&set);
}

int
main(void)
{
	check_sip();
	check_shapes();
	check_threads();
	check_children();
	check_crowded();
	check_too_many();
	check_no_piece(LONG_KEYS, 12, 40, EMOGI_KEY_MAX_SLOTS);
	check_no_piece(PREFIXES, 3000, 10000, 6);
	check_no_piece(UUIDS, 80000, 120000, 6);
	return check_report("test_key_table");
}
