/*
 * query.c: query text that a user gives as an argument: what is it, and what does it return?
 *
 * Such text is prepared on its own, which raises its syntax errors with the right position, and must be one SELECT.
 * That it parses on its own is what makes it safe to put between parentheses, into a query of emogi's.
 */
#include "emogi.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

/* Raise 42601 for query text that is not one SELECT. */
static void
report_not_select(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("the %s must be one SELECT", what),
			 errhint("Give a single SELECT, WITH ... SELECT, VALUES or TABLE.")));
}

/*
 * Prepare query text, inside SPI. See that it is one SELECT of at least two columns; get its result's description
 * and the length of the text without a closing semicolon. `what` names the query in errors.
 */
int
emogi_query_describe(const char *query, const char *what, TupleDesc *desc)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	List	   *sources;
	CachedPlanSource *source;
	RawStmt    *raw;
	int			end;

	sources = plan != NULL ? SPI_plan_get_plan_sources(plan) : NIL;
	if (list_length(sources) != 1)
		report_not_select(what);
	source = linitial(sources);
	raw = source->raw_parse_tree;
	if (raw == NULL || !IsA(raw->stmt, SelectStmt) || ((SelectStmt *) raw->stmt)->intoClause != NULL ||
		source->resultDesc == NULL)
		report_not_select(what);
	if (source->resultDesc->natts < 2)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the %s returns %d column, but two are needed", what, source->resultDesc->natts),
				 errhint("An edge is two columns, source and target; a start value is a vertex and a number.")));
	*desc = CreateTupleDescCopy(source->resultDesc);
	end = raw->stmt_len > 0 ? Max(raw->stmt_location, 0) + raw->stmt_len : (int) strlen(query);
	SPI_freeplan(plan);
	return end;
}

/* Raise 42804 unless a column can hold vertex keys. */
void
emogi_query_check_key(TupleDesc desc, int column)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, column);
	Oid			type = getBaseType(attribute->atttypid);

	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the query has type %s and cannot be a vertex key",
						NameStr(attribute->attname), format_type_be(attribute->atttypid)),
				 errhint("Vertex keys are smallint, integer or bigint. Add a cast, such as ::bigint.")));
}

/* Raise 42804 unless a column can hold weights or values; `what` says which. */
void
emogi_query_check_number(TupleDesc desc, int column, const char *what)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, column);

	if (!emogi_is_weight_type(attribute->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the query has type %s and cannot be a %s",
						NameStr(attribute->attname), format_type_be(attribute->atttypid), what),
				 errhint("It must be of a numeric type. Add a cast, such as ::float8.")));
}
