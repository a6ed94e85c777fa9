/*
 * vertices.c: the vertices that a caller gives, from arguments and conditions to what the Graph knows them by.
 *
 * In two steps. When the type of the graph's keys is known, at the latest when the Graph stands, the form of the function is compared with
 * it, and what was given is read as keys. When the Graph stands, and each time that another takes its place, keys are looked up.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "function/function.h"

/* Given vertices that are looked up before memory is freed and interrupts are checked for. */
#define LOOKUPS_PER_CHECK 1024

/* The longest graph argument that a hint repeats. */
#define HINT_GRAPH_BYTES 63

/* Get the elements of an array that are not NULL. */
EmogiGiven
emogi_vertices_of_array(Datum array)
{
	ArrayType  *elements = DatumGetArrayTypeP(array);
	EmogiGiven	given = {0};
	int16		length;
	bool		by_value;
	char		align;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(elements), &length, &by_value, &align);
	deconstruct_array(elements, ARR_ELEMTYPE(elements), length, by_value, align, &given.datums, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			given.datums[given.count++] = given.datums[i];
	return given;
}

/* ---- the form ---- */

/* Get a sample of a vertex of a type, as SQL: what was given where that is one, else dots. */
static char *
sample_of(const EmogiTask *task, const EmogiKeyType *key, uint64 i)
{
	char	   *text = pstrdup("'...'");

	if (key->class == EMOGI_KEY_INTEGER)
		text = pstrdup("42");
	else if (key->nparts > 0)
		text = quote_literal_cstr(emogi_form_sample(key));
	else if (key->type == TEXTOID && i < task->sources.count && task->vertex_type == INT8OID)
		text = psprintf("'" INT64_FORMAT "'", DatumGetInt64(task->sources.datums[i]));
	else if (key->type == UUIDOID && !task->source_is_array)
		text = pstrdup("'...'::uuid");
	if (!task->source_is_array)
		return text;
	return psprintf("ARRAY[%s]%s", text, key->type == UUIDOID ? "::uuid[]" : "");
}

/* Get the type of the function's form that serves keys of a type. */
static Oid
form_for(const EmogiKeyType *key)
{
	return key->type == INT8OID || key->type == UUIDOID ? key->type : TEXTOID;
}

/* Get the name of a function of the whole graph in its form for another type: emogi_cc, emogi_cc_text, emogi_cc_uuid. */
static char *
name_for(Oid function, Oid from, Oid to)
{
	char	   *name = get_func_name(function);
	char	   *end = strrchr(name, '_');

	if (from != INT8OID && end != NULL)
		*end = '\0';
	return to == INT8OID ? name : psprintf("%s_%s", name, format_type_be(to));
}

/* Get a call that would be right, as SQL. */
static char *
right_call(const EmogiTask *task, Oid function, const EmogiKeyType *key)
{
	const char *graph = strlen(task->graph.text) > HINT_GRAPH_BYTES ? "'...'" : quote_literal_cstr(task->graph.text);
	const char *name = get_func_name(function);

	if (!task->has_sources)
		return psprintf("%s(%s%s)", name_for(function, task->vertex_type, form_for(key)), graph,
						task->start != NULL || (task->pairs != NULL && (task->query.algorithm == EMOGI_SSSP || task->query.algorithm == EMOGI_BFS)) ? ", '...'" : "");
	if (!task->last_is_target && !task->has_goals)
		return psprintf("%s(%s, %s)", name, graph, sample_of(task, key, 0));
	return psprintf("%s(%s, %s, %s%s)", name, graph, sample_of(task, key, 0), sample_of(task, key, 1), task->further != NULL ? task->further : "");
}

/* Raise 42804: the function's form is of another type than the graph's keys. */
static void
report_form(const EmogiTask *task, Oid function, const EmogiKeyType *key)
{
	const char *type = format_type_be(form_for(key));
	const char *what = !task->has_sources ? "Have vertices returned as" : task->last_is_target ? "Give source and target as" : task->has_goals ? "Give sources and targets as" :
		task->source_is_array ? "Give the sources as" : "Give the source as";

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the vertices of this graph are of type %s, not %s", emogi_key_type_name(key), format_type_be(task->vertex_type)),
			 errhint("%s %s: %s.", what, type, right_call(task, function, key))));
}

