/*
 * endpoint_type.c: the common type of both ends of an edge
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "source/source.h"

/* Get a column of a relation as an endpoint of edges. */
EmogiEndpoint
emogi_endpoint_type_of_column(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	return (EmogiEndpoint) {NameStr(attribute->attname), attribute->atttypid, -1,
							attribute->attcollation, false};
}

/*
 * Raise 42804 for a column of a pseudo-type, such as an array of anonymous rows. of: the relation
 * or query it belongs to.
 */
static void
refuse_pseudo_type(const EmogiEndpoint *end, const char *of)
{
	const bool	has_rows = end->type == RECORDOID || end->type == RECORDARRAYOID;

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of %s has type %s and cannot be a vertex key", end->name, of,
					format_type_be(end->type)),
			 has_rows ? errdetail("Only the session that created an anonymous row knows its "
								  "columns.") :
			 errdetail("The type is a pseudo-type."),
			 has_rows ? errhint("Cast the rows to a composite type, after CREATE TYPE vertex AS "
								"(...): 'SELECT ARRAY[ROW(...)::vertex], ... FROM ...'.") :
			 errhint("Cast it in a query: 'SELECT %s::text, ... FROM ...'.",
					 quote_identifier(end->name))));
}

/* Raise 42804 for a column that cannot hold keys. of: the relation or query it belongs to. */
static void
refuse_type(const EmogiEndpoint *end, const char *of)
{
	uint64		identity;

	if (!emogi_type_identify(end->type, &identity))
		refuse_pseudo_type(end, of);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of %s has type %s and cannot be a vertex key", end->name, of,
					format_type_be(end->type)),
			 errdetail("The type has no default btree operator class."),
			 end->in_row ? errhint("Cast it in a query: 'SELECT ROW(..., column::text), ... FROM "
								   "...'.") :
			 errhint("Cast it in a query: 'SELECT %s::text, ... FROM ...'.",
					 quote_identifier(end->name))));
}

/*
 * Get a hint with a query that gives two columns one type: the first's if the second can be
 * assigned to it, otherwise text.
 */
static char *
cast_hint(const EmogiEndpoint *src, const EmogiEndpoint *dst)
{
	const bool	assigns = can_coerce_type(1, &dst->type, &src->type, COERCION_ASSIGNMENT);
	const char *type = format_type_be(src->type);

	if (src->in_row)
		return assigns ? psprintf("Cast one of them in a query: 'SELECT ROW(...), ROW(..., "
								  "column::%s) FROM ...'.", type) :
			pstrdup("Cast both of them in a query: 'SELECT ROW(..., column::text), ROW(..., "
					"column::text) FROM ...'.");
	if (assigns)
		return psprintf("Cast one of them in a query: 'SELECT %s, %s::%s FROM ...'.",
						quote_identifier(src->name), quote_identifier(dst->name), type);
	return psprintf("Cast both of them in a query: 'SELECT %s::text, %s::text FROM ...'.",
					quote_identifier(src->name), quote_identifier(dst->name));
}

/* Raise 42804 for columns of two types. */
static void
refuse_pair(const EmogiEndpoint *src, const EmogiEndpoint *dst, const char *of, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("columns \"%s\" and \"%s\" of %s have different types", src->name, dst->name,
					of),
			 errdetail("They have types %s and %s.", format_type_be(src->type),
					   format_type_be(dst->type)),
			 errhint("%s", hint)));
}

/* Raise 42P21 for columns of two collations. */
static void
refuse_collations(const EmogiEndpoint *src, const EmogiEndpoint *dst, const char *of)
{
	const char *names[2] = {get_collation_name(src->collation), get_collation_name(dst->collation)};

	ereport(ERROR,
			(errcode(ERRCODE_COLLATION_MISMATCH),
			 errmsg("columns \"%s\" and \"%s\" of %s have different collations", src->name,
					dst->name, of),
			 errdetail("They have collations %s and %s.",
					   names[0] != NULL ? quote_identifier(names[0]) : "none",
					   names[1] != NULL ? quote_identifier(names[1]) : "none"),
			 src->in_row ? errhint("Choose one in a query: 'SELECT ROW(..., a COLLATE \"C\"), "
								   "ROW(..., b COLLATE \"C\") FROM ...'.") :
			 errhint("Choose one in a query: 'SELECT %s COLLATE \"C\", %s COLLATE \"C\" FROM ...'.",
					 quote_identifier(src->name),
					 quote_identifier(dst->name))));
}

/* ---- rows ---- */

/*
 * Raise 54011 for ends with more columns than a key may have, 42804 for ends with different numbers
 * of columns.
 */
void
emogi_endpoint_type_check_count(int nsrc, int ndst, const char *of)
{
	if (Max(nsrc, ndst) > EMOGI_KEY_MAX_PARTS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("a vertex key of %s has %d columns", of, Max(nsrc, ndst)),
				 errdetail("A key may have up to %d columns.", EMOGI_KEY_MAX_PARTS),
				 errhint("Combine some of them in a query: 'SELECT ROW(a, b || '':'' || c), ... "
						 "FROM ...'.")));
	if (nsrc != ndst)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the two ends of an edge of %s have different numbers of "
						"columns: %d and %d", of, nsrc, ndst),
				 errhint("Name the same number for both: 'edges((tenant, a), (tenant, b))'.")));
}

/*
 * Get the columns of an end that is a row, without dropped ones; NULL if it is not a row or its
 * columns are unknown.
 */
