/*
 * source_peek.c: resolution of the graph argument for the planner, without locks or errors
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "source/source.h"

/*
 * Find the relation that a graph argument names, and the condition on its rows or NULL, without
 * locks or errors. Returns false if the argument has another form, or if the caller may not look
 * the name up; else *relid is InvalidOid if there is no such relation.
 */
static bool
find_relation(const EmogiGraphArgument *graph, Oid *relid, List **columns, const char **condition)
{
	char	   *relation = graph->text;
	List	   *name;

	*columns = NIL;
	*condition = NULL;
	*relid = graph->relid;
	if (graph->is_relation)
		return graph->columns == NULL || emogi_columns_split(graph->columns, columns);
	if (emogi_graph_grammar_is_query(graph->text))
		return false;
	(void) emogi_graph_grammar_split_where(graph->text, &relation, condition);
	if (!emogi_graph_grammar_split_relation(relation, &name, columns) || list_length(name) > 2)
		return false;
	if (list_length(name) == 2)
	{
		Oid			namespace = get_namespace_oid(strVal(linitial(name)), true);

		if (OidIsValid(namespace) && emogi_compat_schema_usage(namespace) != ACLCHECK_OK)
			return false;
	}
	*relid = RangeVarGetRelid(makeRangeVarFromNameList(name), NoLock, true);
	return true;
}

/* Return true if a graph argument names a relation that does not exist. Raises nothing. */
bool
emogi_source_is_missing(const EmogiGraphArgument *graph)
{
	List	   *columns;
	const char *condition;
	Oid			relid;

	return find_relation(graph, &relid, &columns, &condition) && get_rel_relkind(relid) == '\0';
}

/* Find the key type of the endpoints; return false if they cannot be keys. */
static bool
peek_keys(EmogiSource *source)
{
	EmogiKeyType other;
	EmogiEndpoint end = {0};

	get_atttypetypmodcoll(source->relid, source->src, &end.type, &end.typmod, &end.collation);
	if (!emogi_endpoint_type_find_key(&end, &source->key))
		return false;
	get_atttypetypmodcoll(source->relid, source->dst, &end.type, &end.typmod, &end.collation);
	return emogi_endpoint_type_find_key(&end, &other) && emogi_key_type_equal(&source->key, &other);
}

/*
 * Get the attribute number of an optional column of the list; 0 if it is not in the list, -1 if the
 * relation has no such column.
 */
static AttrNumber
peek_column(Oid relid, const char *name)
{
	const AttrNumber attnum = name != NULL ? get_attnum(relid, name) : 0;

	return name != NULL && attnum <= 0 ? -1 : attnum;
}

/* Find the columns of a relation for the planner; return false if they do not exist. */
static bool
peek_columns(List *columns, EmogiWantedWeight wants_weight, EmogiSource *source)
{
	if (columns != NIL)
	{
		source->src = get_attnum(source->relid, linitial(linitial(columns)));
		source->dst = get_attnum(source->relid, linitial(lsecond(columns)));
		source->weight = peek_column(source->relid, emogi_columns_weight(columns));
		source->reverse = peek_column(source->relid, emogi_columns_reverse(columns));
		source->edge = peek_column(source->relid, emogi_columns_edge(columns));
		source->names_edge = source->edge > 0;
	}
	else if (emogi_default_columns_find(source->relid, source))
	{
		emogi_default_columns_weights(source->relid, wants_weight, source);
		source->edge = Max(get_attnum(source->relid, "id"), 0);
	}
	return source->src > 0 && source->dst > 0 && source->weight >= 0 && source->reverse >= 0 &&
		source->edge >= 0;
}

/*
 * Resolve the graph argument for the planner, without locks or errors. Returns false if it does not
 * name a relation that the caller may read as a table. The result may be outdated when the call
 * runs, which resolves again.
 */
bool
emogi_source_peek(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
				  EmogiSource *source)
{
	List	   *columns;
	const char *condition;

	if (emogi_known_sources_peek(graph, wants_weight, source))
		return !source->is_query && emogi_access_peek(source);
	memset(source, 0, sizeof *source);
	if (!find_relation(graph, &source->relid, &columns, &condition) || condition != NULL ||
		graph->filter != NULL || get_rel_relkind(source->relid) == '\0')
		return false;
	if (emogi_columns_have_rows(columns) || !peek_columns(columns, wants_weight, source))
		return false;
	if (!wants_weight && source->reverse == 0)
		source->weight = 0;
	return emogi_access_peek(source) && peek_keys(source);
}

/*
 * Resolve a graph argument that is a query, or becomes one, for the planner, without locks or
 * errors. Returns false if it has another form. The query may be invalid. With the weights that the
 * call wants, it is the source that the call resolves, so that they share its analysis.
 */
bool
emogi_source_peek_query(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
						EmogiSource *source)
{
	List	   *columns;
	const char *condition;
	EmogiSource relation = {.wants_weight = wants_weight};

	*source = (EmogiSource) {.is_query = true,.graph = graph,.query = graph->text,
							 .wants_weight = wants_weight,.has_edge_filter = graph->filter != NULL};
	if (emogi_known_sources_peek(graph, wants_weight, &relation))
	{
		source->query = relation.query;
		source->filtered = relation.filtered;
		return relation.is_query;
	}
	if (emogi_source_is_query(graph))
	{
		if (graph->filter != NULL)
			source->query = emogi_edge_condition_select(graph);
		return true;
	}
	if (!find_relation(graph, &relation.relid, &columns, &condition) ||
		get_rel_relkind(relation.relid) == '\0')
		return false;
	source->filtered = relation.relid;
	if (emogi_columns_have_rows(columns))
		source->query = emogi_select_text_rows(relation.relid, columns, condition, graph->filter,
											   wants_weight);
	else if ((condition != NULL || graph->filter != NULL) &&
			 peek_columns(columns, wants_weight, &relation))
		source->query = emogi_select_text_filtered(&relation, condition, graph->filter);
	else
		return false;
	return source->query != NULL;
}
