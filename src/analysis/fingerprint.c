/*
 * fingerprint.c: fingerprint of a query: everything its rows depend on except the rows of its
 * tables (Q11 to Q13)
 *
 * A fingerprint is the hash of a digest and of the values of constants, so that it can be made
 * again for other values (known_analyses.c). The input of the digest is the query tree without text
 * locations, the bodies of SQL functions, the catalog rows of all functions, the definitions of
 * types, the database, and the settings that functions declared IMMUTABLE may read. No object id
 * alone is trusted.
 *
 * Serializing and hashing a query tree is most of the cost of an analysis. So a session caches its
 * latest digests. The input is derived again on each call and compared as a whole with that of the
 * cached entries, except for the values of constants, so nothing needs to be invalidated.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "contract/sha256.h"

#include "base/compat.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

#define ENTRIES 16

/* Maximum memory of the session's fingerprint cache. */
#define ENTRIES_BYTES (32 * 1024 * 1024)

/* A digest and the input that it was computed from. */
typedef struct Entry
{
	MemoryContext context;		/* NULL = unused */
	List	   *trees;			/* with the values of constants hidden, if it is split */
	int			nbytes;
	char	   *bytes;
	uint8		digest[EMOGI_FINGERPRINT_BYTES];
	bool		is_split;
} Entry;

static Entry entries[ENTRIES];
static int	oldest = 0;

StaticAssertDecl(EMOGI_FINGERPRINT_BYTES == PG_SHA256_DIGEST_LENGTH, "a fingerprint is SHA-256");

/* Add a setting to the key. All values of extra_float_digits above 0 count as 1. */
static void
add_setting(EmogiAnalysisState *state, const char *name)
{
	const char *value = GetConfigOption(name, true, false);

	if (strcmp(name, "extra_float_digits") == 0 && value != NULL && atoi(value) > 0)
		value = "1";
	appendStringInfo(&state->bytes, "%s=%s;", name, value != NULL ? value : "");
}

/* Add the parts of the key that are neither trees nor functions. */
static void
add_environment(EmogiAnalysisState *state)
{
	static const char *const settings[] = {
		"extra_float_digits", "bytea_output", "IntervalStyle", "quote_all_identifiers",
		"timezone_abbreviations", "array_nulls", "gin_fuzzy_search_limit", "TimeZone", "DateStyle",
		"lc_time", "lc_numeric", "lc_monetary"
	};
	const int	nsettings = state->has_settings ? lengthof(settings) : 7;

	appendBinaryStringInfo(&state->bytes, (char *) &MyDatabaseId, sizeof MyDatabaseId);
	for (int i = 0; i < nsettings && !emogi_faults.analysis[EMOGI_ANALYSIS_SETTINGS]; i++)
		add_setting(state, settings[i]);
}

/*
 * Return the length of a location field at the start of a string, or 0 if there is none. Blanks in
 * values are escaped.
 */
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

/* Serialize a tree without text locations; *length includes the terminating zero. */
static char *
text_of_tree(Node *analysis, Size *length)
{
	char	   *text = nodeToString(analysis);
	char	   *end = text;

	for (char *p = text; *p != '\0';)
	{
		int			skip = p[0] == ' ' && p[1] == ':' && emogi_compat_writes_locations() ?
			location_length(p) : 0;

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

/* Add bytes to a hash. */
static void
add_bytes(pg_cryptohash_ctx *hash, const void *bytes, Size length)
{
	check_step(pg_cryptohash_update(hash, (const uint8 *) bytes, length) >= 0);
}

/* Begin a hash. */
static pg_cryptohash_ctx *
begin_hash(void)
{
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);

	check_step(hash != NULL && pg_cryptohash_init(hash) >= 0);
	return hash;
}

/* End a hash, and get its digest. */
static void
end_hash(pg_cryptohash_ctx *hash, uint8 *digest)
{
	check_step(pg_cryptohash_final(hash, digest, EMOGI_FINGERPRINT_BYTES) >= 0);
	pg_cryptohash_free(hash);
}

/* ---- values of constants ---- */

static const char value_field[] = " :constvalue ";

/* List the constants of an expression tree. */
static bool
list_constants(Node *node, void *context)
{
	List	  **constants = context;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, list_constants, context, 0);
	if (IsA(node, Const))
		*constants = lappend(*constants, node);
	return expression_tree_walker(node, list_constants, context);
}

