/*
 * column_order.c: errors for lists of columns that have another order than theirs
 *
 * A list is 'source, target[, weight[, name]]' or 'source, target, weight, reverse weight, name'.
 * In pgRouting's queries the name of the edge comes first. Read by position, such a list denotes
 * other edges. It is refused only if the second and the third column are the ends, by their names
 * or their foreign keys, or if a weight follows them. No rule reads indexes: creating one must not
 * break a view with a list. Lists of two columns are never questioned.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

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

/*
 * Do the names consist of whole words, such as src, dst or from_site, to_site? Single letters and
 * numbers, a, b or x1, x2, may have other meanings.
 */
static bool
are_words_of_ends(const char *a, const char *b)
{
	for (int i = 0; i < (int) lengthof(end_words); i++)
		if (end_words[i][0][1] != '\0' && differ_in(a, b, end_words[i]))
			return true;
	return false;
}

/*
 * Is this the name of a row, rather than of an end of an edge? gid is osm2pgrouting's, ogc_fid and
 * objectid are those of importers of maps.
 */
bool
emogi_column_order_is_row(const char *name)
{
	static const char *const rows[] = {"id", "gid", "fid", "eid", "edge_id", "arc_id", "link_id",
	"ogc_fid", "objectid", "row_id", "rowid"};

	for (int i = 0; i < (int) lengthof(rows); i++)
		if (strcmp(name, rows[i]) == 0)
			return true;
	return false;
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

/* Is this the name of a row of a relation: id, or lane_id of the relation lanes? */
static bool
is_row_of(const char *name, Relation rel)
{
	if (emogi_column_order_is_row(name))
		return true;
	return strlen(name) > strlen("_id") && has_tail(name, "_id") &&
		strncmp(name, RelationGetRelationName(rel), strlen(name) - strlen("_id")) == 0;
}

/* Is this the name of the parent in a tree? */
static bool
is_parent(const char *name)
{
	return strstr(name, "parent") != NULL || strstr(name, "boss") != NULL ||
		strstr(name, "manager") != NULL;
}

/* Is this the name of the reverse of a weight, as reverse_km and km_back are of km? */
static bool
is_reverse_of(const char *name, const char *weight)
{
	return strcmp(name, psprintf("reverse_%s", weight)) == 0 ||
		strcmp(name, psprintf("rev_%s", weight)) == 0 ||
		strcmp(name, psprintf("%s_reverse", weight)) == 0 ||
		strcmp(name, psprintf("%s_rev", weight)) == 0 ||
		strcmp(name, psprintf("%s_back", weight)) == 0;
}

/* ---- references ---- */

/* Get the foreign key of a column alone; NULL = none. */
static const ForeignKeyCacheInfo *
foreign_key(Relation rel, AttrNumber attnum)
{
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(rel))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		if (key->nkeys == 1 && key->conkey[0] == attnum)
			return key;
	}
	return NULL;
}

/* Do two columns reference the same relation? */
static bool
reference_one(Relation rel, AttrNumber a, AttrNumber b)
{
	const ForeignKeyCacheInfo *const keys[] = {foreign_key(rel, a), foreign_key(rel, b)};

	return keys[0] != NULL && keys[1] != NULL && keys[0]->confrelid == keys[1]->confrelid;
}

