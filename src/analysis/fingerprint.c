/*
 * fingerprint.c: the key of a tree: a fingerprint of all that its rows depend on beside the rows of its tables (Q11 to Q13).
 *
 * These are the tree without the places in its text, the bodies of functions in SQL, the rows of all functions in the catalogs, the
 * definitions of types, the database, and settings that functions read which are declared IMMUTABLE. No object id is trusted alone.
 *
 * Writing a tree out and hashing it is most of a look. So a session remembers what it has made keys of lately. All is derived anew on
 * each call and compared as a whole, and only then a key is taken from there: nothing needs to be invalidated.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

#define MEMORIES 16

/* What a session remembers takes no more memory than this. */
#define MEMORY_BYTES (32 * 1024 * 1024)

/* What a key was made of. */
typedef struct Memory
{
	MemoryContext context;		/* NULL = nothing */
	List	   *trees;
	int			nbytes;
	char	   *bytes;
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];
	uint64		shape;
} Memory;

static Memory memories[MEMORIES];
static int	oldest = 0;

StaticAssertDecl(EMOGI_FINGERPRINT_BYTES == PG_SHA256_DIGEST_LENGTH, "a fingerprint is SHA-256");

/* Add a setting to the key. All digits above 0 are as good as 1. */
static void
add_setting(EmogiAnalysisState *look, const char *name)
{
	const char *value = GetConfigOption(name, true, false);

	if (strcmp(name, "extra_float_digits") == 0 && value != NULL && atoi(value) > 0)
		value = "1";
	appendStringInfo(&look->bytes, "%s=%s;", name, value != NULL ? value : "");
}

/* Add what is neither tree nor function. */
static void
add_surroundings(EmogiAnalysisState *look)
{
	static const char *const settings[] = {
		"extra_float_digits", "bytea_output", "IntervalStyle", "quote_all_identifiers", "timezone_abbreviations", "array_nulls", "gin_fuzzy_search_limit",
		"TimeZone", "DateStyle", "lc_time", "lc_numeric", "lc_monetary"
	};
	const int	nsettings = look->has_settings ? lengthof(settings) : 7;

	appendBinaryStringInfo(&look->bytes, (char *) &MyDatabaseId, sizeof MyDatabaseId);
	for (int i = 0; i < nsettings && !emogi_faults.tree[EMOGI_TREE_SETTINGS]; i++)
		add_setting(look, settings[i]);
}

/* Get the length of a field for a place in the text at the start of a string; 0 when it is none. Blanks in values are escaped. */
static int
location_length(const char *text)
{
	static const char *const fields[] = {" :location ", " :stmt_location ", " :stmt_len "};

	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		int			length = (int) strlen(fields[i]);

		if (strncmp(text, fields[i], length) == 0)
			return length + (int) strspn(text + length, "-0123456789");
	}
	return 0;
}

/* Get the text of a tree, without places in the text of its query, and its length with the zero that ends it. */
static char *
text_of_tree(Node *tree, Size *length)
{
	char	   *text = nodeToString(tree);
	char	   *end = text;

	for (char *p = text; *p != '\0';)
	{
		int			skip = p[0] == ' ' && p[1] == ':' && emogi_compat_writes_locations() ? location_length(p) : 0;

		if (skip > 0)
			p += skip;
		else if (end == p)
			end++, p++;
		else
			*end++ = *p++;
	}
	*end = '\0';
	*length = end + 1 - text;
	return text;
}

/* Raise an error if a step of a fingerprint has failed. */
static void
check_step(bool done)
{
	if (!done)
		elog(ERROR, "could not compute the fingerprint of a query");
}

/* Hash the text of a tree, but for the values of constants. The end of a node's text ends its value. */
static uint64
hash_shape(const char *text, uint64 shape)
{
	static const char field[] = " :constvalue ";

	for (;;)
	{
		const char *value = strstr(text, field);
		const Size	length = value != NULL ? (Size) (value - text) : strlen(text);

		shape = hash_bytes_extended((const unsigned char *) text, (int) length, shape);
		if (value == NULL)
			return shape;
		text = value + strcspn(value, "}");
	}
}

