/*
 * vertices.c: lookup of the vertices given in arguments and conditions.
 *
 * There are two steps. First, once the type of the graph's keys is known (at the latest when the
 * graph is available), the function's overload is checked against it, and the given vertices are
 * read as keys. Second, once the graph is available, and again whenever another graph replaces it,
 * the keys are looked up.
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

/* Lookups between two resets of the scratch context and checks for interrupts. */
#define LOOKUPS_PER_CHECK 1024

/* Max length of a graph argument that a hint repeats. */
#define HINT_GRAPH_BYTES 63

/* Return the elements of an array that are not NULL. */
EmogiVertexDatums
emogi_vertices_of_array(Datum array)
{
	ArrayType  *elements = DatumGetArrayTypeP(array);
	EmogiVertexDatums	given = {0};
	int16		length;
	bool		by_value;
	char		align;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(elements), &length, &by_value, &align);
	deconstruct_array(elements, ARR_ELEMTYPE(elements), length, by_value, align, &given.datums,
					  &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			given.datums[given.count++] = given.datums[i];
	return given;
}

/* ---- key types and overloads ---- */

/* Return a sample vertex of a type as SQL, for hints: the given one if possible, otherwise dots. */
static char *
sample_vertex(const EmogiTask *task, const EmogiKeyType *key, uint64 i)
{
	char	   *text = pstrdup("'...'");

	if (key->class == EMOGI_KEY_INTEGER)
		text = pstrdup("42");
	else if (key->nparts > 0)
		text = quote_literal_cstr(emogi_key_io_example(key));
	else if (key->type == TEXTOID && i < task->sources.count && task->vertex_type == INT8OID)
		text = psprintf("'" INT64_FORMAT "'", DatumGetInt64(task->sources.datums[i]));
	else if (key->type == UUIDOID && !task->source_is_array)
		text = pstrdup("'...'::uuid");
	if (!task->source_is_array)
		return text;
	return psprintf("ARRAY[%s]%s", text, key->type == UUIDOID ? "::uuid[]" : "");
}

/* Return the vertex type of the overload that serves a key type. */
static Oid
overload_type(const EmogiKeyType *key)
{
	return key->type == INT8OID || key->type == UUIDOID ? key->type : TEXTOID;
}

/*
 * Return the name of a whole-graph function in its overload for another type: emogi_cc,
 * emogi_cc_text, emogi_cc_uuid.
 */
static char *
overload_name(Oid function, Oid from, Oid to)
{
	char	   *name = get_func_name(function);
	char	   *end = strrchr(name, '_');

	if (from != INT8OID && end != NULL)
		*end = '\0';
	return to == INT8OID ? name : psprintf("%s_%s", name, format_type_be(to));
}

/* Return the corrected call as SQL, for a hint. */
static char *
corrected_call(const EmogiTask *task, Oid function, const EmogiKeyType *key)
{
	const char *graph = strlen(task->graph.text) > HINT_GRAPH_BYTES ? "'...'" :
		quote_literal_cstr(task->graph.text);
	const char *name = get_func_name(function);

	if (!task->has_sources)
		return psprintf("%s(%s%s)", overload_name(function, task->vertex_type, overload_type(key)),
						graph, task->start != NULL ||
						(task->pairs != NULL &&
						 emogi_algorithm_takes(emogi_algorithm_row(task->query.algorithm),
											   EMOGI_PAIRS) < 0) ? ", '...'" : "");
	if (!task->last_is_target && !task->has_target_array)
		return psprintf("%s(%s, %s)", name, graph, sample_vertex(task, key, 0));
	return psprintf("%s(%s, %s, %s%s)", name, graph, sample_vertex(task, key, 0),
					sample_vertex(task, key, 1), task->further_arguments != NULL ?
					task->further_arguments : "");
}