/* Read vertices as keys. Raises what the type's input raises. */
static void
read_given(EmogiForm *form, EmogiGiven *given)
{
	for (uint64 i = 0; i < given->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		given->datums[i] = emogi_form_read(form, given->datums[i]);
	}
}

/*
 * Note the type of the graph's keys: raise 42804 where the function's form is of another, and read the sources as keys. Raises what the
 * type's input raises.
 */
void
emogi_vertices_read(EmogiTask *task, Oid function, const EmogiKeyType *key)
{
	Datum		array;

	if (!emogi_form_fits(key, task->vertex_type))
		report_form(task, function, key);
	task->form = palloc(sizeof *task->form);
	emogi_form_init(task->form, key, task->vertex_type);
	if (task->form->kind != EMOGI_FORM_TEXT)
		return;
	if (task->sources.count == 1 && !task->source_is_array && emogi_form_read_array(task->form, task->sources.datums[0], &array))
	{
		task->sources = emogi_vertices_of_array(array);
		return;
	}
	read_given(task->form, &task->sources);
	read_given(task->form, &task->goals);
}

/* ---- in the Graph ---- */

static int
compare_ids(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	CHECK_FOR_INTERRUPTS();
	return (x > y) - (x < y);
}

/* Check for interrupts and free what lookups took, every so many of them. */
static void
check_now_and_then(uint64 i, MemoryContext scratch)
{
	if (i % LOOKUPS_PER_CHECK != LOOKUPS_PER_CHECK - 1)
		return;
	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(scratch);
}

