/*
 * gpus.c: the GPUs of the engine worker, opened once, and acquired and released by its threads.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "port/atomics.h"

#include "worker/gpus.h"

static const EmogiEngine *engine;
static EmogiEngineState *states[EMOGI_MAX_DEVICES];
static pg_atomic_uint32 free_gpus;

/* Load emogi_cuda.so; false and an error if it is missing or unusable. */
static bool
load_engine(const char *module, EmogiError *error)
{
	EmogiEngineEntry entry;
	void	   *library;

	if (access(module, R_OK) != 0)
	{
		snprintf(error->message, sizeof error->message,
				 "emogi was built without CUDA (no emogi_cuda.so is installed)");
		return false;
	}
	library = dlopen(module, RTLD_NOW | RTLD_LOCAL);
	entry = library != NULL ? (EmogiEngineEntry) dlsym(library, EMOGI_CUDA_ENTRY) : NULL;
	if (entry == NULL)
	{
		snprintf(error->message, sizeof error->message, "emogi_cuda.so could not be loaded");
		snprintf(error->detail, sizeof error->detail, "%s", dlerror());
		return false;
	}
	engine = entry();
	if (engine->abi != EMOGI_ENGINE_ABI)
	{
		snprintf(error->message, sizeof error->message,
				 "emogi_cuda.so is of another build than emogi.so");
		return false;
	}
	return true;
}

/* Fill in the reason why a device cannot be used. */
static void
refuse_device(EmogiDeviceEntry *entry, int number, const char *state, const EmogiError *why)
{
	memset(entry, 0, sizeof *entry);
	entry->device.number = number;
	snprintf(entry->state, sizeof entry->state, "%s", state);
	snprintf(entry->reason, sizeof entry->reason, "%s%s%s", why->message,
			 why->detail[0] ? ": " : "", why->detail);
}

/*
 * Open the engine of a device, and insert it into the list behind the usable devices and before the
 * unusable ones.
 */
static void
open_device(const EmogiEngineOptions *options, int number, EmogiOpenedEngines *opened)
{
	EmogiEngineOptions own = *options;
	EmogiDeviceEntry entry;
	EmogiError	error = {{0}, {0}};
	EmogiEngineState *state = NULL;
	EmogiStatus status;

	own.device = number;
	memset(&entry, 0, sizeof entry);
	status = engine->open(&own, &state, &error);
	if (status == EMOGI_OK)
		status = engine->describe(state, &entry.device, &error);
	if (status != EMOGI_OK)
	{
		if (state != NULL)
			engine->close(state);
		if (opened->why_no_gpu.message[0] == '\0')
			opened->why_no_gpu = error;
		refuse_device(&opened->cuda[opened->nlisted++], number, "failed", &error);
		return;
	}
	snprintf(entry.state, sizeof entry.state, "ready");
	opened->cuda[opened->nlisted++] = opened->cuda[opened->ncuda];
	opened->cuda[opened->ncuda] = entry;
	states[opened->ncuda++] = state;
}

void
emogi_gpus_open(const EmogiEngineOptions *options, const char *module, uint32 wanted,
				EmogiOpenedEngines *opened)
{
	if (load_engine(module, &opened->why_no_gpu))
	{
		const int	there = Min(engine->ndevices(), EMOGI_MAX_DEVICES);

		for (int number = 0; number < EMOGI_MAX_DEVICES; number++)
			if (wanted != 0 ? (wanted & (UINT32_C(1) << number)) != 0 : number < Max(there, 1))
				open_device(options, number, opened);
	}
	if (opened->ncuda == 0)
	{
		refuse_device(&opened->cuda[0], -1, "absent", &opened->why_no_gpu);
		opened->nlisted = 1;
	}
	pg_atomic_init_u32(&free_gpus, (UINT32_C(1) << opened->ncuda) - 1);
}

const EmogiEngine *
emogi_gpus_engine(void)
{
	return engine;
}

EmogiEngineState *
emogi_gpus_state(int gpu)
{
	return states[gpu];
}

void
emogi_gpus_acquire(uint32 gpus)
{
	pg_atomic_fetch_and_u32(&free_gpus, ~gpus);
}

void
emogi_gpus_release(int gpu)
{
	pg_atomic_fetch_or_u32(&free_gpus, UINT32_C(1) << gpu);
}

uint32
emogi_gpus_free(void)
{
	return pg_atomic_read_u32(&free_gpus);
}