/* Does a column reference another one of its own relation, as the parent of a tree does? */
static bool
references_own(Relation rel, AttrNumber attnum, AttrNumber other)
{
	const ForeignKeyCacheInfo *key = foreign_key(rel, attnum);

	return key != NULL && key->confrelid == RelationGetRelid(rel) && key->confkey[0] == other;
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

/*
 * Are the second and the third column of a list the ends of an edge, rather than the first two? A
 * third column of another type than the second is a weight: 'part(id, parent, kg)'.
 */
static bool
begins_with_name(Relation rel, List *columns, const EmogiSource *source)
{
	const char *const name[] = {nth(columns, 0), nth(columns, 1), nth(columns, 2)};
	bool		is_row;

	if (!are_alike(rel, source->dst, source->weight) || is_weight(name[2]) ||
		emogi_column_order_are_ends(name[0], name[1]) ||
		reference_one(rel, source->src, source->dst) ||
		references_own(rel, source->dst, source->src))
		return false;
	is_row = is_row_of(name[0], rel);
	if (emogi_column_order_are_ends(name[1], name[2]))
		return is_row || (are_words_of_ends(name[1], name[2]) && !has_tail(name[1], name[0]));
	return is_row && !is_parent(name[1]) &&
		(reference_one(rel, source->dst, source->weight) ||
		 (list_length(columns) > 3 && is_weight(nth(columns, 3))));
}

/* Write columns as one of a query. */
static char *
select_as(List *columns, const char *as)
{
	StringInfoData sql;
	ListCell   *cell;

	if (list_length(columns) == 1 && strcmp(linitial(columns), as) == 0)
		return pstrdup(as);
	initStringInfo(&sql);
	foreach(cell, columns)
		appendStringInfo(&sql, "%s%s", foreach_current_index(cell) > 0 ? ", " : "",
						 quote_identifier(lfirst(cell)));
	return list_length(columns) > 1 ? psprintf("ROW(%s) AS %s", sql.data, as) :
		psprintf("%s AS %s", sql.data, as);
}

/* Get the name of a relation for a query: with its schema, unless the search path finds it. */
static const char *
qualified_name(Relation rel)
{
	return quote_qualified_identifier(RelationIsVisible(RelationGetRelid(rel)) ? NULL :
									  get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
}

/* Write the query that a list of columns in the right order stands for. */
static char *
select_of(Relation rel, List *columns)
{
	static const char *const one_way[] = {"src", "dst", "weight", "id"};
	static const char *const both_ways[] = {"src", "dst", "cost", "reverse_cost", "id"};
	const char *const *as = emogi_columns_reverse(columns) != NULL ? both_ways : one_way;
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, columns)
		appendStringInfo(&sql, "%s%s", foreach_current_index(cell) > 0 ? ", " : "SELECT ",
						 select_as(lfirst(cell), as[foreach_current_index(cell)]));
	appendStringInfo(&sql, " FROM %s", qualified_name(rel));
	return sql.data;
}

/*
 * Raise 42702 for a list whose first column seems to be another one than the source of an edge, as
 * in pgRouting's queries, 'roads(id, source, target, cost)': its edges would lead from id to the
 * source.
 */
static void
check_first(Relation rel, List *columns, const EmogiSource *source)
{
	List	   *ends_first;

	if (!begins_with_name(rel, columns, source))
		return;
	ends_first = list_delete_first(list_copy(columns));
	if (list_length(columns) > 3)	/* otherwise it would be the weight */
		ends_first = lappend(ends_first, linitial(columns));
	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" is ambiguous: the source of an edge, or its "
					"name", nth(columns, 0), RelationGetRelationName(rel)),
			 errhint("Use a query. If the ends are \"%s\" and \"%s\": '%s'. If they are \"%s\" and "
					 "\"%s\": '%s'.",
					 nth(columns, 1), nth(columns, 2), select_of(rel, ends_first),
					 nth(columns, 0), nth(columns, 1), select_of(rel, columns))));
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

	if (attnum <= 0 || emogi_columns_reverse(columns) != NULL ||
		!is_reverse_of(fourth, nth(columns, 2)) ||
		!emogi_columns_can_be_weights(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid))
		return;
	query = psprintf("SELECT %s, %s, %s, %s", select_as(linitial(columns), "src"),
					 select_as(lsecond(columns), "dst"), select_as(lthird(columns), "cost"),
					 quote_identifier(fourth));
	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" is ambiguous: the reverse weight of an edge, "
					"or its name", fourth, RelationGetRelationName(rel)),
			 errhint("If it is the reverse weight, list the name of the edge as the fifth column, "
					 "or use a query: '%1$s AS reverse_cost FROM %2$s'. If it is the name: '%1$s "
					 "AS id FROM %2$s'.", query, qualified_name(rel))));
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
