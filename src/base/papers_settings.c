/*
 * papers_settings.c: the settings of the papers' systems, which a GPU can emulate instead of
 * running emogi's own kernels
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/papers_settings.h"
#include "base/settings.h"

int			emogi_papers_mapping = EMOGI_MAPPING_AUTO;
static bool prefetch = false;	/* placement managed: copy all edges to the GPU before the run */
static bool asynchronous = false;	/* placement staged: iterate on copied lists until nothing
									 * changes there */

static const struct config_enum_entry mapping_options[] = {
	{"auto", EMOGI_MAPPING_AUTO, false},
	{"thread", EMOGI_MAPPING_THREAD, false},
	{"warp", EMOGI_MAPPING_WARP, false},
	{"aligned", EMOGI_MAPPING_ALIGNED, false},
	{"virtual2", EMOGI_MAPPING_VIRTUAL2, false},
	{"virtual4", EMOGI_MAPPING_VIRTUAL4, false},
	{"virtual8", EMOGI_MAPPING_VIRTUAL8, false},
	{"virtual16", EMOGI_MAPPING_VIRTUAL16, false},
	{"degree_cut", EMOGI_MAPPING_DEGREE_CUT, false},
	{"shards", EMOGI_MAPPING_SHARDS, false},
	{"windows", EMOGI_MAPPING_WINDOWS, false},
	{NULL, 0, false}
};

StaticAssertDecl(lengthof(mapping_options) == EMOGI_NMAPPINGS + 1, "every mapping has a name");

/* Get the name of a mapping in emogi.papers_mapping. */
const char *
emogi_papers_mapping_name(EmogiMapping value)
{
	return emogi_settings_option_name(mapping_options, value);
}

/* Get the parts of a query that come from these settings. */
EmogiPapersQuery
emogi_papers_query(void)
{
	return (EmogiPapersQuery) {.mapping = (EmogiMapping) emogi_papers_mapping, .prefetch = prefetch,
							   .asynchronous = asynchronous};
}

/* Define the settings of the papers' systems; called once, in the postmaster. */
void
emogi_papers_define(void)
{
	DefineCustomEnumVariable("emogi.papers_mapping",
							 "Selects the assignment of edges to the threads of a GPU.",
							 "auto uses emogi's own kernels; the others work like the systems of "
							 "the papers. Answers are the same, except for the rounding of sums.",
							 &emogi_papers_mapping, EMOGI_MAPPING_AUTO, mapping_options,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.papers_prefetch",
							 "Copies all edges to the GPU before the run, with placement managed.",
							 "Otherwise the driver moves pages when the run reads them. Answers "
							 "are the same.",
							 &prefetch, false,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.papers_asynchronous",
							 "Iterates on the copied edges until nothing changes, with placement "
							 "staged.",
							 "Otherwise copied edges are processed once. Sums ignore this setting. "
							 "Answers are the same.",
							 &asynchronous, false,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
}
