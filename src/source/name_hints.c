/*
 * name_hints.c: errors and hints for a graph argument that names no relation
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/scansup.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "source/source.h"

/* Maximum number of rows of pg_class scanned for a similar name. */
#define MAX_SCANNED_ROWS 10000

/* Return true if a relation of this kind has rows to select. */
bool
emogi_source_has_rows(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE ||
		relkind == RELKIND_MATVIEW || relkind == RELKIND_VIEW || relkind == RELKIND_FOREIGN_TABLE;
}

/*
 * Find a relation by names that are not folded, without locks or errors; return InvalidOid if none
 * is visible.
 */
static Oid
peek_relation(const char *schema, const char *name)
{
	Oid			namespace;

	if (schema == NULL)
		return RelnameGetRelid(name);
	namespace = get_namespace_oid(schema, true);
	if (!OidIsValid(namespace) || emogi_compat_schema_usage(namespace) != ACLCHECK_OK)
		return InvalidOid;
	return get_relname_relid(name, namespace);
}

/*
 * Get the name as typed, not folded or truncated, if quotes would make it that of a relation; else
 * return NULL.
 */
static char *
find_quoted(const char *graph)
{
	char	   *name = pstrdup(graph);
	char	   *open = strchr(name, '(');
	char	   *schema = NULL;
	char	   *dot;
	char	   *end;

	if (strchr(name, '"') != NULL)
		return NULL;
	if (open != NULL)
		*open = '\0';
	while (isspace((unsigned char) *name))
		name++;
	for (end = name + strlen(name); end > name && isspace((unsigned char) end[-1]); end--)
		end[-1] = '\0';
	if (OidIsValid(peek_relation(NULL, name)))
		return pstrdup(quote_identifier(name));
	dot = strchr(name, '.');
	if (dot == NULL)
		return NULL;
	schema = pnstrdup(name, dot - name);
	if (!OidIsValid(peek_relation(schema, dot + 1)))
		return NULL;
	return psprintf("%s.%s", quote_identifier(schema), quote_identifier(dot + 1));
}

/*
 * Get the name of the most similar visible relation in a schema or in the search path; NULL if none
 * is similar.
 */
static char *
find_similar(const char *schema, const char *name)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	int			best = ((int) strlen(name) + 1) / 3 + 1;
	char	   *found = NULL;
	HeapTuple	tuple;

	for (int i = 0; i < MAX_SCANNED_ROWS && (tuple = systable_getnext(scan)) != NULL; i++)
	{
		Form_pg_class relation = (Form_pg_class) GETSTRUCT(tuple);
		const char *other = NameStr(relation->relname);
		char	   *folded = downcase_identifier(other, strlen(other), false, false);
		int			distance;

		CHECK_FOR_INTERRUPTS();
		distance = varstr_levenshtein_less_equal(name, strlen(name), folded, strlen(folded), 1, 1,
												 1, best - 1, true);

		pfree(folded);
		if (distance >= best || !emogi_source_has_rows(relation->relkind) ||
			peek_relation(schema, other) != relation->oid)
			continue;
		best = distance;
		found = schema == NULL ?
			pstrdup(quote_identifier(other)) : quote_qualified_identifier(schema, other);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return found;
}

/*
 * Get the qualified name of a relation with this name in a schema outside the search_path; NULL if
 * none is usable.
 */
static char *
find_elsewhere(const char *name)
{
	CatCList   *list = SearchSysCacheList1(RELNAMENSP, CStringGetDatum(name));
	char	   *found = NULL;

	for (int i = 0; i < list->n_members && found == NULL; i++)
	{
		Form_pg_class relation = (Form_pg_class) GETSTRUCT(&list->members[i]->tuple);

		if (emogi_source_has_rows(relation->relkind) &&
			!isAnyTempNamespace(relation->relnamespace) &&
			emogi_compat_schema_usage(relation->relnamespace) == ACLCHECK_OK)
			found = quote_qualified_identifier(get_namespace_name(relation->relnamespace), name);
	}
	ReleaseSysCacheList(list);
	return found;
}

/*
 * Get the name of the relation if the text is one with an alias, 'rel a' or 'rel AS a'; otherwise
 * NULL.
 */
static char *
find_aliased(const char *graph)
{
	char	   *relation = pstrdup(graph + strspn(graph, " \t\n"));
	char	   *alias = relation + strcspn(relation, " \t\n");
	List	   *columns;
	List	   *name;

	if (*alias == '\0')
		return NULL;
	*alias++ = '\0';
	alias += strspn(alias, " \t\n");
	if (pg_strncasecmp(alias, "as", 2) == 0 && isspace((unsigned char) alias[2]))
		alias += 2;
	if (!emogi_columns_are_identifiers(alias, '\0') ||
		!emogi_graph_grammar_split_relation(relation, &name, &columns) ||
		!OidIsValid(RangeVarGetRelid(makeRangeVarFromNameList(name), NoLock, true)))
		return NULL;
	return relation;
}

/*
 * Get the relation, with its columns if they are listed, if another text follows it that is no list
 * of tables; otherwise NULL. rest: that text, without closing semicolons.
 */
static char *
find_before_rest(const char *graph, char **rest)
{
	const char *after = emogi_graph_grammar_skip_relation(graph);
	size_t		length = strlen(after);
	char	   *relation = pnstrdup(graph, after - graph);
	List	   *columns;
	List	   *name;

	if (after == graph || length == 0 || strchr(",;'", *after) != NULL ||
		strcasestr(graph, " join ") != NULL ||
		!emogi_graph_grammar_split_relation(relation, &name, &columns) ||
		!OidIsValid(RangeVarGetRelid(makeRangeVarFromNameList(name), NoLock, true)))
		return NULL;
	while (length > 0 && strchr(" \t\n;", after[length - 1]) != NULL)
		length--;
	*rest = pnstrdup(after, length);
	length = strlen(relation);
	while (length > 0 && isspace((unsigned char) relation[length - 1]))
		relation[--length] = '\0';
	return relation;
}