/* Hash what a key is made of, one tree after the other: their texts can be long. Get its length. */
static Size
hash_all(const EmogiAnalysisState *look, uint8 *fingerprint, uint64 *shape)
{
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);
	Size		total = look->bytes.len;
	ListCell   *cell;

	*shape = hash_bytes_extended((const unsigned char *) look->bytes.data, look->bytes.len, 0);
	check_step(hash != NULL && pg_cryptohash_init(hash) >= 0 && pg_cryptohash_update(hash, (uint8 *) look->bytes.data, look->bytes.len) >= 0);
	foreach(cell, look->trees)
	{
		Size		length;
		char	   *text;

		CHECK_FOR_INTERRUPTS();
		text = text_of_tree(lfirst(cell), &length);
		check_step(pg_cryptohash_update(hash, (uint8 *) text, length) >= 0);
		*shape = hash_shape(text, *shape);
		pfree(text);
		total += length;
	}
	check_step(pg_cryptohash_final(hash, fingerprint, EMOGI_FINGERPRINT_BYTES) >= 0);
	*shape = Max(*shape, 1);
	pg_cryptohash_free(hash);
	return total;
}

/* Find what is remembered of just this; NULL when that is nothing. */
static const Memory *
recall(const EmogiAnalysisState *look)
{
	for (int i = 0; i < MEMORIES; i++)
		if (memories[i].context != NULL && memories[i].nbytes == look->bytes.len &&
			memcmp(memories[i].bytes, look->bytes.data, look->bytes.len) == 0 && equal(memories[i].trees, look->trees))
			return &memories[i];
	return NULL;
}

/* Forget what a fingerprint was made of. */
static void
forget(Memory *memory)
{
	MemoryContext context = memory->context;

	memory->context = NULL;
	if (context != NULL)
		MemoryContextDelete(context);
}

/* Forget what does not fit, beginning with what was remembered first. */
static void
forget_surplus(void)
{
	Size		nbytes = 0;

	for (int i = 0; i < MEMORIES; i++)
	{
		Memory	   *memory = &memories[(oldest - 1 - i + 2 * MEMORIES) % MEMORIES];	/* the last one first */

		if (memory->context == NULL)
			continue;
		if (nbytes + MemoryContextMemAllocated(memory->context, true) > MEMORY_BYTES)
			forget(memory);
		else
			nbytes += MemoryContextMemAllocated(memory->context, true);
	}
}

/* Remember what a fingerprint was made of, in place of what was remembered first. */
static void
remember(const EmogiAnalysisState *look)
{
	Memory	   *memory = &memories[oldest];
	MemoryContext context;
	MemoryContext old;

	forget(memory);
	context = AllocSetContextCreate(TopMemoryContext, "emogi fingerprint of a query", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	memory->trees = copyObject(look->trees);
	memory->bytes = memcpy(palloc(look->bytes.len), look->bytes.data, look->bytes.len);
	memory->nbytes = look->bytes.len;
	memcpy(memory->fingerprint, look->tree->fingerprint, sizeof memory->fingerprint);
	memory->shape = look->tree->shape;
	MemoryContextSwitchTo(old);
	memory->context = context;
	oldest = (oldest + 1) % MEMORIES;
	forget_surplus();
}

/* Make the key of a tree, whose functions have been added. */
void
emogi_fingerprint_make(EmogiAnalysisState *look)
{
	const Memory *memory;

	add_surroundings(look);
	appendBinaryStringInfo(&look->bytes, look->types.definition.data, look->types.definition.len);
	look->tree->has_types = look->types.definition.len > 0;
	memory = recall(look);
	if (memory != NULL)
	{
		memcpy(look->tree->fingerprint, memory->fingerprint, sizeof memory->fingerprint);
		look->tree->shape = memory->shape;
	}
	else if (hash_all(look, look->tree->fingerprint, &look->tree->shape) <= 2 * MEMORY_BYTES)
		remember(look);
}