/* Raise 42804: the function's overload has another type than the graph's keys. */
static void
report_form(const EmogiTask *task, Oid function, const EmogiKeyType *key)
{
	const char *type = format_type_be(overload_type(key));
	const char *what = !task->has_sources ? "Return vertices as" :
		task->last_is_target ? "Pass source and target as" :
		task->has_target_array ? "Pass sources and targets as" :
		task->source_is_array ? "Pass the sources as" : "Pass the source as";

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the vertices of this graph are of type %s, not %s", emogi_key_type_name(key),
					format_type_be(task->vertex_type)),
			 errhint("%s %s: %s.", what, type, corrected_call(task, function, key))));
}

/*
 * Read vertices as keys. Text that is not an element of an array may hold several. Raises the
 * errors of the type's input function.
 */
static void
read_given(EmogiKeyIO *form, EmogiVertexDatums *given, bool is_array)
{
	Datum		array;

	if (given->count == 1 && !is_array && emogi_key_io_input_array(form, given->datums[0], &array))
	{
		*given = emogi_vertices_of_array(array);
		return;
	}
	for (uint64 i = 0; i < given->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		given->datums[i] = emogi_key_io_input(form, given->datums[i]);
	}
}

/*
 * Note the type of the graph's keys: raise 42804 if the function's overload has another, and read
 * the given vertices as keys. Raises the errors of the type's input function, and 22023 if a vertex
 * is a source and a target of a flow.
 */
void
emogi_vertices_read(EmogiTask *task, Oid function, const EmogiKeyType *key)
{
	if (!emogi_key_io_is_compatible(key, task->vertex_type))
		report_form(task, function, key);
	if (emogi_algorithm_row(task->query.algorithm)->weights == EMOGI_WEIGHTS_CAPACITIES)
		emogi_common_ends_check(task);
	task->form = palloc(sizeof *task->form);
	emogi_key_io_init(task->form, key, task->vertex_type);
	if (task->form->kind != EMOGI_KEY_IO_TEXT)
		return;
	read_given(task->form, &task->sources, task->source_is_array);
	read_given(task->form, &task->target_array, task->source_is_array);
}

/* ---- lookup in the graph ---- */

static int
compare_ids(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	CHECK_FOR_INTERRUPTS();
	return (x > y) - (x < y);
}

/* Check for interrupts and free the memory of lookups, every LOOKUPS_PER_CHECK lookups. */
static void
check_interrupts_every(uint64 i, MemoryContext scratch)
{
	if (i % LOOKUPS_PER_CHECK != LOOKUPS_PER_CHECK - 1)
		return;
	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(scratch);
}

/*
 * Return the graph's ids of the vertices of a condition: ascending, distinct, in the current memory
 * context.
 */
