/*
 * source.c: what the graph argument names.
 *
 *   'edges'  'schema."Edges"'                 a relation; its columns by name: src,dst or source,target
 *   'roads(from_node, to_node[, km])'         a relation with the columns named
 *   'SELECT a, b[, w] FROM ...'               a query (also WITH, VALUES, TABLE, or one in parentheses)
 *
 * Only names are resolved here, and the relation locked; rights are access.c's.
 */
#include "emogi.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#define EMOGI_FORMS_HINT \
	"Name a table ('edges'), a table with its columns ('edges(src, dst)'), or give a query ('SELECT src, dst FROM edges')."

/* Raise 42601 for a graph argument of no known form. */
static void
report_form(const char *graph)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("invalid graph argument: \"%s\"", graph),
			 errhint(EMOGI_FORMS_HINT)));
}

/* Skip blanks, comments and opening parentheses. */
static const char *
skip_to_word(const char *p)
{
	for (;;)
	{
		if (isspace((unsigned char) *p) || *p == '(')
			p++;
		else if (p[0] == '-' && p[1] == '-')
			p += strcspn(p, "\n\r");
		else if (p[0] == '/' && p[1] == '*')
		{
			int			depth = 0;

			do
			{
				if (p[0] == '/' && p[1] == '*')
				{
					depth++;
					p += 2;
				}
				else if (p[0] == '*' && p[1] == '/')
				{
					depth--;
					p += 2;
				}
				else
					p++;
			} while (depth > 0 && *p != '\0');
		}
		else
			return p;
	}
}

/* Is this the text of a query? Its first word, reserved in SQL, tells. */
static bool
is_query_text(const char *graph)
{
	static const char *const words[] = {"select", "with", "values", "table"};
	const char *word = skip_to_word(graph);

	for (int i = 0; i < (int) lengthof(words); i++)
	{
		size_t		length = strlen(words[i]);
		unsigned char after;

		if (pg_strncasecmp(word, words[i], length) != 0)
			continue;
		after = (unsigned char) word[length];
		if (!isalnum(after) && after != '_' && after != '$' && !IS_HIGHBIT_SET(after))
			return true;
	}
	return false;
}

/* Is this nothing but identifiers, quoted or not, with `separator` between them? Blanks may stand around them. */
static bool
are_identifiers(const char *p, char separator)
{
	for (;;)
	{
		const char *start;

		while (isspace((unsigned char) *p))
			p++;
		start = p;
		if (*p == '"')
		{
			while (*++p != '\0' && (*p != '"' || *++p == '"'))
				;
			if (p - start <= 2 || p[-1] != '"')
				return false;
		}
		else if (!isdigit((unsigned char) *p) && *p != '$')
			while (isalnum((unsigned char) *p) || *p == '_' || *p == '$' || IS_HIGHBIT_SET(*p))
				p++;
		if (p == start)
			return false;
		while (isspace((unsigned char) *p))
			p++;
		if (*p == '\0')
			return true;
		if (*p++ != separator)
			return false;
	}
}

/* Find the parenthesis that opens the column list, outside quoted identifiers; NULL when there is none. */
static char *
find_column_list(char *text)
{
	bool		quoted = false;

	for (char *p = text; *p != '\0'; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '(' && !quoted)
			return p;
	}
	return NULL;
}

/*
 * Cut 'rel(a, b, c)' into a qualified name and a list of column names (NIL when none are given); false when it is of no
 * known form.
 */
static bool
split_relation(const char *graph, List **name, List **columns)
{
	char	   *text = pstrdup(graph);
	char	   *open = find_column_list(text);
	List	   *parts;
	ListCell   *cell;

	*name = NIL;
	*columns = NIL;
	if (open != NULL)
	{
		char	   *close = open + strlen(open) - 1;

		while (close > open && isspace((unsigned char) *close))
			close--;
		if (*close != ')')
			return false;
		*open = *close = '\0';
		if (!are_identifiers(open + 1, ',') || !SplitIdentifierString(open + 1, ',', columns) ||
			list_length(*columns) < 2 || list_length(*columns) > 3)
			return false;
	}
	if (!are_identifiers(text, '.') || !SplitIdentifierString(text, '.', &parts))
		return false;
	foreach(cell, parts)
		*name = lappend(*name, makeString(lfirst(cell)));
	return true;
}

