/*
 * course.c: trace the functions of emogi that one statement of a session enters, in order
 *
 * tools/course adds it to a copy of src/ that is compiled with -finstrument-functions. Setting
 * emogi.course to the name of a file traces the statements after the one that sets it, until it is
 * set to '': a line for each function entered by the session or by the engine worker, with its
 * depth, its address in the library, and the process. The linker redirects LWLockAcquire to this
 * file, which adds a line for each acquisition of the cache lock by the session.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/guc.h"

#include "base/course.h"
#include "base/shared.h"

#define UNTRACED __attribute__((no_instrument_function))
/* hidden, so that the library calls these and not those of libc, which do nothing */
#define HOOK UNTRACED __attribute__((visibility("hidden")))
#define MAX_ENTRIES 8000000

typedef struct Entered
{
	uintptr_t	function;	/* 0: acquisition of the cache lock */
	int			depth;
	int			process;
} Entered;

/* Written by all processes, without a lock; mapped by the first of them. */
typedef struct Course
{
	atomic_int	session;	/* the traced process, or 0 */
	atomic_int	nentries;
	Entered		entries[MAX_ENTRIES];
} Course;

void		__cyg_profile_func_enter(void *function, void *caller) HOOK;
void		__cyg_profile_func_exit(void *function, void *caller) HOOK;
bool		__real_LWLockAcquire(LWLock *lock, LWLockMode mode);
bool		__wrap_LWLockAcquire(LWLock *lock, LWLockMode mode) HOOK;

static char *file_name = NULL;
static Course *course = NULL;
static __thread int depth = 0;
static bool is_armed = false;	/* tracing begins after this transaction */

/* Add a line if a session is traced. */
static UNTRACED void
add_entry(uintptr_t function)
{
	int			i;

	if (course == NULL || atomic_load(&course->session) == 0 ||
		(MyProcPid != atomic_load(&course->session) && MyBackendType != B_BG_WORKER))
		return;
	i = atomic_fetch_add(&course->nentries, 1);
	if (i < MAX_ENTRIES)
		course->entries[i] = (Entered) {function, depth, MyProcPid};
}

void
__cyg_profile_func_enter(void *function, void *caller)
{
	add_entry((uintptr_t) function);
	depth++;
}

void
__cyg_profile_func_exit(void *function, void *caller)
{
	depth--;
}

bool
__wrap_LWLockAcquire(LWLock *lock, LWLockMode mode)
{
	if (emogi_shared != NULL && lock == emogi_shared->cache_lock)
		add_entry(0);
	return __real_LWLockAcquire(lock, mode);
}

/* Write the trace. */
static UNTRACED void
write_entries(int session)
{
	const int	nentries = Min(atomic_load(&course->nentries), MAX_ENTRIES);
	Dl_info		library;
	FILE	   *file = fopen(file_name, "w");

	if (file == NULL || dladdr((void *) write_entries, &library) == 0)
		elog(ERROR, "could not write \"%s\"", file_name);
	for (int i = 0; i < nentries; i++)
	{
		const Entered *entered = &course->entries[i];

		fprintf(file, "%d %lx %s\n", entered->depth, entered->function == 0 ? 0 :
				(unsigned long) (entered->function - (uintptr_t) library.dli_fbase),
				entered->process == session ? "session" : "worker");
	}
	fclose(file);
}

static UNTRACED void
assign(const char *name, void *extra)
{
	if (course != NULL && atomic_load(&course->session) == MyProcPid)
	{
		atomic_store(&course->session, 0);
		write_entries(MyProcPid);
	}
	is_armed = name != NULL && name[0] != '\0';
}

static UNTRACED void
at_end(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT || !is_armed)
		return;
	is_armed = false;
	depth = 0;
	atomic_store(&course->nentries, 0);
	atomic_store(&course->session, MyProcPid);
}

UNTRACED void
emogi_course_init(void)
{
	course = mmap(NULL, sizeof *course, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (course == MAP_FAILED)
		elog(ERROR, "could not map memory for a trace");
	DefineCustomStringVariable("emogi.course", "File that receives the trace of entered functions.",
							   NULL, &file_name, "", PGC_SUSET, 0, NULL, assign, NULL);
	RegisterXactCallback(at_end, NULL);
}
