/*
 * index_search_weights.c: proof that a build would accept all weights of a source.
 *
 * A build reads all weights, and refuses negative ones, NaN, NULL and infinite factors. Of two
 * costs it accepts negative ones, which mean that there is no edge. A search reads few. So it
 * replaces the build only if the conditions on the rows, or the table's constraints, exclude such
 * weights: NOT NULL with CHECK (weight >= 0) and, unless weights are integers, an upper bound,
 * because NaN is greater than all other numbers. Otherwise changes/checked_weights.c may tell from
 * the rows.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "edges/row_filter.h"
#include "index_search/index_search.h"

/* A numeric with at most so many digits on either side of the point is in the range of a double. */
#define MAX_DIGITS 300

/* Get zero and NaN of a type of weights; false for a type with other invalid weights. */
static bool
special_values(const FormData_pg_attribute *column, Datum *zero, NullableDatum *nan)
{
	const int	digits = column->atttypmod - VARHDRSZ;

	*nan = (NullableDatum) {.isnull = true};
	switch (column->atttypid)
	{
		case INT2OID:
		case INT4OID:
			*zero = Int32GetDatum(0);
			return true;
		case INT8OID:
			*zero = Int64GetDatum(0);
			return true;
		case FLOAT4OID:
			*zero = Float4GetDatum(0);
			*nan = (NullableDatum) {.value = Float4GetDatum(get_float4_nan())};
			return true;
		case FLOAT8OID:
			*zero = Float8GetDatum(0);
			*nan = (NullableDatum) {.value = Float8GetDatum(get_float8_nan())};
			return true;
		case NUMERICOID:
			*zero = DirectFunctionCall3(numeric_in, CStringGetDatum("0"), 0, Int32GetDatum(-1));
			*nan = (NullableDatum) {.value = DirectFunctionCall3(numeric_in,
																 CStringGetDatum("NaN"), 0,
																 Int32GetDatum(-1))};
			return digits >= 0 && (digits >> 16 & 0xFFFF) <= MAX_DIGITS &&
				(digits & 0x7FF) <= MAX_DIGITS;
		default:
			return false;
	}
}

/* Make a comparison of a column with a constant of its type. */
static Expr *
compare(const FormData_pg_attribute *column, Oid operator, Datum value)
{
	Var		   *var = makeVar(1, column->attnum, column->atttypid, column->atttypmod,
							  column->attcollation, 0);

	return make_opclause(operator, BOOLOID, false, (Expr *) var,
						 (Expr *) makeConst(column->atttypid, -1, InvalidOid, column->attlen, value,
											false, column->attbyval), InvalidOid, InvalidOid);
}

/* Make the condition that a column is not NULL. */
static Expr *
not_null(const FormData_pg_attribute *column)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) makeVar(1, column->attnum, column->atttypid, column->atttypmod,
								 column->attcollation, 0);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return (Expr *) test;
}

/* Get the smallest infinite value of a type of weights; NULL if all of them are finite. */
static NullableDatum
infinity_of(Oid type)
{
	switch (type)
	{
		case FLOAT4OID:
			return (NullableDatum) {.value = Float4GetDatum(get_float4_infinity())};
		case FLOAT8OID:
			return (NullableDatum) {.value = Float8GetDatum(get_float8_infinity())};
		default:
			return (NullableDatum) {.isnull = true};	/* a numeric has a limit of digits */
	}
}

/* List what must be true of a weight; NIL if that cannot be said. */
static List *
requirements(const FormData_pg_attribute *column, bool may_be_negative, bool is_finite)
{
	const Oid	type = column->atttypid;
	const Oid	family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	const NullableDatum infinity = infinity_of(type);
	Datum		zero;
	NullableDatum nan;
	List	   *required;

	if (!special_values(column, &zero, &nan))
		return NIL;
	required = list_make1(may_be_negative ? not_null(column) :
						  compare(column, get_opfamily_member(family, type, type,
															  BTGreaterEqualStrategyNumber),
								  zero));
	if (!nan.isnull)
		required = lappend(required, compare(column, get_negator(get_opfamily_member(
							   family, type, type, BTEqualStrategyNumber)), nan.value));
	if (is_finite && !infinity.isnull)
		required = lappend(required, compare(column, get_opfamily_member(
							   family, type, type, BTLessStrategyNumber), infinity.value));
	return required;
}

