/*
 * column_order.c: errors for lists of columns that seem to have another order than theirs
 *
 * A list is 'source, target[, weight[, name]]' or 'source, target, weight, reverse weight, name'.
 * In pgRouting's queries the name of the edge comes first, and an application's key may come first
 * as well. Read by position, such lists denote other edges. A list is refused if its columns show
 * by their names, keys or references that it has another order. Lists of two columns are never
 * questioned, and a junction table (person, friend, since) has none of these signs.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "source/source.h"

/* ---- names ---- */

/* Words by which the names of the two ends of an edge differ. */
static const char *const end_words[][2] = {
	{"source", "target"}, {"source", "destination"}, {"source", "dest"}, {"src", "dst"},
	{"src", "dest"}, {"src", "tgt"}, {"from", "to"}, {"start", "end"}, {"start", "stop"},
	{"origin", "destination"}, {"orig", "dest"}, {"head", "tail"}, {"tail", "head"},
	{"parent", "child"}, {"child", "parent"}, {"sender", "receiver"}, {"payer", "payee"},
	{"follower", "followee"}, {"follower", "followed"}, {"left", "right"}, {"a", "b"}, {"u", "v"},
	{"1", "2"}
};

/*
 * Is the word at a place of a name delimited? Words of one letter must be the last part of it:
 * node_a, node1.
 */
static bool
is_delimited(const char *name, const char *place, const char *word)
{
	if (word[1] != '\0')
		return true;
	return place[1] == '\0' &&
		(place == name || place[-1] == '_' || isdigit((unsigned char) *word));
}

/* Do two names differ only in these words, a's and b's? */
static bool
differ_in(const char *a, const char *b, const char *const words[2])
{
	for (const char *place = strstr(a, words[0]); place != NULL;
		 place = strstr(place + 1, words[0]))
		if (is_delimited(a, place, words[0]) &&
			strcmp(b, psprintf("%.*s%s%s", (int) (place - a), a, words[1],
							   place + strlen(words[0]))) == 0)
			return true;
	return false;
}

/* Are these the names of the source and the target of an edge, as in from_site, to_site? */
bool
emogi_column_order_are_ends(const char *a, const char *b)
{
	for (int i = 0; i < (int) lengthof(end_words); i++)
		if (differ_in(a, b, end_words[i]))
			return true;
	return false;
}

/* Is this the name of a row, rather than of an end of an edge? gid is osm2pgrouting's. */
bool
emogi_column_order_is_row(const char *name)
{
	return strcmp(name, "id") == 0 || strcmp(name, "gid") == 0 || strcmp(name, "edge_id") == 0;
}

/* Is this the name of a weight? */
static bool
is_weight(const char *name)
{
	return strcmp(name, "weight") == 0 || strcmp(name, "cost") == 0 ||
		strcmp(name, "capacity") == 0;
}

/* Does a text end with another? */
static bool
has_tail(const char *text, const char *tail)
{
	return strlen(text) >= strlen(tail) && strcmp(text + strlen(text) - strlen(tail), tail) == 0;
}

/* Is this the name of the reverse of something, as in reverse_km and km_back? */
static bool
is_named_reverse(const char *name)
{
	return strncmp(name, "reverse_", strlen("reverse_")) == 0 ||
		strncmp(name, "rev_", strlen("rev_")) == 0 || has_tail(name, "_reverse") ||
		has_tail(name, "_rev") || has_tail(name, "_back");
}

/* ---- keys and references ---- */

/*
 * Does an index ensure that all rows have distinct values of this column alone? An index that could
 * not be built concurrently is invalid, and ensures nothing.
 */
static bool
is_unique_index(Oid index, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		is_unique;

	if (!HeapTupleIsValid(tuple))
		return false;
	is_unique = ((Form_pg_index) GETSTRUCT(tuple))->indisunique &&
		((Form_pg_index) GETSTRUCT(tuple))->indisvalid &&
		((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts == 1 &&
		((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0] == attnum &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	ReleaseSysCache(tuple);
	return is_unique;
}

/* Is a column a key of the relation by itself? */
static bool
is_key(Relation rel, AttrNumber attnum)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(rel))
		if (is_unique_index(lfirst_oid(cell), attnum))
			return true;
	return false;
}

/* Get the relation that a column references by itself; InvalidOid = none. */
static Oid
referenced(Relation rel, AttrNumber attnum)
{
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(rel))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		if (key->nkeys == 1 && key->conkey[0] == attnum)
			return key->confrelid;
	}
	return InvalidOid;
}

/* Do two columns reference the same relation? */
static bool
reference_one(Relation rel, AttrNumber a, AttrNumber b)
{
	const Oid	relid = referenced(rel, a);

	return OidIsValid(relid) && relid == referenced(rel, b);
}

/* ---- the order ---- */

/* Get the n-th column of a list, from 0. */
static const char *
nth(List *columns, int n)
{
	return linitial(list_nth(columns, n));
}

/*
 * Return true if two columns could be the endpoints of an edge: they have one type, or both are
 * integers.
 */
