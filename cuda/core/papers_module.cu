/*
 * papers_module.cu: the loader of emogi_papers.so, from the directory of emogi_cuda.so, once per
 * process.
 */
#include "cuda/core/papers_module.cuh"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The outcome of the first attempt to load it: written once, under `once`. */
static struct
{
	pthread_once_t once;
	const EmogiPapersModule *module;	/* NULL = it cannot be used */
	char		reason[256];	/* why it cannot be used */
} papers = {PTHREAD_ONCE_INIT};

bool
emogi_papers_are_wanted(const EmogiQuery *query)
{
	return query->papers.mapping != EMOGI_MAPPING_AUTO || query->papers.id_bytes == 8 ||
		query->placement == EMOGI_PLACEMENT_MANAGED || query->placement == EMOGI_PLACEMENT_STAGED;
}

/*
 * Get the path of emogi_papers.so, beside the file that contains this function. Return false if the
 * path is unknown or too long.
 */
static bool
find_module(char *path, size_t size)
{
	Dl_info		self;
	const char *slash;

	if (dladdr((void *) find_module, &self) == 0 || self.dli_fname == NULL)
		return false;
	slash = strrchr(self.dli_fname, '/');
	return snprintf(path, size, "%.*semogi_papers.so", slash != NULL ?
					(int) (slash + 1 - self.dli_fname) : 0, self.dli_fname) < (int) size;
}

static void
load_module(void)
{
	char		path[4096];
	void	   *library = find_module(path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) :
		NULL;
	const EmogiPapersModule *module =
		library != NULL ? (const EmogiPapersModule *) dlsym(library, EMOGI_PAPERS_SYMBOL) : NULL;

	if (module == NULL)
	{
		const char *why = dlerror();

		snprintf(papers.reason, sizeof papers.reason, "%s",
				 why != NULL ? why : "its path is unknown");
	}
	else if (module->abi != EMOGI_ENGINE_ABI)
		snprintf(papers.reason, sizeof papers.reason,
				 "emogi_papers.so and emogi_cuda.so are from different builds");
	else
		papers.module = module;
}

EmogiStatus
emogi_papers_choose(int device, const EmogiQuery *query, RunAlgorithm *algorithm,
					EmogiError *error)
{
	(void) pthread_once(&papers.once, load_module);
	if (papers.module == NULL)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "could not load emogi_papers.so, which has the papers' systems",
								 "%s", papers.reason);
	return papers.module->choose(device, query, algorithm, error);
}
