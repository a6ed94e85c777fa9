/*
 * compat_server.h: differences between PostgreSQL 14 .. 19: shared memory, processes and settings
 *
 * A comment's leading number is the major version that introduced the change.
 */
#ifndef EMOGI_COMPAT_SERVER_H
#define EMOGI_COMPAT_SERVER_H

#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/wait_event.h"

/* 15: shared memory is requested from a hook of its own. */
#if PG_VERSION_NUM >= 150000
#define EMOGI_HAS_SHMEM_REQUEST_HOOK 1
#else
#define EMOGI_HAS_SHMEM_REQUEST_HOOK 0
#endif

/* 17: shared memory can be requested at any time, by name. Can emogi run without preloading? */
#if PG_VERSION_NUM >= 170000
#define EMOGI_HAS_DSM_REGISTRY 1
#else
#define EMOGI_HAS_DSM_REGISTRY 0
#endif

/* 19: the callback gets an argument, here the callback of older versions. */
#if PG_VERSION_NUM >= 190000
static inline void
emogi_compat_init_segment(void *segment, void *init)
{
	(*(void (**) (void *)) init) (segment);
}
#endif

/* Get the segment of a name in the DSM registry; `init` initializes a new one. */
static inline void *
emogi_compat_named_segment(const char *name, Size bytes, void (*init) (void *))
{
	bool		found;

#if PG_VERSION_NUM >= 190000
	return GetNamedDSMSegment(name, bytes, emogi_compat_init_segment, &found, (void *) &init);
#elif PG_VERSION_NUM >= 170000
	return GetNamedDSMSegment(name, bytes, init, &found);
#else
	(void) found;
	elog(ERROR, "there is no DSM registry");
#endif
}

/* 19: a tranche of locks is named when it is made. */
static inline int
emogi_compat_new_tranche(const char *name)
{
#if PG_VERSION_NUM >= 190000
	return LWLockNewTrancheId(name);
#else
	return LWLockNewTrancheId();
#endif
}

/* Name a tranche of locks in this process. */
static inline void
emogi_compat_register_tranche(int tranche, const char *name)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(tranche, name);
#endif
}

/* 17: a setting may be set in a parallel query, as when the library is loaded there. */
#if PG_VERSION_NUM >= 170000
#define EMOGI_ALLOW_IN_PARALLEL GUC_ALLOW_IN_PARALLEL
#else
#define EMOGI_ALLOW_IN_PARALLEL 0
#endif

/* 15: renamed. Reserve emogi's prefix, so that a misspelt emogi.* setting is reported. */
static inline void
emogi_compat_reserve_prefix(const char *prefix)
{
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved(prefix);
#else
	EmitWarningsOnPlaceholders(prefix);
#endif
}

/* 19: signal handlers have the type of pqsignal's, of which SIG_IGN is none. */
#if PG_VERSION_NUM < 190000
#define PG_SIG_IGN	SIG_IGN
#endif

/* 19: signal handlers get the sender. Ask the process to exit, from a handler of `signo`. */
static inline void
emogi_compat_request_shutdown(int signo)
{
#if PG_VERSION_NUM >= 190000
	SignalHandlerForShutdownRequest(signo, NULL);
#else
	SignalHandlerForShutdownRequest(signo);
#endif
}

/* 16: the `extra` of a check hook is allocated by guc_malloc. */
static inline void *
emogi_compat_guc_malloc(size_t bytes)
{
#if PG_VERSION_NUM >= 160000
	return guc_malloc(LOG, bytes);
#else
	return malloc(bytes);
#endif
}

/* 17: extensions can name their wait events; before, all are shown as "Extension". */
static inline uint32
emogi_compat_wait_event(const char *name)
{
#if PG_VERSION_NUM >= 170000
	return WaitEventExtensionNew(name);
#else
	(void) name;
	return PG_WAIT_EXTENSION;
#endif
}

/*
 * 17: a wait event set belongs to a resource owner. Create one with room for `count` events; the
 * caller frees it.
 */
static inline WaitEventSet *
emogi_compat_make_events(int count)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, count);
#else
	return CreateWaitEventSet(CurrentMemoryContext, count);
#endif
}

/* 16: settings are in a hash table. Find a setting of the server. */
static inline struct config_generic *
emogi_compat_find_setting(const char *name)
{
#if PG_VERSION_NUM >= 160000
	return find_option(name, false, false, ERROR);
#else
	struct config_generic **settings = get_guc_variables();
	int			i = 0;

	while (strcmp(settings[i]->name, name) != 0)
		i++;
	return settings[i];
#endif
}

/*
 * 19: settings of all types have one struct. Get the setting timezone_abbreviations, which has no
 * exported variable. GetConfigOption searches all settings by name.
 */
static inline const char *
emogi_compat_zone_abbreviations(void)
{
	static char **variable = NULL;

	if (variable == NULL)
	{
		struct config_generic *setting = emogi_compat_find_setting("timezone_abbreviations");

#if PG_VERSION_NUM >= 190000
		variable = setting->_string.variable;
#else
		variable = ((struct config_string *) setting)->variable;
#endif
	}
	return *variable;
}

/*
 * 19: settings of all types have one struct. Have a function called when a value is assigned to a
 * setting of the server, which is on or off, in this process and those that it forks; return the
 * function that was called before, or NULL.
 */
static inline GucBoolAssignHook
emogi_compat_watch_setting(const char *name, GucBoolAssignHook hook)
{
	struct config_generic *setting = emogi_compat_find_setting(name);
#if PG_VERSION_NUM >= 190000
	GucBoolAssignHook *place = &setting->_bool.assign_hook;
#else
	GucBoolAssignHook *place = &((struct config_bool *) setting)->assign_hook;
#endif
	GucBoolAssignHook previous = *place;

	*place = hook;
	return previous;
}

#endif							/* EMOGI_COMPAT_SERVER_H */