/* Count the values in the text of a tree. */
static int
count_values(const char *text)
{
	int			count = 0;

	while ((text = strstr(text, value_field)) != NULL)
	{
		count++;
		text += strlen(value_field);
	}
	return count;
}

/* Add the text of a tree except the values of constants, which end with their nodes. */
static void
add_form(pg_cryptohash_ctx *hash, const char *text)
{
	for (;;)
	{
		const char *value = strstr(text, value_field);
		const Size	length = value != NULL ? (Size) (value - text) : strlen(text);

		add_bytes(hash, text, length + (value == NULL));
		if (value == NULL)
			return;
		text = value + strcspn(value, "}");
	}
}

/* Append the value of a constant. */
static void
append_value(StringInfo bytes, const Const *constant)
{
	const bool	is_null = constant->constisnull;
	Size		length;

	appendBinaryStringInfo(bytes, (const char *) &is_null, sizeof is_null);
	if (is_null)
		return;
	if (constant->constbyval)
	{
		appendBinaryStringInfo(bytes, (const char *) &constant->constvalue,
							   sizeof constant->constvalue);
		return;
	}
	length = datumGetSize(constant->constvalue, false, constant->constlen);
	appendBinaryStringInfo(bytes, (const char *) &length, sizeof length);
	appendBinaryStringInfo(bytes, DatumGetPointer(constant->constvalue), (int) length);
}

/* ---- the fingerprint ---- */

/* Make the fingerprint of an analysis from its digest and the values of its constants. */
void
emogi_fingerprint_update(EmogiQueryAnalysis *analysis)
{
	StringInfoData bytes;
	ListCell   *cell;

	if (emogi_faults.fingerprint)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	initStringInfo(&bytes);
	appendBinaryStringInfo(&bytes, (const char *) analysis->digest, sizeof analysis->digest);
	foreach(cell, analysis->constants)
		append_value(&bytes, lfirst(cell));
	emogi_sha256(bytes.data, bytes.len, analysis->fingerprint);
	pfree(bytes.data);
}

/* Note the digest of an analysis. */
static void
set_digest(EmogiQueryAnalysis *analysis)
{
	uint64		first;

	memcpy(&first, analysis->digest, sizeof first);
	analysis->shape = Max(first, 1);
	emogi_fingerprint_update(analysis);
}

/*
 * Make the digest of all but the values of constants, and return the length of the input. The trees
 * are hashed one by one, because their texts can be long. Should a constant be in no place where it
 * is found, the digest is of the values, too.
 */
static Size
hash_all(EmogiAnalysisState *state)
{
	EmogiQueryAnalysis *analysis = state->analysis;
	pg_cryptohash_ctx *hash = begin_hash();
	Size		total = state->bytes.len;
	ListCell   *cell;

	analysis->is_split = true;
	add_bytes(hash, state->bytes.data, state->bytes.len);
	foreach(cell, state->trees)
	{
		List	   *constants = NIL;
		Size		length;
		char	   *text;

		CHECK_FOR_INTERRUPTS();
		text = text_of_tree(lfirst(cell), &length);
		(void) list_constants(lfirst(cell), &constants);
		if (count_values(text) == list_length(constants))
			add_form(hash, text);
		else
		{
			analysis->is_split = false;
			add_bytes(hash, text, length);
		}
		pfree(text);
		list_free(constants);
		total += length;
	}
	end_hash(hash, analysis->digest);
	return total;
}

/* Hide the values of constants, so that trees that differ only by these are equal. */
static void
hide_values(List *constants)
{
	ListCell   *cell;

	foreach(cell, constants)
	{
		Const	   *constant = lfirst(cell);

		constant->constbyval = true;
		constant->constvalue = (Datum) 0;
	}
}

