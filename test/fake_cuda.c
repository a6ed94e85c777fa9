/*
 * fake_cuda.c: replacement for emogi_cuda.so with fake GPUs, each of which runs on the CPU with one
 * thread. Tests can check on any machine which GPU executes which run, and that a GPU forgets a
 * graph before its memory is freed.
 *
 * The server's environment configures the GPUs. EMOGI_FAKE_GPUS: their number; EMOGI_FAKE_BROKEN:
 * the number of a GPU that cannot be opened; EMOGI_FAKE_MS: minimum time of a run. A run on the GPU
 * whose number is in the file EMOGI_FAKE_LOSES fails and loses the GPU. GPUs help each other in
 * host placement. A GPU used by two threads at once is lost, too.
 */
#include "cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_BYTES 1048576		/* reported size of a cached graph */
#define MOST_KNOWN 256
#define MOST_HELPERS 16

typedef struct Fake
{
	EmogiEngineState *cpu;
	int32_t		number;
	int			nusers;			/* atomic */
	int			nhelpers;
	struct Fake *helpers[MOST_HELPERS];
	int			nknown;
	uint64_t	known[MOST_KNOWN];	/* ids of graphs */
} Fake;

static long
read_environment(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? strtol(value, NULL, 10) : otherwise;
}

static EmogiStatus
fail(EmogiError *error, const char *message)
{
	memset(error, 0, sizeof *error);
	snprintf(error->message, sizeof error->message, "%s", message);
	return EMOGI_DEVICE_ERROR;
}

static EmogiStatus
open_fake(const EmogiEngineOptions *options, EmogiEngineState **state, EmogiError *error)
{
	EmogiEngineOptions own = *options;
	Fake	   *fake;

	*state = NULL;
	if (options->device >= read_environment("EMOGI_FAKE_GPUS", 0))
		return fail(error, "there is no GPU of this number");
	if (options->device == read_environment("EMOGI_FAKE_BROKEN", -1))
		return fail(error, "the GPU is broken");
	fake = calloc(1, sizeof *fake);
	if (fake == NULL)
		return EMOGI_NO_MEMORY;
	own.cpu_threads = 1;
	fake->number = options->device;
	*state = (EmogiEngineState *) fake;
	return emogi_cpu_engine()->open(&own, &fake->cpu, error);
}

static void
close_fake(EmogiEngineState *state)
{
	Fake	   *fake = (Fake *) state;

	emogi_cpu_engine()->close(fake->cpu);
	free(fake);
}

static int32_t
count_fakes(void)
{
	return (int32_t) read_environment("EMOGI_FAKE_GPUS", 0);
}

static EmogiStatus
describe_fake(const EmogiEngineState *state, EmogiDevice *out, EmogiError *error)
{
	const Fake *fake = (const Fake *) state;

	(void) error;
	memset(out, 0, sizeof *out);
	out->number = fake->number;
	snprintf(out->name, sizeof out->name, "fake GPU %d", fake->number);
	out->memory_bytes = UINT64_C(1) << 30;
	out->used_bytes = (uint64_t) fake->nknown * KNOWN_BYTES;
	out->units = 1;
	return EMOGI_OK;
}

/* Return true if a run should fail with its GPU. */
static bool
is_lost(const Fake *fake)
{
	const char *name = getenv("EMOGI_FAKE_LOSES");
	FILE	   *file = name != NULL ? fopen(name, "r") : NULL;
	int			number = -1;

	if (file == NULL)
		return false;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number == fake->number;
}

/* Record a graph that has an id. */
static void
know(Fake *fake, uint64_t id)
{
	for (int i = 0; i < fake->nknown; i++)
		if (fake->known[i] == id)
			return;
	if (id != 0 && fake->nknown < MOST_KNOWN)
		fake->known[fake->nknown++] = id;
}

static bool
wants_help(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query)
{
	(void) state;
	(void) graph;
	return query->placement == EMOGI_PLACEMENT_HOST;
}

static void
have_help(EmogiEngineState *state, EmogiEngineState *const *helpers, int nhelpers)
{
	Fake	   *fake = (Fake *) state;

	fake->nhelpers = nhelpers;
	for (int i = 0; i < nhelpers; i++)
		fake->helpers[i] = (Fake *) helpers[i];
}

/*
 * Begin or end the use of a GPU and its helpers; returns false if another thread uses one of them.
 */
static bool
use(Fake *fake, int change)
{
	bool		is_alone = __atomic_add_fetch(&fake->nusers, change, __ATOMIC_SEQ_CST) <= 1;

	for (int i = 0; i < fake->nhelpers; i++)
		is_alone &= __atomic_add_fetch(&fake->helpers[i]->nusers, change, __ATOMIC_SEQ_CST) <= 1;
	return is_alone;
}

static EmogiStatus
run_fake(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Fake	   *fake = (Fake *) state;
	EmogiStatus status;

	if (is_lost(fake))
		return fail(error, "the GPU has fallen off the bus");
	if (!use(fake, 1))
		return fail(error, "the GPU is used twice");
	know(fake, graph->id);
	for (int i = 0; i < fake->nhelpers; i++)
		know(fake->helpers[i], graph->id);
	usleep((useconds_t) (1000 * read_environment("EMOGI_FAKE_MS", 0)));
	status = emogi_cpu_engine()->run(fake->cpu, graph, query, result, control, error);
	result->placement = query->placement == EMOGI_PLACEMENT_HOST ? EMOGI_PLACEMENT_HOST : EMOGI_PLACEMENT_DEVICE;
	result->nlinks = 1 + fake->nhelpers;
	result->left_out[0] = '\0';
	result->helper_lost = false;
	for (int i = 0; i < fake->nhelpers; i++)
		if (is_lost(fake->helpers[i]))
		{
			snprintf(result->left_out, sizeof result->left_out, "GPU %d: the GPU has fallen off the bus", fake->helpers[i]->number);
			result->helper_lost = true;
			result->nlinks--;
		}
	if (!use(fake, -1))
		return fail(error, "the GPU is used twice");
	fake->nhelpers = 0;
	return status;
}

static uint64_t
forget_fake(EmogiEngineState *state, uint64_t graph_id)
{
	Fake	   *fake = (Fake *) state;

	if (fake->nusers > 0)
		abort();				/* only the caller may use it */
	for (int i = 0; i < fake->nknown; i++)
		if (fake->known[i] == graph_id)
			fake->known[i--] = fake->known[--fake->nknown];
	return (uint64_t) fake->nknown * KNOWN_BYTES;
}

static EmogiStatus
derive_fake(EmogiEngineState *state, const EmogiGraph *old, const EmogiGraph *graph, const EmogiDerivation *derivation, EmogiControl *control, EmogiError *error)
{
	(void) old;
	(void) derivation;
	(void) control;
	(void) error;
	know((Fake *) state, graph->id);
	return EMOGI_OK;
}

const EmogiEngine *
emogi_cuda_engine(void)
{
	static const EmogiEngine engine = {
		.abi = EMOGI_ENGINE_ABI,
		.name = "cuda",
		.open = open_fake,
		.close = close_fake,
		.ndevices = count_fakes,
		.describe = describe_fake,
		.run = run_fake,
		.wants_help = wants_help,
		.help = have_help,
		.forget = forget_fake,
		.derive = derive_fake
	};

	return &engine;
}
