/*
 * literal_values.c: other values of the literals of a query that was analyzed before
 *
 * A query that differs from a known one in the values of its literals has the same tree, except for
 * the constants that these literals became: the parser gives a constant the location of its
 * literal. A literal has no such constant if the parser has used it otherwise, as the length of a
 * type or the number of a column, or if an expression of it was folded. Then it must be the same.
 * All literals must be the same if the parser has compared expressions with each other.
 *
 * A value is made as the parser makes it: an integer of few digits is an int4, a string is read by
 * the input function of the constant's type. This is verified with the value that the parser made.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_node.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "analysis/known_analyses.h"
#include "base/compat.h"

/* A walk through trees, and the literals whose constants it collects. */
typedef struct Walk
{
	EmogiLiteralPlaces *literals;
	int			offset;			/* of the given text in the one that was analyzed */
	bool		compares;		/* the parser has compared expressions with each other */
} Walk;

/* Get the number of the literal that a constant was; -1 if it was none. */
static int
literal_of(const Const *constant, const Walk *walk)
{
	const EmogiTextLiterals *texts = &walk->literals->texts;

	for (int i = 0; constant->location >= 0 && i < texts->count; i++)
		if (texts->found[i].start == constant->location - walk->offset)
			return i;
	return -1;
}

/*
 * Has the parser compared expressions of a query with each other? It looks up those of ORDER BY,
 * GROUP BY, DISTINCT and OVER in the target list, and columns outside of aggregates in GROUP BY, so
 * the tree and the errors depend on which constants are equal.
 */
static bool
compares_expressions(const Query *query)
{
	return query->sortClause != NIL || query->groupClause != NIL || query->groupingSets != NIL ||
		query->distinctClause != NIL || query->windowClause != NIL || query->hasAggs ||
		query->havingQual != NULL || query->setOperations != NULL;
}

/* Collect the constants of literals. */
static bool
collect(Node *node, void *context)
{
	Walk	   *walk = context;
	int			i;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query) && compares_expressions((Query *) node))
		return walk->compares = true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, collect, context, 0);
	if (IsA(node, Const) && (i = literal_of((Const *) node, walk)) >= 0)
		walk->literals->places[i] = list_append_unique_ptr(walk->literals->places[i], node);
	return expression_tree_walker(node, collect, context);
}

/* Can strings be read as values of a type without reading catalogs or the time? */
static bool
is_readable(Oid type)
{
	switch (type)
	{
		case BPCHAROID:
		case DATEOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case TEXTOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case UUIDOID:
		case VARCHAROID:
			return true;
		default:
			return false;
	}
}

/* Get a literal of a text as the parser's constant, which had another value. Raises its errors. */
static Const *
read_literal(const char *text, const EmogiTextLiteral *literal, const Const *before)
{
	const bool	is_integer = literal->is_integer;
	char	   *content = pnstrdup(text + literal->start + !is_integer,
								   literal->length - 2 * !is_integer);
	Const	   *value = palloc(sizeof *value);
	Oid			input;
	Oid			io_param;

	*value = *before;
	if (is_integer)
		value->constvalue = Int32GetDatum(atoi(content));
	else
	{
		getTypeInputInfo(before->consttype, &input, &io_param);
		value->constvalue = OidInputFunctionCall(input, content, io_param, -1);
	}
	pfree(content);
	return value;
}

/* Have two constants one type and value? */
bool
emogi_literal_values_are_equal(const Const *a, const Const *b)
{
	return a->consttype == b->consttype && a->constisnull == b->constisnull &&
		(a->constisnull || datumIsEqual(a->constvalue, b->constvalue, a->constbyval, a->constlen));
}

/* Can a literal have another value, which replaces that of these constants? */
static bool
is_replaceable(const char *text, const EmogiTextLiteral *literal, List *constants)
{
	const Const *first = constants != NIL ? linitial_node(Const, constants) : NULL;
	const Const *value;
	ListCell   *cell;

	if (first == NULL || first->constisnull || first->consttypmod != -1 ||
		(literal->is_integer ? first->consttype != INT4OID : !is_readable(first->consttype)))
		return false;
	value = read_literal(text, literal, first);
	foreach(cell, constants)
		if (!emogi_literal_values_are_equal(lfirst_node(Const, cell), value))
			return false;
	return true;
}