/* List a relation's columns, for an error's DETAIL. */
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
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", quote_identifier(NameStr(attribute->attname)));
	}
	return names.len > 0 ? names.data : pstrdup("none");
}

/* Get the number of a column that the user named, or raise 42703. */
static AttrNumber
named_column(Relation rel, const char *name)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name, RelationGetRelationName(rel)),
				 errdetail("The columns of \"%s\" are: %s.", RelationGetRelationName(rel), column_names(rel)),
				 errhint("Name two of them, for instance: '%s(source_column, target_column)'.",
						 quote_identifier(RelationGetRelationName(rel)))));
	return attnum;
}

/* Find the columns of a relation that the user did not name; false when they are not there. */
static bool
find_default_columns(Oid relid, EmogiSource *source)
{
	static const char *const pairs[][2] = {{"src", "dst"}, {"source", "target"}};

	for (int i = 0; i < (int) lengthof(pairs); i++)
	{
		source->src = get_attnum(relid, pairs[i][0]);
		source->dst = get_attnum(relid, pairs[i][1]);
		if (source->src > 0 && source->dst > 0)
			return true;
	}
	return false;
}

/* Find the columns of a relation that the user did not name, or raise 42703. */
static void
default_columns(Relation rel, EmogiSource *source)
{
	if (find_default_columns(RelationGetRelid(rel), source))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("relation \"%s\" has neither columns src and dst nor source and target", RelationGetRelationName(rel)),
			 errdetail("The columns of \"%s\" are: %s.", RelationGetRelationName(rel), column_names(rel)),
			 errhint("Name the two that hold the ends of an edge: '%s(source_column, target_column)'.",
					 quote_identifier(RelationGetRelationName(rel)))));
}

/* Find the weight of a relation whose columns the user did not name; 0 when it has none. */
static AttrNumber
default_weight(Oid relid)
{
	AttrNumber	weight = get_attnum(relid, "weight");

	if (weight <= 0)
		weight = get_attnum(relid, "cost");
	return Max(weight, 0);
}

/* Raise 42804 unless a column can hold vertex keys. */
static void
check_key_type(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	Oid			type = getBaseType(attribute->atttypid);

	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" has type %s and cannot be a vertex key",
						NameStr(attribute->attname), RelationGetRelationName(rel), format_type_be(attribute->atttypid)),
				 errhint("Vertex keys are smallint, integer or bigint. Cast or number them in a query: 'SELECT %s::bigint, ... FROM %s'.",
						 quote_identifier(NameStr(attribute->attname)), quote_identifier(RelationGetRelationName(rel)))));
}

/* Can values of this type be weights? */
bool
emogi_is_weight_type(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return true;
		default:
			return false;
	}
}

/* Raise 42804 unless a column can hold weights. */
static void
check_weight_type(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	if (!emogi_is_weight_type(attribute->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" has type %s and cannot be a weight",
						NameStr(attribute->attname), RelationGetRelationName(rel), format_type_be(attribute->atttypid)),
				 errhint("Weights are of a numeric type. To go without, name only the two keys: '%s(%s, %s)'.",
						 quote_identifier(RelationGetRelationName(rel)), "source_column", "target_column")));
}

/* Raise 42809 unless the relation is of a kind that has rows to select; 0A000 or 55000 when they cannot be had now. */
static void
check_kind(Relation rel)
{
	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_MATVIEW:
		case RELKIND_VIEW:
		case RELKIND_FOREIGN_TABLE:
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a table, view, materialized view or foreign table", RelationGetRelationName(rel)),
					 errhint(EMOGI_FORMS_HINT)));
	}
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (!RelationIsScannable(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated", RelationGetRelationName(rel)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
}

/* Get the relation that a name leads to, if the own transaction holds a reader's lock on it; InvalidOid otherwise. */
static Oid
locked_relation(RangeVar *name)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);

	return OidIsValid(relid) && emogi_compat_holds_lock(relid, AccessShareLock) ? relid : InvalidOid;
}

