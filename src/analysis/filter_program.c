/*
 * filter_program.c: translate conditions on the rows of a table into a program over its columns
 *
 * The conditions are those of an analyzed query, with constants folded. A translation is exact: the
 * program has the truth that the executor would compute for each row, true, false or NULL. Other
 * conditions are not translated.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "analysis/filter_program.h"

static bool translate(EmogiFilterTranslation *translation, Node *node);

/* Add a step that leaves the number of truths as it is. */
static void
add_step(EmogiFilterTranslation *translation, const EmogiFilterStep *step)
{
	EmogiFilterProgram *program = translation->program;

	if (program->nsteps == program->room)
	{
		program->room = Max(2 * program->room, 16);
		program->steps = program->steps == NULL ? palloc(program->room * sizeof *step) :
			repalloc(program->steps, program->room * sizeof *step);
	}
	program->steps[program->nsteps++] = *step;
}

/* Add a leaf; false if there are too many truths on the stack. */
bool
emogi_filter_program_push(EmogiFilterTranslation *translation, const EmogiFilterStep *step)
{
	if (translation->depth == EMOGI_FILTER_DEPTH)
		return false;
	translation->depth++;
	add_step(translation, step);
	return true;
}

/* Add a step that has no operands but truths on the stack. */
bool
emogi_filter_program_add(EmogiFilterTranslation *translation, EmogiFilterKind kind)
{
	const EmogiFilterStep step = {.kind = kind};

	add_step(translation, &step);
	return true;
}

static bool
push_constant(EmogiFilterTranslation *translation, EmogiTruth truth)
{
	const EmogiFilterStep step = {.kind = EMOGI_FILTER_CONSTANT,.constant = truth};

	return emogi_filter_program_push(translation, &step);
}

/*
 * Translate an AND or OR. The second operand is skipped in blocks in which the first one decides
 * the result.
 */
static bool
translate_junction(EmogiFilterTranslation *translation, List *args, bool is_and)
{
	const EmogiFilterStep skip = {.kind = is_and ? EMOGI_FILTER_SKIP_AND : EMOGI_FILTER_SKIP_OR};
	ListCell   *cell;
	bool		is_first = true;

	foreach(cell, args)
	{
		const uint32 at = translation->program->nsteps;

		if (!is_first)
			add_step(translation, &skip);
		if (!translate(translation, lfirst(cell)))
			return false;
		if (!is_first)
		{
			translation->program->steps[at].skipped = translation->program->nsteps - at;
			emogi_filter_program_add(translation, is_and ? EMOGI_FILTER_AND : EMOGI_FILTER_OR);
			translation->depth--;
		}
		is_first = false;
	}
	return true;
}

static bool
translate_bool(EmogiFilterTranslation *translation, const BoolExpr *expr)
{
	if (expr->boolop != NOT_EXPR)
		return translate_junction(translation, expr->args, expr->boolop == AND_EXPR);
	return translate(translation, linitial(expr->args)) &&
		emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
}

/* Translate IS TRUE and the like. */
static bool
translate_test(EmogiFilterTranslation *translation, const BooleanTest *test)
{
	static const struct
	{
		EmogiFilterKind kind;
		bool		is_negated;
	}			steps[] = {
		[IS_TRUE] = {EMOGI_FILTER_IS_TRUE, false},
		[IS_NOT_TRUE] = {EMOGI_FILTER_IS_TRUE, true},
		[IS_FALSE] = {EMOGI_FILTER_IS_FALSE, false},
		[IS_NOT_FALSE] = {EMOGI_FILTER_IS_FALSE, true},
		[IS_UNKNOWN] = {EMOGI_FILTER_IS_UNKNOWN, false},
		[IS_NOT_UNKNOWN] = {EMOGI_FILTER_IS_UNKNOWN, true}
	};

	if (!translate(translation, (Node *) test->arg))
		return false;
	emogi_filter_program_add(translation, steps[test->booltesttype].kind);
	return !steps[test->booltesttype].is_negated ||
		emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
}

/* Push whether a column is NULL. */
static bool
push_is_null(EmogiFilterTranslation *translation, uint32 column)
{
	const EmogiFilterStep step = {.kind = EMOGI_FILTER_IS_NULL,.column = column};

	return emogi_filter_program_push(translation, &step);
}

/* Translate IS NULL, of a column or of a condition. */
static bool
translate_null_test(EmogiFilterTranslation *translation, const NullTest *test)
{
	uint32		column;

	if (test->argisrow)
		return false;
	if (emogi_filter_leaves_column(translation, (Node *) test->arg, &column))
	{
		if (!push_is_null(translation, column))
			return false;
	}
	else if (exprType((Node *) test->arg) != BOOLOID ||
			 !translate(translation, (Node *) test->arg) ||
			 !emogi_filter_program_add(translation, EMOGI_FILTER_IS_UNKNOWN))
		return false;
	return test->nulltesttype == IS_NULL || emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
}

/*
 * Translate IS DISTINCT FROM: not equal, and not both NULL. Equality with a constant that is not
 * NULL suffices.
 */