/*
 * Find the literals of a text that can have other values, and their constants in trees. folded:
 * expressions that are not in the trees any more. offset: of the text in the one that was analyzed.
 * The lists are in the current memory context.
 */
void
emogi_literal_values_find(const char *text, int offset, List *trees, List *folded,
						  EmogiLiteralPlaces *literals)
{
	EmogiLiteralPlaces gone;
	Walk		walk = {literals, offset, false};
	Walk		gone_walk = {&gone, offset, false};
	ListCell   *cell;

	memset(literals, 0, sizeof *literals);
	if (!emogi_compat_standard_strings() || !emogi_text_literals_find(text, &literals->texts))
		literals->texts.count = 0;
	memset(&gone, 0, sizeof gone);
	gone.texts = literals->texts;
	(void) collect((Node *) trees, &walk);
	foreach(cell, folded)
		(void) collect(((EmogiFolded *) lfirst(cell))->node, &gone_walk);
	for (int i = 0; i < literals->texts.count; i++)
	{
		if (walk.compares || gone_walk.compares || gone.places[i] != NIL ||
			!is_replaceable(text, &literals->texts.found[i], literals->places[i]))
			literals->places[i] = NIL;
		literals->can_differ |= literals->places[i] != NIL;
	}
}

/* Does a text differ from a known one only in literals that can have other values? */
bool
emogi_literal_values_differ(const char *text, const EmogiTextLiterals *texts,
							const char *known_text, const EmogiLiteralPlaces *known)
{
	if (!known->can_differ ||
		!emogi_text_literals_are_alike(known_text, &known->texts, text, texts))
		return false;
	for (int i = 0; i < texts->count; i++)
		if (known->places[i] == NIL &&
			!emogi_text_literals_is_same(known_text, &known->texts.found[i], text,
										 &texts->found[i]))
			return false;
	return true;
}

/*
 * Give constants of trees another value, in the current memory context, which has the old one.
 * Copies of trees share values: the constants share the new one, and an old one is freed once.
 */
void
emogi_literal_values_set(List *constants, const Const *value)
{
	const Datum copy = value->constisnull ? (Datum) 0 :
		datumCopy(value->constvalue, value->constbyval, value->constlen);
	List	   *before = NIL;
	ListCell   *cell;

	foreach(cell, constants)
	{
		Const	   *constant = lfirst_node(Const, cell);

		if (!constant->constbyval && !constant->constisnull)
			before = list_append_unique_ptr(before, DatumGetPointer(constant->constvalue));
		constant->constisnull = value->constisnull;
		constant->constvalue = copy;
	}
	list_free_deep(before);
}

/*
 * Read the literals of a text that can differ from a known one: Const *, NULL for the others.
 * Raises errors of a literal as the analysis of the text does.
 */
const Const **
emogi_literal_values_read(const char *text, const EmogiTextLiterals *texts,
						  const EmogiLiteralPlaces *known)
{
	ErrorContextCallback context = {.previous = error_context_stack,
									.callback = emogi_query_explain_text,
									.arg = unconstify(char *, text)};
	ParseState *state = make_parsestate(NULL);
	const Const **values = palloc0(Max(texts->count, 1) * sizeof *values);

	state->p_sourcetext = text;
	error_context_stack = &context;
	for (int i = 0; i < texts->count; i++)
	{
		ParseCallbackState position;

		if (known->places[i] == NIL)
			continue;
		setup_parser_errposition_callback(&position, state, texts->found[i].start);
		values[i] = read_literal(text, &texts->found[i], linitial(known->places[i]));
		cancel_parser_errposition_callback(&position);
	}
	error_context_stack = context.previous;
	free_parsestate(state);
	return values;
}

/* Put values, as they were read, into the constants of the literals. */
void
emogi_literal_values_put(const Const *const *values, const EmogiLiteralPlaces *literals)
{
	for (int i = 0; i < literals->texts.count; i++)
		if (literals->places[i] != NIL)
			emogi_literal_values_set(literals->places[i], values[i]);
}