/* Resolve a relation and its columns. */
static void
resolve_relation(const char *graph, bool wants_weight, EmogiSource *source)
{
	List	   *name;
	List	   *columns;
	Oid			locked;
	Relation	rel;

	if (!split_relation(graph, &name, &columns))
		report_form(graph);
	source->name = name;
	locked = locked_relation(makeRangeVarFromNameList(name));
	source->relid = RangeVarGetRelid(makeRangeVarFromNameList(name), AccessShareLock, false);
	source->was_locked = source->relid == locked;
	rel = relation_open(source->relid, NoLock);
	check_kind(rel);
	if (columns == NIL)
	{
		default_columns(rel, source);
		if (wants_weight)
			source->weight = default_weight(source->relid);
	}
	else
	{
		source->src = named_column(rel, linitial(columns));
		source->dst = named_column(rel, lsecond(columns));
		if (list_length(columns) == 3)
			source->weight = named_column(rel, lthird(columns));
	}
	check_key_type(rel, source->src);
	check_key_type(rel, source->dst);
	if (source->weight > 0)
		check_weight_type(rel, source->weight);
	if (!wants_weight)
		source->weight = 0;
	relation_close(rel, NoLock);
}

/* Resolve the graph argument. Relations come back locked; errors are 42601, 42P01, 42703, 42804, 42809. */
void
emogi_source_resolve(const char *graph, bool wants_weight, EmogiSource *source)
{
	AcceptInvalidationMessages();	/* as the parser does: rights may have changed although the lock is held already */
	memset(source, 0, sizeof *source);
	source->graph = graph;
	source->wants_weight = wants_weight;
	if (is_query_text(graph))
	{
		source->is_query = true;
		source->query = pstrdup(graph);
	}
	else
		resolve_relation(graph, wants_weight, source);
}

/* Is a graph argument the text of a query? */
bool
emogi_source_is_query(const char *graph)
{
	return is_query_text(graph);
}

/*
 * Resolve the graph argument for the planner: without locks or errors. False when it names no relation that the caller
 * may read as a table. What it says may be out of date by the time of the call, which resolves anew.
 */
bool
emogi_source_peek(const char *graph, bool wants_weight, EmogiSource *source)
{
	List	   *name;
	List	   *columns;

	memset(source, 0, sizeof *source);
	if (is_query_text(graph) || !split_relation(graph, &name, &columns) || list_length(name) > 2)
		return false;
	source->relid = RangeVarGetRelid(makeRangeVarFromNameList(name), NoLock, true);
	if (!OidIsValid(source->relid))
		return false;
	if (columns != NIL)
	{
		source->src = get_attnum(source->relid, linitial(columns));
		source->dst = get_attnum(source->relid, lsecond(columns));
		source->weight = list_length(columns) == 3 ? get_attnum(source->relid, lthird(columns)) : 0;
	}
	else if (!find_default_columns(source->relid, source))
		return false;
	else if (wants_weight)
		source->weight = default_weight(source->relid);
	if (!wants_weight)
		source->weight = 0;
	return source->src > 0 && source->dst > 0 && source->weight >= 0 && emogi_access_peek(source);
}

/* Get the relation that a graph argument names, locked, whatever its columns; InvalidOid when it is a query. */
Oid
emogi_source_relation(const char *graph)
{
	List	   *name;
	List	   *columns;

	if (is_query_text(graph))
		return InvalidOid;
	if (!split_relation(graph, &name, &columns))
		report_form(graph);
	return RangeVarGetRelid(makeRangeVarFromNameList(name), AccessShareLock, false);
}

/* Get the text of a query for a Source: its own, or a SELECT of a relation's columns. */
char *
emogi_source_select(const EmogiSource *source)
{
	Relation	rel;
	char	   *query;

	if (source->is_query)
		return source->query;
	rel = relation_open(source->relid, NoLock);
	query = psprintf("SELECT %s, %s%s%s FROM %s",
					 quote_identifier(get_attname(source->relid, source->src, false)),
					 quote_identifier(get_attname(source->relid, source->dst, false)),
					 source->weight > 0 ? ", " : "",
					 source->weight > 0 ? quote_identifier(get_attname(source->relid, source->weight, false)) : "",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	relation_close(rel, NoLock);
	return query;
}