/* Find the entry with exactly this input, from the newest on, or return NULL. */
static const Entry *
find_exact(const EmogiAnalysisState *state, bool is_split)
{
	for (int i = 1; i <= ENTRIES; i++)
	{
		const Entry *entry = &entries[(oldest - i + ENTRIES) % ENTRIES];

		if (entry->context != NULL && entry->is_split == is_split &&
			entry->nbytes == state->bytes.len &&
			memcmp(entry->bytes, state->bytes.data, state->bytes.len) == 0 &&
			equal(entry->trees, state->trees))
			return entry;
	}
	return NULL;
}

/*
 * Find the entry with this input except for the values of constants, or with exactly this input if
 * its digest is of the values, too; return NULL if there is none.
 */
static const Entry *
find_entry(const EmogiAnalysisState *state)
{
	List	   *constants = state->analysis->constants;
	const int	count = list_length(constants);
	Const	   *shown = palloc(Max(count, 1) * sizeof *shown);
	const Entry *entry;

	for (int i = 0; i < count; i++)
		shown[i] = *(const Const *) list_nth(constants, i);
	hide_values(constants);
	entry = find_exact(state, true);
	for (int i = 0; i < count; i++)
		*(Const *) list_nth(constants, i) = shown[i];
	pfree(shown);
	return entry != NULL ? entry : find_exact(state, false);
}

/* Free an entry. */
static void
drop_entry(Entry *entry)
{
	MemoryContext context = entry->context;

	entry->context = NULL;
	if (context != NULL)
		MemoryContextDelete(context);
}

/* Evict the oldest entries that exceed ENTRIES_BYTES. */
static void
evict_surplus(void)
{
	Size		nbytes = 0;

	for (int i = 0; i < ENTRIES; i++)
	{
		/* newest first */
		Entry	   *entry = &entries[(oldest - 1 - i + 2 * ENTRIES) % ENTRIES];

		if (entry->context == NULL)
			continue;
		if (nbytes + MemoryContextMemAllocated(entry->context, true) > ENTRIES_BYTES)
			drop_entry(entry);
		else
			nbytes += MemoryContextMemAllocated(entry->context, true);
	}
}

/* Add an entry, replacing the oldest. */
static void
add_entry(const EmogiAnalysisState *state)
{
	Entry	   *entry = &entries[oldest];
	MemoryContext context;
	MemoryContext old;

	drop_entry(entry);
	context = AllocSetContextCreate(TopMemoryContext, "emogi fingerprint of a query",
									ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	entry->trees = copyObject(state->trees);
	if (state->analysis->is_split)
	{
		List	   *constants = NIL;

		(void) list_constants((Node *) entry->trees, &constants);
		hide_values(constants);
		list_free(constants);
	}
	entry->bytes = memcpy(palloc(state->bytes.len), state->bytes.data, state->bytes.len);
	entry->nbytes = state->bytes.len;
	memcpy(entry->digest, state->analysis->digest, sizeof entry->digest);
	entry->is_split = state->analysis->is_split;
	MemoryContextSwitchTo(old);
	entry->context = context;
	oldest = (oldest + 1) % ENTRIES;
	evict_surplus();
}

/* Compute the fingerprint of a query, after its functions have been added. */
void
emogi_fingerprint_make(EmogiAnalysisState *state)
{
	const Entry *entry;

	add_environment(state);
	appendBinaryStringInfo(&state->bytes, state->types.definition.data,
						   state->types.definition.len);
	state->analysis->has_types = state->types.definition.len > 0;
	(void) list_constants((Node *) state->trees, &state->analysis->constants);
	entry = find_entry(state);
	if (entry != NULL)
	{
		memcpy(state->analysis->digest, entry->digest, sizeof entry->digest);
		state->analysis->is_split = entry->is_split;
	}
	else if (hash_all(state) <= 2 * ENTRIES_BYTES)
		add_entry(state);
	set_digest(state->analysis);
}