/* Get the text with WHERE before a column that follows the relation; NULL if none follows. */
static char *
find_condition(const char *graph)
{
	char	   *rest;
	char	   *relation = find_before_rest(graph, &rest);
	List	   *columns;
	List	   *name;
	List	   *column;
	Oid			relid;

	if (relation == NULL || !emogi_graph_grammar_split_relation(relation, &name, &columns) ||
		!emogi_graph_grammar_split_relation(rest, &column, &columns) || columns != NIL ||
		list_length(column) != 1)
		return NULL;
	relid = RangeVarGetRelid(makeRangeVarFromNameList(name), NoLock, true);
	return OidIsValid(relid) && get_attnum(relid, strVal(linitial(column))) > 0 ?
		psprintf("%s WHERE %s", relation, rest) : NULL;
}

/* Does the text begin like a relation with columns, with a name before the parenthesis? */
static bool
has_columns(const char *graph)
{
	const char *open = strchr(graph, '(');
	List	   *columns;
	List	   *name;

	return open != NULL &&
		emogi_graph_grammar_split_relation(pnstrdup(graph, open - graph), &name, &columns);
}

/* Get the text without what a name may not have around it: single quotes, and a semicolon. */
static char *
without_frame(const char *graph)
{
	char	   *name = pstrdup(graph + strspn(graph, " \t\n'"));
	size_t		length = strlen(name);
	List	   *columns;
	List	   *parts;

	while (length > 0 && strchr(" \t\n';", name[length - 1]) != NULL)
		length--;
	name[length] = '\0';
	return emogi_graph_grammar_split_relation(name, &parts, &columns) ? name : NULL;
}

/* Raise 42601 for a graph argument of an unknown form. */
void
emogi_name_hints_report_form(const char *graph)
{
	char	   *quoted = find_quoted(graph);
	const bool	needs_quotes = quoted != NULL && strchr(graph, '(') == NULL;
	char	   *condition = needs_quotes ? NULL : find_condition(graph);
	char	   *aliased = quoted == NULL && condition == NULL ? find_aliased(graph) : NULL;
	char	   *framed = without_frame(graph);
	char	   *rest;

	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("invalid graph argument: \"%s\"", graph),
			 condition != NULL ? errhint("A condition follows WHERE: '%s'.", condition) :
			 aliased != NULL ?
			 errhint("A relation has no alias here: '%s'. A query may have one: 'SELECT a.src, "
					 "a.dst FROM %s AS a'.", aliased, aliased) :
			 strcasestr(graph, " where ") != NULL ||
			 (framed == NULL && !needs_quotes && find_before_rest(graph, &rest) != NULL) ?
			 errhint("A condition follows the name of the relation or its columns: 'edges(src, "
					 "dst) WHERE ...'. For anything else, use a query: 'SELECT src, dst FROM edges "
					 "AS e WHERE ...'.") :
			 framed != NULL ? errhint("Pass the name alone: '%s'.", framed) :
			 strcasestr(graph, " join ") != NULL ||
			 (strchr(graph, ',') != NULL && strchr(graph, '(') == NULL) ?
			 errhint("A graph of several tables is a query: 'SELECT src, dst FROM a UNION ALL SELECT "
					 "src, dst FROM b'.") :
			 has_columns(graph) ?
			 errhint("The name is followed by two to five columns: 'edges(src, dst)', "
					 "'\"Edges\"(src, dst, weight)', 'roads(source, target, cost, reverse_cost, "
					 "id)'. Names other than lower-case letters, digits and underscores are "
					 "quoted. Ends of several columns have parentheses of their own: "
					 "'edges((tenant, src), (tenant, dst))'.") :
			 quoted != NULL ? errhint("Write the name in double quotes: '%s'.", quoted) :
			 errhint(EMOGI_GRAPH_ARGUMENT_HINT)));
}

/*
 * Raise 42P01 for a name that no relation has, given as typed and as split. hint: if it resembles
 * no relation's; NULL = a general one.
 */
void
emogi_name_hints_report_name(const char *graph, List *name, const char *hint)
{
	char	   *quoted = find_quoted(graph);
	bool		qualified = list_length(name) > 1;
	char	   *schema = qualified ? strVal(list_nth(name, list_length(name) - 2)) : NULL;
	char	   *similar = quoted == NULL ? find_similar(schema, strVal(llast(name))) : NULL;
	char	   *elsewhere = quoted == NULL && similar == NULL && !qualified ?
		find_elsewhere(strVal(llast(name))) : NULL;

	if (quoted == NULL && similar == NULL && qualified)
		similar = find_similar(NULL, strVal(llast(name)));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation \"%s\" does not exist", NameListToString(name)),
			 quoted != NULL ? errhint("Names are folded to lower case unless they are quoted: "
									  "'%s'.", quoted) :
			 elsewhere != NULL ?
			 errhint("The schema of '%s' is not in the search_path, which is empty while a dump "
					 "is restored. Name the schema; in stored queries, write '%s'::regclass.",
					 elsewhere, elsewhere) :
			 similar != NULL ? errhint("Perhaps you meant '%s'.", similar) :
			 hint != NULL ? errhint("%s", hint) : qualified ? 0 :
			 errhint("The name is looked up in the database, not among WITH queries and aliases of "
					 "the calling query. Pass a query as text: 'SELECT src, dst FROM ...'.")));
}