static TupleDesc
columns_of(const EmogiEndpoint *end)
{
	const Oid	type = getBaseType(end->type);
	TupleDesc	desc;
	TupleDesc	columns;
	int			n = 0;

	if (type == RECORDOID ? end->typmod < 0 : get_typtype(type) != TYPTYPE_COMPOSITE)
		return NULL;
	desc = lookup_rowtype_tupdesc_copy(type, type == RECORDOID ? end->typmod : -1);
	for (int i = 0; i < desc->natts; i++)
		n += !TupleDescAttr(desc, i)->attisdropped;
	columns = CreateTemplateTupleDesc(n);
	n = 0;
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			TupleDescCopyEntry(columns, ++n, desc, i + 1);
	TupleDescFinalize(columns);
	return columns;
}

/* Add the composite types of two ends that are rows to the definition of their keys. */
static void
add_definitions(const EmogiEndpoint *src, const EmogiEndpoint *dst, EmogiKeyType *keys)
{
	const Oid	types[2] = {getBaseType(src->type), getBaseType(dst->type)};

	for (int i = 0; i < 2; i++)
	{
		uint64		identity = 0;

		if (types[i] != RECORDOID)
			(void) emogi_type_identify(types[i], &identity);
		keys->definition = hash_combine64(keys->definition, identity);
	}
}

/* Get a column of a row as an end, under a name for messages. */
static EmogiEndpoint
column_of(const EmogiEndpoint *end, TupleDesc columns, int i)
{
	Form_pg_attribute attribute = TupleDescAttr(columns, i);

	return (EmogiEndpoint) {psprintf("%s.%s", end->name, NameStr(attribute->attname)),
							attribute->atttypid, -1, attribute->attcollation, true};
}

/*
 * Find the key type of an end, assuming that the other end has the same type; return false if it
 * cannot be a key.
 */
bool
emogi_endpoint_type_find_key(const EmogiEndpoint *end, EmogiKeyType *key)
{
	TupleDesc	columns = columns_of(end);
	EmogiKeyType parts[EMOGI_KEY_MAX_PARTS];

	if (columns == NULL)
		return emogi_key_type_find(end->type, end->collation, key);
	if (columns->natts == 0 || columns->natts > EMOGI_KEY_MAX_PARTS)
		return false;
	for (int i = 0; i < columns->natts; i++)
	{
		EmogiEndpoint	column = column_of(end, columns, i);

		if (!emogi_key_type_find(column.type, column.collation, &parts[i]))
			return false;
	}
	emogi_key_type_combine(parts, columns->natts, key);
	add_definitions(end, end, key);
	return true;
}

/* Raise 42804 for an anonymous row whose columns are unknown. */
static void
refuse_unknown_row(const EmogiEndpoint *end, const char *of)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of %s is a row whose columns are not known", end->name, of),
			 errdetail("The columns are known if the query has ROW(...), with the same types in "
					   "all branches of a UNION."),
			 errhint("Cast it to a composite type: 'SELECT (...)::vertex, ... FROM ...' after "
					 "CREATE TYPE vertex AS (...).")));
}

/* Find the key type of two ends of one column each. */
static void
find_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst, const char *of, EmogiKeyType *keys)
{
	EmogiKeyType other;

	if (!emogi_key_type_find(src->type, src->collation, keys))
		refuse_type(src, of);
	if (!emogi_key_type_find(dst->type, dst->collation, &other))
		refuse_type(dst, of);
	if (keys->type != other.type)
		refuse_pair(src, dst, of, cast_hint(src, dst));
	if (!emogi_key_type_equal(keys, &other))
		refuse_collations(src, dst, of);
}

/*
 * Find the key type of two ends of nparts columns each, whose number has been checked. Raises the
 * errors of emogi_endpoint_type_find_keys.
 */
void
emogi_endpoint_type_find_row_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst, int nparts,
								  const char *of, EmogiKeyType *keys)
{
	EmogiKeyType parts[EMOGI_KEY_MAX_PARTS];

	for (int i = 0; i < nparts; i++)
		find_keys(&src[i], &dst[i], of, &parts[i]);
	emogi_key_type_combine(parts, nparts, keys);
}

/* Find the key type of two ends that are rows with these columns. */
static void
find_keys_of_rows(const EmogiEndpoint *src, TupleDesc a, const EmogiEndpoint *dst, TupleDesc b,
				  const char *of, EmogiKeyType *keys)
{
	EmogiEndpoint	ends[2][EMOGI_KEY_MAX_PARTS];

	emogi_endpoint_type_check_count(a->natts, b->natts, of);
	if (a->natts == 0)
		refuse_unknown_row(src, of);
	for (int i = 0; i < a->natts; i++)
	{
		ends[0][i] = column_of(src, a, i);
		ends[1][i] = column_of(dst, b, i);
	}
	emogi_endpoint_type_find_row_keys(ends[0], ends[1], a->natts, of, keys);
	add_definitions(src, dst, keys);
}

/*
 * Find the key type of the two ends of an edge. of: the relation or query they belong to, for
 * messages. Raises 42804 and 42P21, and 54011 for rows with too many columns.
 */
void
emogi_endpoint_type_find_keys(const EmogiEndpoint *src, const EmogiEndpoint *dst, const char *of,
							  EmogiKeyType *keys)
{
	TupleDesc	a = columns_of(src);
	TupleDesc	b = columns_of(dst);

	if (a != NULL && b != NULL)
	{
		find_keys_of_rows(src, a, dst, b, of, keys);
		return;
	}
	if (a == NULL && getBaseType(src->type) == RECORDOID)
		refuse_unknown_row(src, of);
	if (b == NULL && getBaseType(dst->type) == RECORDOID)
		refuse_unknown_row(dst, of);
	if (a != NULL || b != NULL)
		refuse_pair(src, dst, of,
					"Give both ends as rows of the same columns: 'SELECT ROW(...), ROW(...) FROM "
					"...'.");
	find_keys(src, dst, of, keys);
}
