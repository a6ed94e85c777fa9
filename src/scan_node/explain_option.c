/*
 * explain_option.c: the option EMOGI of EXPLAIN
 *
 * From PostgreSQL 18 on, EXPLAIN (EMOGI) prints the lines that otherwise require VERBOSE, without
 * the output columns and qualified names that VERBOSE adds to all nodes of a plan.
 */
#include "postgres.h"

#include "commands/defrem.h"

#include "scan_node/scan.h"
#include "scan_node/scan_node.h"
#include "base/compat.h"

static int	extension_id;

/* Store the value of the option in the state of this EXPLAIN. */
static void
set_option(ExplainState *es, DefElem *option, ParseState *pstate)
{
	static bool values[] = {false, true};

	emogi_compat_set_explain_state(es, extension_id, &values[defGetBoolean(option)]);
}

/* Does EXPLAIN show the lines that require VERBOSE or EMOGI? */
bool
emogi_explain_is_detailed(const ExplainState *es)
{
	const bool *value = emogi_compat_get_explain_state(es, extension_id);

	return es->verbose || (value != NULL && *value);
}

/* Define the option. */
void
emogi_explain_option_init(void)
{
	extension_id = emogi_compat_define_explain_option("emogi", set_option);
}