static bool
translate_distinct(EmogiFilterTranslation *translation, const DistinctExpr *expr)
{
	Node	   *left = linitial(expr->args);
	Node	   *right = lsecond(expr->args);
	uint32		column;
	uint32		other;

	if (IsA(left, Const))
	{
		left = lsecond(expr->args);
		right = linitial(expr->args);
	}
	if (IsA(right, Const) && ((const Const *) right)->constisnull)
		return emogi_filter_leaves_column(translation, left, &column) &&
			push_is_null(translation, column) &&
			emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
	if (!emogi_filter_leaves_operator(translation, expr->opno, expr->inputcollid, expr->args))
		return false;
	emogi_filter_program_add(translation, EMOGI_FILTER_IS_TRUE);
	emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
	if (IsA(right, Const))
		return true;
	if (!emogi_filter_leaves_column(translation, left, &column) ||
		!emogi_filter_leaves_column(translation, right, &other) ||
		!push_is_null(translation, column) || !push_is_null(translation, other))
		return false;
	emogi_filter_program_add(translation, EMOGI_FILTER_AND);
	translation->depth--;
	emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
	emogi_filter_program_add(translation, EMOGI_FILTER_AND);
	translation->depth--;
	return true;
}

/* Push a boolean column. */
static bool
translate_column(EmogiFilterTranslation *translation, Node *node)
{
	EmogiFilterStep step = {.kind = EMOGI_FILTER_RANGE,.low = 1,.high = 1};

	return exprType(node) == BOOLOID &&
		emogi_filter_leaves_column(translation, node, &step.column) &&
		emogi_filter_program_push(translation, &step);
}

/* Translate a boolean constant. */
static bool
translate_constant(EmogiFilterTranslation *translation, const Const *constant)
{
	if (constant->constisnull)
		return push_constant(translation, EMOGI_UNKNOWN);
	return push_constant(translation, DatumGetBool(constant->constvalue) ? EMOGI_TRUE :
						 EMOGI_FALSE);
}

/* Translate a condition; false if that is impossible. */
static bool
translate(EmogiFilterTranslation *translation, Node *node)
{
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Const:
			return translate_constant(translation, castNode(Const, node));
		case T_Var:
		case T_RelabelType:
			return translate_column(translation, node);
		case T_BoolExpr:
			return translate_bool(translation, castNode(BoolExpr, node));
		case T_BooleanTest:
			return translate_test(translation, castNode(BooleanTest, node));
		case T_NullTest:
			return translate_null_test(translation, castNode(NullTest, node));
		case T_DistinctExpr:
			return translate_distinct(translation, (DistinctExpr *) node);
		case T_OpExpr:
			return emogi_filter_leaves_operator(translation, ((OpExpr *) node)->opno,
												((OpExpr *) node)->inputcollid,
												((OpExpr *) node)->args);
		case T_ScalarArrayOpExpr:
			return emogi_filter_leaves_array(translation, castNode(ScalarArrayOpExpr, node));
		default:
			return false;
	}
}

/*
 * Translate conditions, all of which must be true, into a program over stored columns; false if
 * that is impossible. columns: those that the conditions read, as which they are stored in any
 * order. The conditions have no other columns.
 */
bool
emogi_filter_program_make(List *quals, const EmogiFilterColumns *columns,
						  const EmogiColumns *stored, EmogiFilterProgram *program)
{
	EmogiFilterTranslation translation = {columns, stored, program};

	*program = (EmogiFilterProgram) {0};
	if (quals == NIL)
		return push_constant(&translation, EMOGI_TRUE);
	return translate_junction(&translation, quals, true);
}

/* Check whether conditions can be translated, unless a column has too many values. */
bool
emogi_filter_program_is_possible(List *quals, const EmogiFilterColumns *columns)
{
	EmogiFilterProgram program;

	return emogi_filter_program_make(quals, columns, NULL, &program);
}

/* Get the bytes of the values of a step. */
static Size
value_bytes(const EmogiFilterStep *step)
{
	if (step->kind == EMOGI_FILTER_AMONG)
		return step->nvalues * sizeof(int64);
	if (step->kind == EMOGI_FILTER_IN_SET)
		return emogi_bitmap_words((uint64) step->high - (uint64) step->low + 1) * sizeof(uint64);
	return 0;
}

/* Get the bytes of a copy of a program. */
Size
emogi_filter_program_bytes(const EmogiFilterProgram *program)
{
	Size		bytes = program->nsteps * sizeof(EmogiFilterStep);

	for (uint32 i = 0; i < program->nsteps; i++)
		bytes += value_bytes(&program->steps[i]);
	return bytes;
}

/* Copy a program to memory of so many bytes, aligned to 8. */
void
emogi_filter_program_copy(const EmogiFilterProgram *program, void *memory,
						  EmogiEdgeFilter *filter)
{
	EmogiFilterStep *steps = memory;
	char	   *values = (char *) (steps + program->nsteps);

	memcpy(steps, program->steps, program->nsteps * sizeof *steps);
	for (uint32 i = 0; i < program->nsteps; i++)
	{
		const Size	bytes = value_bytes(&steps[i]);

		if (bytes == 0)
			continue;
		steps[i].values = memcpy(values, steps[i].values, bytes);
		values += bytes;
	}
	*filter = (EmogiEdgeFilter) {program->nsteps, steps};
}
