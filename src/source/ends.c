/*
 * ends.c: the type that both ends of an edge have.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "source/source.h"

/* Raise 42804 for a column that cannot hold keys, `of` being what it belongs to. */
static void
refuse_type(const EmogiEnd *end, const char *of)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of %s has type %s and cannot be a vertex key", end->name, of, format_type_be(end->type)),
			 errdetail("The type has no order: there is no default operator class of btree for it."),
			 errhint("Cast it in a query: 'SELECT %s::text, ... FROM ...'.", quote_identifier(end->name))));
}

/* Raise 42804 for columns of two types. */
static void
refuse_pair(const EmogiEnd *src, const EmogiEnd *dst, const char *of)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("columns \"%s\" and \"%s\" of %s have different types", src->name, dst->name, of),
			 errdetail("They have types %s and %s.", format_type_be(src->type), format_type_be(dst->type)),
			 errhint("Cast one of them in a query: 'SELECT %s, %s::%s FROM ...'.", quote_identifier(src->name),
					 quote_identifier(dst->name), format_type_be(src->type))));
}

/* Raise 42P21 for columns of two collations. */
static void
refuse_collations(const EmogiEnd *src, const EmogiEnd *dst, const char *of)
{
	const char *names[2] = {get_collation_name(src->collation), get_collation_name(dst->collation)};

	ereport(ERROR,
			(errcode(ERRCODE_COLLATION_MISMATCH),
			 errmsg("columns \"%s\" and \"%s\" of %s have different collations", src->name, dst->name, of),
			 errdetail("They have collations %s and %s.", names[0] != NULL ? quote_identifier(names[0]) : "none",
					   names[1] != NULL ? quote_identifier(names[1]) : "none"),
			 errhint("Choose one in a query: 'SELECT %s COLLATE \"C\", %s COLLATE \"C\" FROM ...'.", quote_identifier(src->name),
					 quote_identifier(dst->name))));
}

/* Find out which keys the two ends of an edge are; `of` says in messages whose columns they are. Raises 42804 and 42P21. */
void
emogi_ends_find_keys(const EmogiEnd *src, const EmogiEnd *dst, const char *of, EmogiKeyType *keys)
{
	EmogiKeyType other;

	if (!emogi_key_type_find(src->type, src->collation, keys))
		refuse_type(src, of);
	if (!emogi_key_type_find(dst->type, dst->collation, &other))
		refuse_type(dst, of);
	if (keys->type != other.type)
		refuse_pair(src, dst, of);
	if (!emogi_key_type_equal(keys, &other))
		refuse_collations(src, dst, of);
}
