/*
 * load.c: load modules for emogi_bench: the CUDA engine and the GPU graph generator.
 */
#include "load.h"

#include <dlfcn.h>
#include <string.h>

/* Look up a symbol of a module; exits if there is none. */
static void *
find_symbol(const char *path, const char *name)
{
	void	   *module;
	void	   *symbol;

	emogi_cuda_load_eagerly();
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	symbol = module != NULL ? dlsym(module, name) : NULL;
	if (symbol == NULL)
		emogi_bench_die(dlerror(), NULL);
	return symbol;
}

const EmogiEngine *
emogi_bench_engine(const EmogiBenchOptions *options, bool cuda)
{
	void	   *symbol;
	EmogiEngineEntry entry;
	const EmogiEngine *engine;

	if (!cuda)
		return emogi_cpu_engine();
	symbol = find_symbol(options->module, EMOGI_CUDA_ENTRY);
	memcpy(&entry, &symbol, sizeof(entry));
	engine = entry();
	if (engine->abi != EMOGI_ENGINE_ABI)
		emogi_bench_die("the cuda module was built for another version of engine.h", NULL);
	return engine;
}

const EmogiDeviceGenerator *
emogi_bench_device_generator(const EmogiBenchOptions *options)
{
	void	   *symbol = find_symbol(options->generator_module, EMOGI_GENERATOR_ENTRY);
	EmogiDeviceGeneratorEntry entry;
	const EmogiDeviceGenerator *generator;

	memcpy(&entry, &symbol, sizeof(entry));
	generator = entry();
	if (generator->abi != EMOGI_GENERATOR_ABI)
		emogi_bench_die("the generator's module was built for another version of device_generator.h", NULL);
	return generator;
}