static bool
are_alike(Relation rel, AttrNumber a, AttrNumber b)
{
	EmogiKeyType keys[2];
	const EmogiEndpoint ends[2] = {emogi_endpoint_type_of_column(rel, a),
	emogi_endpoint_type_of_column(rel, b)};

	return emogi_endpoint_type_find_key(&ends[0], &keys[0]) &&
		emogi_endpoint_type_find_key(&ends[1], &keys[1]) &&
		emogi_key_type_equal(&keys[0], &keys[1]);
}

/* Could all columns from the fourth on be weights? There is at least one. */
static bool
may_have_weights(Relation rel, List *columns)
{
	for (int i = 3; i < list_length(columns); i++)
	{
		const AttrNumber attnum = get_attnum(RelationGetRelid(rel), nth(columns, i));

		if (!emogi_columns_can_be_weights(TupleDescAttr(RelationGetDescr(rel),
														attnum - 1)->atttypid))
			return false;
	}
	return list_length(columns) > 3;
}

/*
 * Are the second and the third column of a list the ends of an edge, rather than the first two? A
 * third column of another type than the second is a weight: 'part(id, parent, kg)'. A tree whose
 * weights have the type of its keys, 'part(part_id, parent, kg)', has a key in front as well, so a
 * key is a sign only in a list of four or five columns, of which the others could be weights.
 */
static bool
begins_with_name(Relation rel, List *columns, const EmogiSource *source)
{
	if (!are_alike(rel, source->dst, source->weight) || is_weight(nth(columns, 2)))
		return false;
	if (strcmp(nth(columns, 0), "id") == 0)
		return true;
	if (emogi_column_order_are_ends(nth(columns, 0), nth(columns, 1)) ||
		reference_one(rel, source->src, source->dst) || has_tail(nth(columns, 1), nth(columns, 0)))
		return false;
	return emogi_column_order_is_row(nth(columns, 0)) ||
		emogi_column_order_are_ends(nth(columns, 1), nth(columns, 2)) ||
		reference_one(rel, source->dst, source->weight) ||
		(may_have_weights(rel, columns) && is_key(rel, source->src));
}

/*
 * Raise 42702 for a list whose first column seems to be another one than the source of an edge, as
 * in pgRouting's queries, 'roads(id, source, target, cost)': its edges would lead from id to the
 * source.
 */
static void
check_first(Relation rel, List *columns, const EmogiSource *source)
{
	const char *relation = quote_identifier(RelationGetRelationName(rel));
	const char *first;
	StringInfoData list;

	if (!begins_with_name(rel, columns, source))
		return;
	first = quote_identifier(nth(columns, 0));
	initStringInfo(&list);
	for (int i = 1; i < list_length(columns); i++)
		appendStringInfo(&list, "%s%s", i > 1 ? ", " : "", quote_identifier(nth(columns, i)));
	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" is ambiguous: the source of an edge, or its "
					"name", nth(columns, 0), RelationGetRelationName(rel)),
			 errhint("Name the ends first, and the name of the edge last: '%1$s(%2$s%3$s)'. If "
					 "\"%6$s\" is the source, turn the edges around: '%1$s(%4$s, %7$s, %5$s)' with "
					 "direction => 'in'.",
					 relation, list.data,
					 list_length(columns) > 3 ? psprintf(", %s", first) : "",
					 quote_identifier(nth(columns, 1)), quote_identifier(nth(columns, 2)),
					 nth(columns, 0), first)));
}

/* Write an end of edges, one column or several, as a column of a query. */
static char *
select_end(List *end, const char *as)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, end)
		appendStringInfo(&sql, "%s%s", foreach_current_index(cell) > 0 ? ", " : "",
						 quote_identifier(lfirst(cell)));
	return list_length(end) > 1 ? psprintf("ROW(%s) AS %s", sql.data, as) :
		psprintf("%s AS %s", sql.data, as);
}

/*
 * Raise 42702 if the fourth of four columns, the name of the edge, is a number and has the name of
 * a reverse weight.
 */
static void
check_fourth(Relation rel, List *columns)
{
	const char *fourth = list_length(columns) == 4 ? nth(columns, 3) : NULL;
	const AttrNumber attnum = fourth != NULL ? get_attnum(RelationGetRelid(rel), fourth) : 0;
	const char *query;

	if (attnum <= 0 || emogi_columns_reverse(columns) != NULL || !is_named_reverse(fourth) ||
		!emogi_columns_can_be_weights(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid))
		return;
	query = psprintf("SELECT %s, %s, %s AS cost, %s", select_end(linitial(columns), "src"),
					 select_end(lsecond(columns), "dst"), quote_identifier(nth(columns, 2)),
					 quote_identifier(fourth));
	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" is ambiguous: the reverse weight of an edge, "
					"or its name", fourth, RelationGetRelationName(rel)),
			 errhint("If it is the reverse weight, list the name of the edge as the fifth column, "
					 "or use a query: '%1$s AS reverse_cost FROM %2$s'. If it is the name: '%1$s "
					 "AS id FROM %2$s'.", query,
					 quote_identifier(RelationGetRelationName(rel)))));
}

/*
 * Raise 42702 if a list of columns, which exist, seems to have another order than it should. Keys
 * of several columns are always ends.
 */
void
emogi_column_order_check(Relation rel, List *columns, const EmogiSource *source)
{
	check_fourth(rel, columns);
	if (list_length(columns) > 2 && !emogi_columns_have_rows(columns))
		check_first(rel, columns, source);
}
