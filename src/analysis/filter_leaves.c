/*
 * filter_leaves.c: translate comparisons of property columns into steps of a filter program
 *
 * An operator is translated if it belongs to the btree operator family of the type, so that its
 * meaning is known. Comparisons with a dictionary become ranges of codes, or sets of them. Others
 * are evaluated for each value of the dictionary, if they cannot raise an error.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "analysis/column_values.h"
#include "analysis/filter_bounds.h"
#include "analysis/filter_program.h"
#include "answer/cost.h"

/* How a column is compared. */
typedef enum Conversion
{
	AS_IT_IS,
	TO_FLOAT,					/* an integer, as a double */
	TO_NUMERIC					/* an integer, as a numeric */
} Conversion;

/* A column in an expression. */
typedef struct Operand
{
	int			number;			/* in translation->columns */
	uint32		column;			/* in the stored columns */
	EmogiColumnKind kind;
	Oid			type;			/* as which it is compared */
	Conversion	conversion;
} Operand;

/* An operator of a btree operator family. */
typedef struct Comparison
{
	int			strategy;		/* BTLessStrategyNumber ... */
	bool		is_negated;		/* of equality: <> */
} Comparison;

/* ---- columns ---- */

static bool
is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float_type(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/* Find the stored column of a number in translation->columns; false if it is not stored. */
static bool
find_stored(const EmogiFilterTranslation *translation, int number, uint32 *column)
{
	const EmogiColumns *stored = translation->stored;

	*column = number;
	if (stored == NULL)
		return true;
	for (uint32 i = 0; i < stored->forward.ncolumns; i++)
		if (memcmp(&stored->columns[i].identity, &translation->columns->columns[number],
				   sizeof(EmogiColumnIdentity)) == 0)
		{
			*column = i;
			return stored->columns[i].kind != EMOGI_COLUMN_ABSENT;
		}
	return false;
}

/* Find the column that a variable is. */
static bool
match_variable(const EmogiFilterTranslation *translation, const Var *var, Operand *operand)
{
	const EmogiFilterColumns *columns = translation->columns;

	for (int i = 0; i < columns->count; i++)
		if (columns->columns[i].attnum == var->varattno)
		{
			*operand = (Operand) {.number = i,.kind = columns->kinds[i],
				.type = columns->columns[i].type};
			return find_stored(translation, i, &operand->column);
		}
	return false;
}

/* Apply a cast function to a column; false if its values are not known then. */
static bool
convert(Operand *operand, Oid function, Oid to)
{
	const Oid	from = operand->type;
	Oid			cast;

	if (operand->conversion != AS_IT_IS || function >= FirstNormalObjectId ||
		find_coercion_pathway(to, from, COERCION_EXPLICIT, &cast) != COERCION_PATH_FUNC ||
		cast != function)
		return false;
	operand->type = to;
	if (is_integer_type(from) && is_integer_type(to))
		return get_typlen(from) < get_typlen(to);
	if (from == FLOAT4OID && to == FLOAT8OID)
		return true;
	operand->conversion = to == FLOAT8OID ? TO_FLOAT : TO_NUMERIC;
	return is_integer_type(from) && (to == FLOAT8OID || to == NUMERICOID);
}

/* Find the column that an expression is, perhaps converted. */
static bool
match_operand(const EmogiFilterTranslation *translation, Node *node, Operand *operand)
{
	if (IsA(node, Var))
		return match_variable(translation, castNode(Var, node), operand);
	if (IsA(node, RelabelType))
	{
		const RelabelType *relabeled = castNode(RelabelType, node);
		const Oid	type = getBaseType(relabeled->resulttype);

		if (!match_operand(translation, (Node *) relabeled->arg, operand))
			return false;
		if (operand->type == VARCHAROID && type == TEXTOID)
			operand->type = TEXTOID;
		return operand->type == type;
	}
	if (IsA(node, FuncExpr))
	{
		const FuncExpr *call = castNode(FuncExpr, node);

		return list_length(call->args) == 1 &&
			match_operand(translation, linitial(call->args), operand) &&
			convert(operand, call->funcid, call->funcresulttype);
	}
	return false;
}

/* Check whether an expression is a column as it is, and get its number among the stored ones. */
bool
emogi_filter_leaves_column(EmogiFilterTranslation *translation, Node *node, uint32 *column)
{
	Operand		operand;

	if (!match_operand(translation, node, &operand) || operand.conversion != AS_IT_IS)
		return false;
	*column = operand.column;
	return true;
}

/* ---- operators ---- */

/* Find the meaning of an operator for a type; false if it is unknown. */
static bool
find_comparison(Oid operator, Oid type, Comparison *comparison)
{
	const Oid	family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			negator;

	if (!OidIsValid(family) || family >= FirstNormalObjectId)
		return false;
	*comparison = (Comparison) {get_op_opfamily_strategy(operator, family)};
	if (comparison->strategy != 0)
		return true;
	negator = get_negator(operator);
	if (!OidIsValid(negator) ||
		get_op_opfamily_strategy(negator, family) != BTEqualStrategyNumber)
		return false;
	*comparison = (Comparison) {BTEqualStrategyNumber, true};
	return true;
}

/* Exchange the operands of a comparison. */
static void
commute(Comparison *comparison)
{
	comparison->strategy = BTGreaterStrategyNumber + BTLessStrategyNumber - comparison->strategy;
}

/* ---- dictionaries ---- */

/* Check whether a comparison of codes under this collation is one of values. */
static bool
has_order(const EmogiFilterTranslation *translation, const Operand *operand, Oid collation,
		  bool is_equality)
{
	const Oid	stored = translation->columns->columns[operand->number].collation;

	return collation == stored ||
		(is_equality && OidIsValid(collation) && OidIsValid(stored) &&
		 get_collation_isdeterministic(collation) && get_collation_isdeterministic(stored));
}

/* Get the bounds of a constant among the codes of a column, which are in order. */
static EmogiFilterBounds
bounds_of_value(const EmogiColumn *column, Datum constant)
{
	return (EmogiFilterBounds) {.first = emogi_column_values_before(column, NULL, constant, false),
					 .after = emogi_column_values_before(column, NULL, constant, true)};
}

/* Make an empty set of the codes of a dictionary, which is not empty. */
static uint64 *
make_set(EmogiFilterStep *step, const EmogiColumn *column)
{
	uint64	   *members = palloc0(emogi_bitmap_words(column->nvalues) * sizeof *members);

	step->kind = EMOGI_FILTER_IN_SET;
	step->low = 0;
	step->high = (int64) column->nvalues - 1;
	step->values = members;
	return members;
}

/* Push that a column with a dictionary has one of the codes for which a function is true. */
static bool
push_evaluated(EmogiFilterTranslation *translation, const Operand *operand, Oid function,
			   Oid collation, Datum constant, bool is_commuted)
{
	const EmogiColumn *column = translation->stored != NULL ?
		&translation->stored->columns[operand->column] : NULL;
	EmogiFilterStep step = {.kind = EMOGI_FILTER_RANGE,.column = operand->column,.low = 1,
		.high = 0};
	uint64	   *members;
	FmgrInfo	call;
	bool		by_value;

	if (column == NULL || column->nvalues == 0)
		return emogi_filter_program_push(translation, &step);
	members = make_set(&step, column);
	by_value = get_typbyval(column->identity.type);
	fmgr_info(function, &call);
	for (uint32 code = 0; code < column->nvalues; code++)
	{
		const Datum value = emogi_column_value(column, code, by_value);

		CHECK_FOR_INTERRUPTS();
		if (DatumGetBool(FunctionCall2Coll(&call, collation, is_commuted ? constant : value,
										   is_commuted ? value : constant)))
			members[code / 64] |= UINT64CONST(1) << (code % 64);
	}
	return emogi_filter_program_push(translation, &step);
}

/* Is a column stored with codes that are not in the order of the type? */
static bool
has_unordered_codes(const EmogiFilterTranslation *translation, const Operand *operand)
{
	return operand->kind == EMOGI_COLUMN_CODES && translation->stored != NULL &&
		!translation->stored->columns[operand->column].is_ordered;
}

/* Push that a column has one of some codes. */
static bool
push_codes(EmogiFilterTranslation *translation, const Operand *operand, const uint32 *codes,
		   uint32 count)
{
	EmogiFilterStep step = {.kind = EMOGI_FILTER_RANGE,.column = operand->column,.low = 1,
		.high = 0};
	uint64	   *members;

	if (count == 1)
		step.low = step.high = codes[0];
	else if (count > 1)
	{
		members = make_set(&step, &translation->stored->columns[operand->column]);
		for (uint32 i = 0; i < count; i++)
			members[codes[i] / 64] |= UINT64CONST(1) << (codes[i] % 64);
	}
	return emogi_filter_program_push(translation, &step);
}

/* Translate a comparison of a column whose codes are not in order; false if that takes too long. */
static bool
compare_unordered(EmogiFilterTranslation *translation, const Operand *operand, int strategy,
				  Datum constant)
{
	const double max_us = EMOGI_COST_BUILD_EDGE_US * (double) translation->stored->forward.nedges;
	const uint32 *codes;
	uint32		count;

	return emogi_column_values_compare(&translation->stored->columns[operand->column], strategy,
									   constant, max_us, &codes, &count) &&
		push_codes(translation, operand, codes, count);
}

/* Translate LIKE and ILIKE. */
static bool
translate_pattern(EmogiFilterTranslation *translation, const Operand *operand, Oid function,
				  Oid collation, const Const *constant)
{
	const bool	of_text = function == F_TEXTLIKE || function == F_TEXTNLIKE ||
		function == F_TEXTICLIKE || function == F_TEXTICNLIKE;
	const bool	of_bpchar = function == F_BPCHARLIKE || function == F_BPCHARNLIKE ||
		function == F_BPCHARICLIKE || function == F_BPCHARICNLIKE;

	if (!(of_text && operand->type == TEXTOID) && !(of_bpchar && operand->type == BPCHAROID))
		return false;
	return emogi_filter_bounds_is_safe_pattern(constant, collation) &&
		push_evaluated(translation, operand, function, collation, constant->constvalue, false);
}

/* ---- comparisons ---- */

/* Check whether a constant of a type can be compared with a column. */
static bool
is_comparable(const Operand *operand, Oid type)
{
	if (operand->conversion == TO_NUMERIC)
		return type == NUMERICOID;
	if (operand->conversion == TO_FLOAT || operand->kind == EMOGI_COLUMN_FLOAT)
		return is_float_type(type);
	if (is_integer_type(operand->type))
		return is_integer_type(type);
	return type == operand->type;
}

/* Replace the topmost truth by its opposite if a comparison is negated. */
static bool
negate(EmogiFilterTranslation *translation, bool is_negated)
{
	if (is_negated)
		emogi_filter_program_add(translation, EMOGI_FILTER_NOT);
	return true;
}

/* Get the bounds of a constant among the stored values of a column. */
static EmogiFilterBounds
find_bounds(const EmogiFilterTranslation *translation, const Operand *operand,
			const Const *constant, Oid type)
{
	if (operand->conversion == TO_NUMERIC)
		return emogi_filter_bounds_of_numeric(constant->constvalue);
	if (operand->conversion == TO_FLOAT)
		return emogi_filter_bounds_of_float(emogi_filter_bounds_double(constant->constvalue, type));
	if (operand->kind == EMOGI_COLUMN_INTEGER)
		return emogi_filter_bounds_of_integer(emogi_filter_bounds_integer(constant->constvalue,
																		  type));
	if (translation->stored == NULL)
		return (EmogiFilterBounds) {0};
	return bounds_of_value(&translation->stored->columns[operand->column],
						   constant->constvalue);
}

/* Translate a comparison of a float column. */
static bool
compare_float(EmogiFilterTranslation *translation, const Operand *operand, int strategy,
			  double constant)
{
	const EmogiFilterStep step = {.kind = EMOGI_FILTER_COMPARE,
		.comparison = (EmogiComparison) (EMOGI_LESS + strategy - BTLessStrategyNumber),
		.column = operand->column,.number = constant};

	return emogi_filter_program_push(translation, &step);
}

/* Translate an operator on a column and a constant; is_commuted: in the other order. */
static bool
compare_constant(EmogiFilterTranslation *translation, const Operand *operand, Oid operator,
				 Oid collation, const Const *constant, bool is_commuted)
{
	const Oid	type = getBaseType(constant->consttype);
	const EmogiFilterStep unknown = {.kind = EMOGI_FILTER_CONSTANT,.constant = EMOGI_UNKNOWN};
	EmogiFilterStep step = {.kind = EMOGI_FILTER_RANGE,.column = operand->column};
	Comparison	comparison;
	EmogiFilterBounds		bounds;

	if (!find_comparison(operator, operand->type, &comparison))
		return !constant->constisnull && !is_commuted && operand->kind == EMOGI_COLUMN_CODES &&
			translate_pattern(translation, operand, get_opcode(operator), collation, constant);
	if (constant->constisnull)
		return emogi_filter_program_push(translation, &unknown);
	if (!is_comparable(operand, type))
		return false;
	if (operand->kind == EMOGI_COLUMN_CODES &&
		!has_order(translation, operand, collation,
				   comparison.strategy == BTEqualStrategyNumber))
		return push_evaluated(translation, operand, get_opcode(operator), collation,
							  constant->constvalue, is_commuted);
	if (is_commuted)
		commute(&comparison);
	if (operand->kind == EMOGI_COLUMN_FLOAT)
	{
		if (!compare_float(translation, operand, comparison.strategy,
						   emogi_filter_bounds_double(constant->constvalue, type)))
			return false;
	}
	else if (has_unordered_codes(translation, operand))
	{
		if (!compare_unordered(translation, operand, comparison.strategy, constant->constvalue))
			return false;
	}
	else
	{
		bounds = find_bounds(translation, operand, constant, type);
		emogi_filter_bounds_set_range(&step, comparison.strategy, &bounds);
		if (!emogi_filter_program_push(translation, &step))
			return false;
	}
	return negate(translation, comparison.is_negated);
}

/* Check whether two columns are compared as they are stored, or both as doubles. */
static bool
are_comparable(const Operand *left, const Operand *right)
{
	if (left->kind == EMOGI_COLUMN_CODES || right->kind == EMOGI_COLUMN_CODES ||
		left->conversion == TO_NUMERIC || right->conversion == TO_NUMERIC)
		return false;
	if (left->kind == EMOGI_COLUMN_FLOAT || right->kind == EMOGI_COLUMN_FLOAT)
		return is_float_type(left->type) && is_float_type(right->type);
	return left->conversion == AS_IT_IS && right->conversion == AS_IT_IS &&
		(left->type == right->type ||
		 (is_integer_type(left->type) && is_integer_type(right->type)));
}

/* Translate an operator on two columns. */
static bool
compare_columns(EmogiFilterTranslation *translation, const Operand *left, const Operand *right,
				Oid operator)
{
	EmogiFilterStep step = {.kind = EMOGI_FILTER_COMPARE_COLUMNS,.column = left->column,
		.other = right->column};
	Comparison	comparison;

	if (!are_comparable(left, right) || !find_comparison(operator, left->type, &comparison))
		return false;
	step.comparison = comparison.is_negated ? EMOGI_NOT_EQUAL :
		(EmogiComparison) (EMOGI_LESS + comparison.strategy - BTLessStrategyNumber);
	return emogi_filter_program_push(translation, &step);
}

/* Translate a binary operator; false if that is impossible. */
bool
emogi_filter_leaves_operator(EmogiFilterTranslation *translation, Oid operator, Oid collation,
							 List *args)
{
	Node	   *left = linitial(args);
	Node	   *right = list_length(args) == 2 ? lsecond(args) : NULL;
	Operand		operand;
	Operand		other;

	if (right == NULL)
		return false;
	if (IsA(right, Const))
		return match_operand(translation, left, &operand) &&
			compare_constant(translation, &operand, operator, collation, castNode(Const, right),
							 false);
	if (IsA(left, Const))
		return match_operand(translation, right, &operand) &&
			compare_constant(translation, &operand, operator, collation, castNode(Const, left),
							 true);
	return match_operand(translation, left, &operand) &&
		match_operand(translation, right, &other) &&
		compare_columns(translation, &operand, &other, operator);
}

/* ---- arrays ---- */

static int
compare_floats(const void *a, const void *b)
{
	return float8_cmp_internal(*(const double *) a, *(const double *) b);
}

static int
compare_integers(const void *a, const void *b)
{
	const int64 x = *(const int64 *) a;
	const int64 y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* Set a step to the elements of an array that are not NULL, for a column stored as numbers. */
static void
set_numbers(EmogiFilterStep *step, const Operand *operand, Oid type, const Datum *elements,
			const bool *nulls, int nelements)
{
	const bool	is_float = operand->kind == EMOGI_COLUMN_FLOAT;
	int64	   *integers = palloc(nelements * sizeof *integers);
	double	   *floats = (double *) integers;
	uint64		count = 0;

	for (int i = 0; i < nelements; i++)
	{
		if (nulls[i])
			continue;
		if (is_float)
			floats[count++] = emogi_filter_bounds_double(elements[i], type);
		else
			integers[count++] = emogi_filter_bounds_integer(elements[i], type);
	}
	qsort(integers, count, sizeof *integers, is_float ? compare_floats : compare_integers);
	step->kind = EMOGI_FILTER_AMONG;
	step->nvalues = count;
	step->values = integers;
}

/* Set a step to the codes of the elements of an array that are not NULL. */
static void
set_codes(EmogiFilterStep *step, const EmogiColumn *column, const Datum *elements,
		  const bool *nulls, int nelements)
{
	uint64	   *members = make_set(step, column);

	for (int i = 0; i < nelements; i++)
	{
		EmogiFilterBounds bounds = {0};
		uint32	   *codes = NULL;

		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		if (column->is_ordered)
			bounds = bounds_of_value(column, elements[i]);
		else
			bounds.after = emogi_column_values_equal(column, elements[i], &codes);
		for (int64 n = bounds.first; n < bounds.after; n++)
		{
			const uint32 code = codes != NULL ? codes[n] : (uint32) n;

			members[code / 64] |= UINT64CONST(1) << (code % 64);
		}
	}
}

/* Push that a column is equal to an element of an array, which is not empty. */
static bool
push_among(EmogiFilterTranslation *translation, const Operand *operand, const Const *array,
		   Oid type)
{
	EmogiFilterStep step = {.kind = EMOGI_FILTER_RANGE,.column = operand->column,.low = 1,
		.high = 0};
	const EmogiColumn *column;
	Datum	   *elements;
	bool	   *nulls;
	int			nelements;
	int16		length;
	bool		by_value;
	char		alignment;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, length, by_value, alignment,
					  &elements, &nulls, &nelements);
	for (int i = 0; i < nelements; i++)
		step.has_null |= nulls[i];
	if (operand->kind != EMOGI_COLUMN_CODES)
		set_numbers(&step, operand, type, elements, nulls, nelements);
	else if (translation->stored != NULL)
	{
		column = &translation->stored->columns[operand->column];
		if (column->nvalues > 0)
			set_codes(&step, column, elements, nulls, nelements);
	}
	return emogi_filter_program_push(translation, &step);
}

/* Translate = ANY (array) and <> ALL (array), that is, IN and NOT IN; false if impossible. */
bool
emogi_filter_leaves_array(EmogiFilterTranslation *translation, const ScalarArrayOpExpr *expr)
{
	EmogiFilterStep constant = {.kind = EMOGI_FILTER_CONSTANT,.constant = EMOGI_UNKNOWN};
	const Const *array = lsecond(expr->args);
	Operand		operand;
	Comparison	comparison;
	Oid			type;

	if (!IsA(array, Const) || !match_operand(translation, linitial(expr->args), &operand) ||
		operand.conversion != AS_IT_IS ||
		!find_comparison(expr->opno, operand.type, &comparison) ||
		comparison.strategy != BTEqualStrategyNumber || comparison.is_negated == expr->useOr)
		return false;
	if (array->constisnull)
		return emogi_filter_program_push(translation, &constant);
	type = getBaseType(ARR_ELEMTYPE(DatumGetArrayTypeP(array->constvalue)));
	if (!is_comparable(&operand, type) ||
		(operand.kind == EMOGI_COLUMN_CODES &&
		 !has_order(translation, &operand, expr->inputcollid, true)))
		return false;
	if (ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(array->constvalue)),
					   ARR_DIMS(DatumGetArrayTypeP(array->constvalue))) == 0)
	{
		constant.constant = expr->useOr ? EMOGI_FALSE : EMOGI_TRUE;
		return emogi_filter_program_push(translation, &constant);
	}
	return push_among(translation, &operand, array, type) &&
		negate(translation, !expr->useOr);
}