/* Get what a Graph knows those vertices by that a condition asks for: ascending, each once, in the current memory context. */
int64 *
emogi_vertices_seek(EmogiForm *form, const EmogiGraph *graph, const EmogiGiven *given, uint64 *nfound)
{
	int64	   *ids = palloc_extended(Max(given->count, 1) * sizeof *ids, MCXT_ALLOC_HUGE);
	uint64		count = 0;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "emogi vertices", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (uint64 i = 0; i < given->count; i++)
	{
		if (emogi_form_lookup(form, graph, given->datums[i], &ids[count]))
			count++;
		check_now_and_then(i, scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	qsort(ids, count, sizeof *ids, compare_ids);
	*nfound = 0;
	for (uint64 i = 0; i < count; i++)
		if (*nfound == 0 || ids[*nfound - 1] != ids[i])
			ids[(*nfound)++] = ids[i];
	return ids;
}

/* Find out what a Graph knows given vertices by, EMOGI_NO_CODE = it has none such. */
static int64 *
find_keys(const EmogiTask *task, const EmogiGraph *graph, const EmogiGiven *given)
{
	int64	   *keys = palloc_extended(Max(given->count, 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "emogi vertices", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (uint64 i = 0; i < given->count; i++)
	{
		keys[i] = emogi_form_find(task->form, graph, given->datums[i]);
		check_now_and_then(i, scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return keys;
}

/* Find the vertices that a task gives in its Graph. Conditions that this form cannot see to are left to who reads the rows. */
void
emogi_vertices_find(EmogiTask *task, const EmogiGraph *graph)
{
	if (task->has_sources)
	{
		task->nkeys = task->sources.count;
		task->keys = find_keys(task, graph, &task->sources);
	}
	if (task->has_goals)
		task->goal_keys = find_keys(task, graph, &task->goals);
	if (task->last_is_target && task->nkeys > 0)
	{
		task->targets = task->keys + --task->nkeys;
		task->ntargets = 1;
	}
	else if (task->has_targets && emogi_form_can_lookup(&task->form->coder.key, task->form->type))
		task->targets = emogi_vertices_seek(task->form, graph, &task->wanted, &task->ntargets);
	else
		task->has_targets = false;
	if (task->has_components && emogi_form_can_lookup(&task->form->coder.key, task->form->type))
		task->components = emogi_vertices_seek(task->form, graph, &task->named, &task->ncomponents);
	else
		task->has_components = false;
}

/* Get the text form of a vertex of the Graph. */
char *
emogi_vertices_text(const EmogiTask *task, const EmogiGraph *graph, uint64 v)
{
	return emogi_form_text(&task->form->coder.key, graph, graph->ids != NULL ? graph->ids[v] : (int64) v);
}

/* Tell the caller that a vertex is not in the graph, where that is asked for: once a statement, not for each row. */
void
emogi_vertices_notice_missing(const char *what, const EmogiForm *form, Datum key)
{
	static TimestampTz told = 0;

	if (!emogi_notice_missing_source || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("the %s %s is not in the graph", what, emogi_form_key_text(&form->coder.key, key)),
			 errhint("A vertex is in the graph if an edge begins or ends there.")));
}

/* Find a vertex of the Graph among the elements, separated by commas, of text that is written as an array; NULL when there is none. */
static const char *
find_element(EmogiForm *form, const EmogiGraph *graph, const char *text)
{
	char	   *elements = pnstrdup(text + 1, strlen(text) - 2);
	char	   *rest = NULL;

	for (char *element = strtok_r(elements, ",", &rest); element != NULL; element = strtok_r(NULL, ",", &rest))
	{
		const Size	length = strlen(element);
		char	   *bare = length > 1 && element[0] == '"' && element[length - 1] == '"' ? pnstrdup(element + 1, length - 2) : element;
		int64		key;

		CHECK_FOR_INTERRUPTS();
		if (emogi_form_take(form, graph, CStringGetTextDatum(bare), &key) && emogi_graph_vertex(graph, key) != EMOGI_NO_VERTEX)
			return bare;
	}
	return NULL;
}

/* What helps who gives text for an array, for functions that take several sources and for those that take one. */
static const struct
{
	const char *error;
	const char *notice;
}			array_hints[] = {
	[EMOGI_TAKES_MANY] = {
		"Give several sources as an array of text: '{a,b}'::text[], or $1::text[] for a parameter.",
	"It is taken for one vertex. Several are an array of text: '{a,b}'::text[], and $1::text[] for a parameter."},
	[EMOGI_TAKES_ONE] = {
		"Give one vertex. For several, call the function in LATERAL.",
	"It is taken for one vertex. For several, call the function in LATERAL."},
	[EMOGI_TAKES_PAIR] = {
		"Give one source and one target. For many, use emogi_shortest_paths(graph, sources, targets), or call the function in LATERAL.",
	"It is taken for one vertex. For many, use emogi_shortest_paths(graph, sources, targets), or call the function in LATERAL."}
};

/*
 * Raise 42804 for a source, or a target, that is no vertex, if it is text that is written as an array of which an element is one: drivers that
 * give no type to a list of strings have it arrive as text. graph: NULL = there is none to look in. Returns whether it is written as an array.
 */
bool
emogi_vertices_refuse_array(const char *what, EmogiForm *form, const EmogiGraph *graph, Datum key, EmogiTakes takes)
{
	const char *text;
	const char *element;

	if (form->coder.key.type != TEXTOID)
		return false;
	text = emogi_form_key_text(&form->coder.key, key);
	if (text[0] != '{' || strlen(text) < 2 || text[strlen(text) - 1] != '}')
		return false;
	element = graph != NULL && graph->nvertices > 0 ? find_element(form, graph, text) : NULL;
	if (element != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the %s %s is written as an array, but given as text", what, text),
				 errdetail("It is not a vertex of the graph, but its element %s is.", element),
				 errhint("%s", array_hints[takes].error)));
	return true;
}

/* Tell of a source, or a target, that is no vertex of the graph, NULL = one without any, as emogi_vertices_refuse_array does, or by a notice. Raises 42804. */
void
emogi_vertices_notice_end(const char *what, EmogiForm *form, const EmogiGraph *graph, Datum key, EmogiTakes takes)
{
	if (emogi_vertices_refuse_array(what, form, graph, key, takes) && !emogi_notice_missing_source)
		ereport(NOTICE,
				(errmsg("the %s %s is not in the graph", what, emogi_form_key_text(&form->coder.key, key)),
				 errhint("%s", array_hints[takes].notice)));
	emogi_vertices_notice_missing(what, form, key);
}
