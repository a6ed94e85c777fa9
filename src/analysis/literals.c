/*
 * literals.c: how long the literals of an analyzed query keep their values
 *
 * A literal without a type becomes a constant while a query is analyzed, by the input function of
 * its type. Most of these are IMMUTABLE. Those of dates and times depend on settings, which are
 * compared (known_analyses.c), and read 'now', 'today' and the like as the time of the transaction.
 * Others may read the catalogs.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "analysis/known_analyses.h"

/* State of the walk. */
typedef struct Literals
{
	EmogiLiteralLife life;
	bool		names_time;		/* the text may have a word for the time of the transaction */
} Literals;

/* Does a text begin with a word that stands for a time? An escape may hide one. */
static inline bool
is_word_of_time(const char *text)
{
	switch (*text)
	{
		case 'n':
		case 'N':
			return (text[1] == 'o' || text[1] == 'O') && pg_strncasecmp(text, "now", 3) == 0;
		case 't':
		case 'T':
			return (text[1] == 'o' || text[1] == 'O') &&
				(pg_strncasecmp(text, "today", 5) == 0 ||
				 pg_strncasecmp(text, "tomorrow", 8) == 0);
		case 'y':
		case 'Y':
			return (text[1] == 'e' || text[1] == 'E') && pg_strncasecmp(text, "yesterday", 9) == 0;
		default:
			return *text == '\\';
	}
}

/* May a text contain a word that stands for a time? */
bool
emogi_literals_may_name_time(const char *text)
{
	for (; *text != '\0'; text++)
		if (is_word_of_time(text))
			return true;
	return false;
}

/* Get the life of a literal of a type. */
static EmogiLiteralLife
life_of(Oid type, bool names_time)
{
	const Oid	element = get_element_type(type);
	Oid			input;
	Oid			io_param;

	if (OidIsValid(element))
		return life_of(element, names_time);
	switch (type)
	{
		case INTERVALOID:
			return EMOGI_LITERALS_KEPT;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return names_time ? EMOGI_LITERALS_OF_TRANSACTION : EMOGI_LITERALS_KEPT;
		case TIMEOID:
		case TIMETZOID:
			return EMOGI_LITERALS_OF_TRANSACTION;	/* a named zone is that of the day */
		default:
			break;
	}
	if (type >= FirstNormalObjectId)
		return EMOGI_LITERALS_OF_CALL;
	getTypeInputInfo(type, &input, &io_param);
	return func_volatile(input) == PROVOLATILE_IMMUTABLE ? EMOGI_LITERALS_KEPT :
		EMOGI_LITERALS_OF_CALL;
}

/* Find the shortest life of the constants in an expression tree. */
static bool
walk(Node *node, void *context)
{
	Literals   *literals = context;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, walk, context, 0);
	if (IsA(node, Const))
		literals->life = Min(literals->life, life_of(((Const *) node)->consttype,
													 literals->names_time));
	return literals->life == EMOGI_LITERALS_OF_CALL ||
		expression_tree_walker(node, walk, context);
}

/* Get how long the literals of a query keep their values, which has been analyzed from a text. */
EmogiLiteralLife
emogi_literals_life(Query *query, const char *text)
{
	Literals	literals = {EMOGI_LITERALS_KEPT, emogi_literals_may_name_time(text)};

	(void) walk((Node *) query, &literals);
	return literals.life;
}