/* List what the CHECK constraints of a heap say: that it is not false. */
static List *
checks(Relation heap)
{
	const TupleConstr *constraints = RelationGetDescr(heap)->constr;
	List	   *found = NIL;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
	{
		Node	   *check;

		if (!constraints->check[i].ccvalid)
			continue;
		check = eval_const_expressions(NULL, stringToNode(constraints->check[i].ccbin));
		found = list_concat(found, make_ands_implicit((Expr *) check));
	}
	return found;
}

/* Would a build accept all weights in a column of a heap? */
static bool
accepts_column(Relation heap, const char *name, bool may_be_negative, bool is_finite,
			   const EmogiRowFilterPlan *filter)
{
	const AttrNumber number = get_attnum(RelationGetRelid(heap), name);
	const FormData_pg_attribute *column = TupleDescAttr(RelationGetDescr(heap), number - 1);
	List	   *required = requirements(column, may_be_negative, is_finite);
	List	   *quals = emogi_row_filter_quals(filter, heap);

	if (required == NIL)
		return false;
	if (predicate_implied_by(required, quals, false))
		return true;
	if (!emogi_compat_has_no_null(heap, number))
		return false;
	if (may_be_negative)
		required = list_delete_first(required);
	return predicate_implied_by(required, list_concat_copy(checks(heap), quals), true);
}

/* Write the constraints of a column that accepts_column looks for. */
static void
write_constraint(StringInfo text, Oid relid, AttrNumber attnum, bool may_be_negative)
{
	const char *name = quote_identifier(get_attname(relid, attnum, false));
	const Oid	type = getBaseType(get_atttype(relid, attnum));
	const bool	is_integer = type == INT2OID || type == INT4OID || type == INT8OID;

	if (text->len > 0)
		appendStringInfoString(text, " and ");
	if (type == NUMERICOID)
		appendStringInfo(text, "%s of type numeric(p, s), NOT NULL", name);
	else
		appendStringInfo(text, "%s NOT NULL", name);
	if (is_integer && !may_be_negative)
		appendStringInfo(text, " CHECK (%s >= 0)", name);
	else if (!is_integer && may_be_negative)
		appendStringInfo(text, " CHECK (%s <= 1e9)", name);
	else if (!is_integer)
		appendStringInfo(text, " CHECK (%s BETWEEN 0 AND 1e9)", name);
}

/*
 * Get the constraints by which emogi_index_search_weights_are_accepted would accept the weights of
 * a source, for messages.
 */
char *
emogi_index_search_weights_constraint(const EmogiSource *source)
{
	const bool	both_ways = source->reverse > 0;
	StringInfoData text;

	initStringInfo(&text);
	write_constraint(&text, source->relid, source->weight, both_ways);
	if (both_ways)
		write_constraint(&text, source->relid, source->reverse, true);
	return text.data;
}

/*
 * Would a build accept all weights of a source's edges, whatever its heaps contain? They are
 * locked. is_finite: a build refuses infinite weights, too.
 */
bool
emogi_index_search_weights_are_accepted(const EmogiSource *source, List *heaps, bool is_finite)
{
	const EmogiRowFilterPlan filter = emogi_row_filter_plan(source);
	const char *weight = get_attname(source->relid, source->weight, false);
	const bool	both_ways = source->reverse > 0;
	bool		are_accepted = true;
	ListCell   *cell;

	foreach(cell, heaps)
	{
		Relation	heap = table_open(lfirst_oid(cell), NoLock);

		are_accepted = are_accepted &&
			accepts_column(heap, weight, both_ways, is_finite, &filter) &&
			(!both_ways || accepts_column(heap, get_attname(source->relid, source->reverse, false),
										  true, is_finite, &filter));
		table_close(heap, NoLock);
	}
	return are_accepted;
}
