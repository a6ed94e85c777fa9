/*
 * column_hints.c: errors and hints for columns that a relation does not have
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "source/source.h"

/* List a relation's columns, for the DETAIL of an error. */
static char *
column_names(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
							 quote_identifier(NameStr(attribute->attname)));
	}
	return names.len > 0 ? names.data : pstrdup("none");
}

/* Return true if two names differ only by a transposition of adjacent letters. */
static bool
are_transposed(const char *a, const char *b)
{
	size_t		i = 0;

	while (a[i] != '\0' && a[i] == b[i])
		i++;
	return a[i] != '\0' && a[i] == b[i + 1] && a[i + 1] == b[i] && a[i + 1] != '\0' &&
		strcmp(a + i + 2, b + i + 2) == 0;
}

/*
 * Get the name of the relation's column that is most similar to a missing one; NULL if none is
 * similar.
 */
static const char *
find_similar_column(Relation rel, const char *name)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			best = ((int) strlen(name) + 1) / 3 + 1;
	const char *found = NULL;

	for (int i = 0; i < desc->natts; i++)
	{
		const char *other = NameStr(TupleDescAttr(desc, i)->attname);
		int			distance;

		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		distance = are_transposed(name, other) ?
			1 : varstr_levenshtein_less_equal(name, strlen(name), other, strlen(other), 1, 1, 1,
											  best - 1, true);
		if (distance >= best)
			continue;
		best = distance;
		found = quote_identifier(other);
	}
	return found;
}

/*
 * Raise 42703 for a column that the user named. hint: how to call without it, if its name resembles
 * no column's.
 */
void
emogi_column_hints_report_missing(Relation rel, const char *name, const char *hint)
{
	const char *similar = find_similar_column(rel, name);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					RelationGetRelationName(rel)),
			 errdetail("The columns of \"%s\" are: %s.", RelationGetRelationName(rel),
					   column_names(rel)),
			 similar != NULL ? errhint("Perhaps you meant the column %s.", similar) :
			 errhint("%s", hint)));
}

/* Raise 42703 for a relation without columns that are ends of edges by their names. */
void
emogi_column_hints_report_ends(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("relation \"%s\" has neither columns src and dst nor columns source and "
					"target", RelationGetRelationName(rel)),
			 errdetail("The columns of \"%s\" are: %s.", RelationGetRelationName(rel),
					   column_names(rel)),
			 errhint("Name the columns of the two ends of an edge: '%s(source_column, "
					 "target_column)'.",
					 quote_identifier(RelationGetRelationName(rel)))));
}
