/*
 * course.c: the functions of emogi that one statement of a session enters, in order
 *
 * tools/course puts it into a copy of src/ that is compiled with -finstrument-functions. Setting
 * emogi.course to the name of a file traces the statements after the one that sets it, until it is
 * set to '': a line for each function entered, with its depth and its address in the library.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "access/xact.h"
#include "utils/guc.h"

#include "base/course.h"

#define UNTRACED __attribute__((no_instrument_function))
/* hidden, so that the library calls these and not those of libc, which do nothing */
#define HOOK UNTRACED __attribute__((visibility("hidden")))
#define MAX_ENTRIES 1000000

typedef struct Entered
{
	uintptr_t	function;
	int			depth;
} Entered;

void		__cyg_profile_func_enter(void *function, void *caller) HOOK;
void		__cyg_profile_func_exit(void *function, void *caller) HOOK;

static char *file_name = NULL;
static Entered *entries = NULL;	/* [MAX_ENTRIES] */
static int	nentries = 0;
static int	depth = 0;
static bool is_armed = false;	/* tracing begins when this transaction has ended */
static bool is_tracing = false;

void
__cyg_profile_func_enter(void *function, void *caller)
{
	if (!is_tracing)
		return;
	if (nentries < MAX_ENTRIES)
		entries[nentries++] = (Entered) {(uintptr_t) function, depth};
	depth++;
}

void
__cyg_profile_func_exit(void *function, void *caller)
{
	if (is_tracing)
		depth--;
}

/* Write what was traced. */
static UNTRACED void
write_entries(void)
{
	Dl_info		library;
	FILE	   *file = fopen(file_name, "w");

	if (file == NULL || dladdr((void *) write_entries, &library) == 0)
		elog(ERROR, "could not write \"%s\"", file_name);
	for (int i = 0; i < nentries; i++)
		fprintf(file, "%d %lx\n", entries[i].depth,
				(unsigned long) (entries[i].function - (uintptr_t) library.dli_fbase));
	fclose(file);
}

static UNTRACED void
assign(const char *name, void *extra)
{
	if (is_tracing)
	{
		is_tracing = false;
		write_entries();
	}
	is_armed = name != NULL && name[0] != '\0';
}

static UNTRACED void
at_end(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT || !is_armed)
		return;
	if (entries == NULL)
		entries = calloc(MAX_ENTRIES, sizeof *entries);
	nentries = depth = 0;
	is_armed = false;
	is_tracing = entries != NULL;
}

UNTRACED void
emogi_course_init(void)
{
	DefineCustomStringVariable("emogi.course", "File for the functions that statements enter.",
							   NULL, &file_name, "", PGC_SUSET, 0, NULL, assign, NULL);
	RegisterXactCallback(at_end, NULL);
}