int64 *
emogi_vertices_find_ids(EmogiKeyIO *form, const EmogiGraph *graph, const EmogiVertexDatums *given,
						uint64 *nfound)
{
	int64	   *ids = palloc_extended(Max(given->count, 1) * sizeof *ids, MCXT_ALLOC_HUGE);
	uint64		count = 0;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "emogi vertices",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (uint64 i = 0; i < given->count; i++)
	{
		if (emogi_key_io_lookup(form, graph, given->datums[i], &ids[count]))
			count++;
		check_interrupts_every(i, scratch);
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

/* Return the graph's ids of given vertices; EMOGI_NO_CODE = not in the graph. */
static int64 *
find_keys(const EmogiTask *task, const EmogiGraph *graph, const EmogiVertexDatums *given)
{
	int64	   *keys = palloc_extended(Max(given->count, 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	MemoryContext scratch;
	MemoryContext old;

	if (given->count == 1 && task->form->coder.key.class == EMOGI_KEY_INTEGER)
	{
		keys[0] = DatumGetInt64(given->datums[0]);
		return keys;
	}
	scratch = AllocSetContextCreate(CurrentMemoryContext, "emogi vertices", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scratch);
	for (uint64 i = 0; i < given->count; i++)
	{
		keys[i] = emogi_key_io_find(task->form, graph, given->datums[i]);
		check_interrupts_every(i, scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return keys;
}

/* Does a text begin with a brace, or is it not known without detoasting it? */
static bool
may_begin_with_brace(Datum key)
{
	const struct varlena *text = (const struct varlena *) DatumGetPointer(key);

	return VARATT_IS_COMPRESSED(text) || VARATT_IS_EXTERNAL(text) ||
		(VARSIZE_ANY_EXHDR(text) > 0 && *VARDATA_ANY(text) == '{');
}

/* Return true if a task may report a target that is not in the graph. */
static bool
may_report_target(const EmogiTask *task)
{
	return emogi_notice_missing_source ||
		(task->form->coder.key.type == TEXTOID && may_begin_with_brace(task->sources.datums[1]));
}

/* Have the ends of a task's path the same key? */
static bool
are_ends_equal(const EmogiTask *task)
{
	const EmogiKeyBytes source = emogi_key_coder_encode(&task->form->coder,
														task->sources.datums[0]);
	const EmogiKeyBytes target = emogi_key_coder_encode(&task->form->coder,
														task->sources.datums[1]);

	return source.length == target.length &&
		memcmp(source.bytes, target.bytes, source.length) == 0;
}

/*
 * Return true if no path from a source leads to the target: the source is not in the graph, or no
 * edge begins there and the target is another vertex. overlay: NULL = no changes.
 */
static bool
leads_nowhere(const EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *overlay,
			  int64 source)
{
	const EmogiListsView lists = emogi_lists_forward(graph, overlay);
	uint32		vertex;

	if (source == EMOGI_NO_CODE)
		return true;
	if (may_report_target(task) || task->form->coder.key.class == EMOGI_KEY_COMPARED ||
		!emogi_key_io_has(task->form, task->sources.datums[1]))
		return false;
	vertex = emogi_overlay_vertex(graph, overlay, source);
	return vertex != EMOGI_NO_VERTEX && emogi_lists_degree(&lists, vertex) == 0 &&
		!are_ends_equal(task);
}

/*
 * Look up the ends of a task's path, whose keys are not integers. A target is not looked up, as if
 * it were not in the graph, if that makes no difference: it takes several cache misses.
 */
static int64 *
find_ends(const EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *overlay)
{
	int64	   *keys = palloc(2 * sizeof *keys);

	keys[0] = emogi_key_io_find(task->form, graph, task->sources.datums[0]);
	keys[1] = leads_nowhere(task, graph, overlay, keys[0]) ? EMOGI_NO_CODE :
		emogi_key_io_find(task->form, graph, task->sources.datums[1]);
	return keys;
}

/*
 * Look up a task's vertices in its graph. overlay: changes since the graph was built, NULL = none.
 * Conditions that this type cannot look up are left to the
 * reader of the rows.
 */
void
emogi_vertices_find(EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *overlay)
{
	if (task->has_sources)
	{
		task->nkeys = task->sources.count;
		if (task->last_is_target && task->nkeys == 2 && task->form->keys == NULL &&
			task->form->coder.key.class != EMOGI_KEY_INTEGER)
			task->keys = find_ends(task, graph, overlay);
		else
			task->keys = find_keys(task, graph, &task->sources);
	}
	if (task->has_target_array)
		task->target_array_ids = find_keys(task, graph, &task->target_array);
	if (task->last_is_target && task->nkeys > 0)
	{
		task->targets = task->keys + --task->nkeys;
		task->ntargets = 1;
	}
	else if (task->has_targets && emogi_key_io_can_lookup(&task->form->coder.key, task->form->type))
		task->targets = emogi_vertices_find_ids(task->form, graph, &task->wanted, &task->ntargets);
	else
		task->has_targets = false;
	if (task->has_components && emogi_key_io_can_lookup(&task->form->coder.key, task->form->type))
		task->components = emogi_vertices_find_ids(task->form, graph, &task->named,
												   &task->ncomponents);
	else
		task->has_components = false;
}

/* Return a vertex of the graph as text. */
char *
emogi_vertices_text(const EmogiTask *task, const EmogiGraph *graph, uint64 v)
{
	return emogi_key_io_text(task->form, graph, graph->ids != NULL ? graph->ids[v] : (int64) v);
}

/*
 * Raise a notice that a vertex is not in the graph, if enabled: once a statement, not once a row.
 */
void
emogi_vertices_notice_missing(const char *what, const EmogiKeyIO *form, Datum key)
{
	static TimestampTz last_notice = 0;

	if (!emogi_notice_missing_source || last_notice == GetCurrentStatementStartTimestamp())
		return;
	last_notice = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("the %s %s is not in the graph", what,
					emogi_key_io_key_text(&form->coder.key, key)),
			 errhint("A vertex is in the graph if an edge begins or ends there.")));
}

/*
 * Return the first vertex of the graph among the comma-separated elements of text that looks like
 * an array; NULL if there is none.
 */
static const char *
find_element(EmogiKeyIO *form, const EmogiGraph *graph, const char *text)
{
	char	   *elements = pnstrdup(text + 1, strlen(text) - 2);
	char	   *rest = NULL;

	for (char *element = strtok_r(elements, ",", &rest); element != NULL;
		 element = strtok_r(NULL, ",", &rest))
	{
		const Size	length = strlen(element);
		char	   *bare = length > 1 && element[0] == '"' && element[length - 1] == '"' ?
			pnstrdup(element + 1, length - 2) : element;
		int64		key;

		CHECK_FOR_INTERRUPTS();
		if (emogi_key_io_input_id(form, graph, CStringGetTextDatum(bare), &key) &&
			emogi_graph_vertex(graph, key) != EMOGI_NO_VERTEX)
			return bare;
	}
	return NULL;
}

/*
 * Hints for text that looks like an array, for functions of several sources, one source, or a pair.
 */
static const struct
{
	const char *error;
	const char *notice;
}			array_hints[] = {
	[EMOGI_ARITY_MANY] = {
		"Pass several sources as an array of text: '{a,b}'::text[], or $1::text[] for a parameter.",
	"The text is taken as one vertex. Pass several as an array of text: '{a,b}'::text[], or "
	"$1::text[] for a parameter."},
	[EMOGI_ARITY_ONE] = {
		"Pass one vertex. For several, call the function in LATERAL.",
	"The text is taken as one vertex. For several, call the function in LATERAL."},
	[EMOGI_ARITY_TARGETS] = {
		"Pass several targets as an array of text: '{a,b}'::text[], or $1::text[] for a parameter.",
	"The text is taken as one vertex. Pass several as an array of text: '{a,b}'::text[], or "
	"$1::text[] for a parameter."},
	[EMOGI_ARITY_PAIR] = {
		"Pass one source and one target. For many, use emogi_shortest_paths(graph, sources, "
		"targets), or call the function in LATERAL.",
	"The text is taken as one vertex. For many, use emogi_shortest_paths(graph, sources, targets), "
	"or call the function in LATERAL."}
};

/*
 * Raise 42804 for a source or target that is not in the graph, if it is text that looks like an
 * array and one of its elements is in the graph: drivers that send a list of strings without a type
 * make it arrive as text. graph: NULL = no graph to look in. Return whether the text looks like an
 * array.
 */
bool
emogi_vertices_refuse_array(const char *what, EmogiKeyIO *form, const EmogiGraph *graph, Datum key,
							EmogiVertexArity takes)
{
	const char *text;
	const char *element;

	if (form->coder.key.type != TEXTOID || !may_begin_with_brace(key))
		return false;
	text = emogi_key_io_key_text(&form->coder.key, key);
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

/*
 * Report a source or target that is not in the graph, as emogi_vertices_refuse_array does, or by a
 * notice; graph NULL = it has no edges. Raises 42804.
 */
void
emogi_vertices_notice_end(const char *what, EmogiKeyIO *form, const EmogiGraph *graph, Datum key,
						  EmogiVertexArity takes)
{
	if (emogi_vertices_refuse_array(what, form, graph, key, takes) && !emogi_notice_missing_source)
		ereport(NOTICE,
				(errmsg("the %s %s is not in the graph", what,
						emogi_key_io_key_text(&form->coder.key, key)),
				 errhint("%s", array_hints[takes].notice)));
	emogi_vertices_notice_missing(what, form, key);
}
