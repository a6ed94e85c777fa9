# Builds emogi.so (always), and emogi_cuda.so and emogi_papers.so (when nvcc is there), with PGXS.
#
#   make && make install        needs pg_config on PATH, or PG_CONFIG=/path/to/pg_config
#   make NVCC=                  without CUDA, whatever is installed
#   make check                  all tests, in copies: nothing is installed; KINDS='unit regress' for some of them
#   make installcheck           against a running server with shared_preload_libraries = 'emogi'
#   make unit bench             engine tests and benchmark, no server needed (build/)
#   make dist                   the archive for PGXN, of what is committed

# All paths below begin here.
ifeq ($(wildcard emogi.control),)
$(error there is no emogi.control in $(CURDIR): emogi is built in the folder of its Makefile, make -C FOLDER)
endif

EXTENSION  = emogi
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" emogi.control)
MODULE_big = emogi

# verify is for tests and benchmarks, cuda a module of its own
ENGINE_OBJS = $(patsubst %.c,%.o,$(wildcard $(addprefix engine/,$(addsuffix /*.c,contract threads graph dictionary cpu))))
VERIFY_OBJS = $(patsubst %.c,%.o,$(wildcard engine/verify/*.c))
OBJS        = $(patsubst %.c,%.o,$(wildcard src/*.c src/*/*.c)) $(ENGINE_OBJS)
DATA        = $(wildcard sql/emogi--*--*.sql)
DATA_built  = emogi--$(EXTVERSION).sql

PG_CFLAGS   = -MMD -MP -Werror=switch
PG_CPPFLAGS = -I$(srcdir)/src -I$(srcdir)/engine -I$(libpq_srcdir) -DEMOGI_VERSION='"$(EXTVERSION)"'
SHLIB_LINK  = $(libpq) -ldl -lpthread -Wl,-Bsymbolic-functions

REGRESS        = $(sort $(basename $(notdir $(wildcard test/sql/*.sql))))
ISOLATION      = $(sort $(basename $(notdir $(wildcard test/specs/*.spec))))
# pg_regress of 16 and later has an option for the outputs that are expected; others look beside the inputs
EXPECTED_OPTS  = $(if $(filter 14 15,$(MAJORVERSION)),,--expecteddir=test)
REGRESS_OPTS   = --inputdir=test $(EXPECTED_OPTS)
ISOLATION_OPTS = --inputdir=test $(EXPECTED_OPTS)
TAP_TESTS      = 1
PROVE_TESTS    = test/t/*.pl

NVCC      ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
NVCCFLAGS ?= -O3 -std=c++17 -lineinfo -Xfatbin=-compress-all \
	-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
PAPERS_OBJS = $(patsubst %.cu,build/%.o,$(wildcard cuda/papers/*.cu))
PAPERS_C_OBJS = $(patsubst %.c,build/%.o,$(wildcard cuda/papers/*.c))
CUDA_OBJS  = $(filter-out $(PAPERS_OBJS),$(patsubst %.cu,build/%.o,$(wildcard cuda/*/*.cu)))
CUDA_C_OBJS = $(patsubst %.c,build/%.o,$(wildcard engine/contract/*.c) engine/threads/pool.c)
CUDA_MODULES = emogi_cuda.so emogi_papers.so

EXTRA_CLEAN = $(OBJS:.o=.d) $(VERIFY_OBJS) $(VERIFY_OBJS:.o=.d) $(CUDA_MODULES) build results output_iso tmp_check tmp_check_iso regression.diffs regression.out emogi-*.zip

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifneq ($(MAKECMDGOALS),check)
include $(PGXS)
else
# not PGXS's rule of that name, which says that there is none
check:
	PG_BINDIR='$(shell $(PG_CONFIG) --bindir)' NVCC='$(NVCC)' test/run $(KINDS)
endif

# Each object depends on the headers that it includes, bitcode on the object. PGXS makes all files secondary, so that missing ones
# would go unnoticed.
ALL_OBJS = $(OBJS) $(VERIFY_OBJS) $(CUDA_OBJS) $(CUDA_C_OBJS) $(PAPERS_OBJS) $(PAPERS_C_OBJS)
-include $(ALL_OBJS:.o=.d)
$(OBJS:.o=.bc): %.bc: %.o
$(filter-out $(wildcard $(ALL_OBJS)),$(ALL_OBJS)): missing
.PHONY: missing
VECTOR_OBJS = $(patsubst %,src/%.o,scan_node/grouping scan_node/grouping_fold scan_node/ranges remote/decode remote/decode_groups remote/decode_rows remote/decode_values remote/pack)
# tests run make where there are no sources
ifneq ($(and $(wildcard src/scan_node),$(filter-out $(OBJS),$(VECTOR_OBJS))),)
$(error VECTOR_OBJS names files that are not there: $(filter-out $(OBJS),$(VECTOR_OBJS)))
endif
$(ENGINE_OBJS) $(VERIFY_OBJS) $(VECTOR_OBJS): CFLAGS += -O3
# communities and ranks are the same bits on all engines: a product and a sum are rounded each by itself
$(ENGINE_OBJS): CFLAGS += -ffp-contract=off

# The version is in these.
src/base/sql_version.o src/function/version.o src/worker/worker.o: emogi.control

# A library is made again when a file goes, too.
ifneq ($(ALL_OBJS),$(shell cat build/objects 2>/dev/null))
$(shell mkdir -p build)$(file >build/objects,$(ALL_OBJS))
endif
$(shlib) $(CUDA_MODULES): build/objects

# Objects of another PostgreSQL are made again. It is known by its version and how it was configured, and not by its path, so that
# a copy of an installation takes what was built for the original.
SERVER := $(strip $(shell $(PG_CONFIG) --version) $(shell $(PG_CONFIG) --configure))
ifneq ($(SERVER),$(strip $(shell cat build/server 2>/dev/null)))
$(shell mkdir -p build)$(file >build/server,$(SERVER))
endif
$(OBJS) $(VERIFY_OBJS): build/server

# after `clean` in the same call
build/objects:
	@$(shell mkdir -p build)$(file >$@,$(ALL_OBJS)):
build/server:
	@$(shell mkdir -p build)$(file >$@,$(SERVER)):

emogi--$(EXTVERSION).sql: sql/emogi.sql sql/functions.dat tools/functions emogi.control
	perl tools/functions $(EXTVERSION) >$@ || { rm -f $@; exit 1; }

ifneq ($(NVCC),)
all: $(CUDA_MODULES)
install: install-cuda
installdirs: installdirs-cuda
uninstall: uninstall-cuda
endif

$(CUDA_OBJS) $(PAPERS_OBJS): build/%.o: %.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -Xcompiler -fPIC,-Wswitch,-Werror=switch -I. -Iengine -MMD -MP -c $< -o $@

# The pool of the CPU engine's threads and the contract, once more: each module has its own.
$(CUDA_C_OBJS) $(PAPERS_C_OBJS): build/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -O3 -Wall -Wextra -Werror=switch -Wno-unused-parameter -std=gnu11 -fPIC -fvisibility=hidden -pthread -I. -Iengine -MMD -MP -c $< -o $@

# The runtimes of CUDA and C++ are linked statically: at run time only the driver is needed, and its absence is a clean answer.
CUDA_LINK = $(NVCC) $(NVCCFLAGS) -shared -cudart static -Xcompiler -static-libstdc++,-static-libgcc -Xlinker --exclude-libs,ALL
emogi_cuda.so: $(CUDA_OBJS) $(CUDA_C_OBJS)
	$(CUDA_LINK) -Xlinker -soname=$@ -o $@ $(CUDA_OBJS) $(CUDA_C_OBJS) -lpthread -ldl

# emogi_cuda.so loads it, and has the functions that it calls. A kernel belongs to the CUDA runtime of the module that has it, so
# run.o, which sizes grids for kernels, is linked into both.
emogi_papers.so: $(PAPERS_OBJS) build/cuda/core/run.o $(PAPERS_C_OBJS) $(CUDA_C_OBJS) cuda/papers/exports.map emogi_cuda.so
	$(CUDA_LINK) -Xlinker -rpath='$$ORIGIN' -Xlinker --no-undefined -Xlinker --version-script=cuda/papers/exports.map -o $@ $(PAPERS_OBJS) build/cuda/core/run.o $(PAPERS_C_OBJS) $(CUDA_C_OBJS) -L. -l:emogi_cuda.so -lpthread

.PHONY: install-cuda installdirs-cuda uninstall-cuda unit bench
installdirs-cuda:
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)'
install-cuda: $(CUDA_MODULES) installdirs-cuda
	for module in $(CUDA_MODULES); do $(INSTALL_SHLIB) $$module '$(DESTDIR)$(pkglibdir)/'$$module || exit; done
uninstall-cuda:
	rm -f $(CUDA_MODULES:%='$(DESTDIR)$(pkglibdir)/%')

# Indent what has changed since the last commit; INDENT_SINCE names another.
.PHONY: indent
indent:
	tools/indent $(INDENT_SINCE)

# What a release publishes: the committed files and no others.
.PHONY: dist
dist: emogi-$(EXTVERSION).zip
.PHONY: emogi-$(EXTVERSION).zip
emogi-$(EXTVERSION).zip:
	@[ -e .git ] || { echo 'make dist: the archive is made of what is committed, and here is no clone of git' >&2; exit 1; }
	packaging/version
	git archive --format=zip --prefix=emogi-$(EXTVERSION)/ --output=$@ HEAD || { rm -f $@; exit 1; }

# GPUs for tests where there are none, see test/t/059_devices.pl. The processor's engine is emogi.so's.
build/fake_cuda.so: test/fake_cuda.c $(wildcard engine/contract/*.h engine/cpu/cpu.h)
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -fPIC -shared -o $@ $<

# The settings of Citus where it is not, see test/t/067_citus.pl.
build/fake_citus.so: test/fake_citus.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -fPIC -shared -o $@ $<

# Programs without a server: test/unit/*.c is one test program each, bench/*.c together are emogi_bench, generate_gpu.cu the
# module with which it makes graphs on a GPU, merge_bench.c, write_graph.c and packed.cu programs of their own.
UNIT_PROGRAMS = $(patsubst test/unit/%.c,build/unit/%,$(wildcard test/unit/test_*.c))
TOOL_CFLAGS   = -O2 -g -Wall -Wextra -Werror=switch -Wno-unused-parameter -std=gnu11 -I. -Iengine -Ibench -Itest/unit -pthread
BENCH_LIB     = $(filter-out bench/emogi_bench.c bench/merge_bench.c bench/filter_bench.c bench/write_graph.c,$(wildcard bench/*.c))

unit: $(UNIT_PROGRAMS)
bench: build/emogi_bench build/merge_bench build/filter_bench build/write_graph
ifneq ($(NVCC),)
bench: build/emogi_bench_cuda.so build/packed
endif

PROGRAM_OBJS  = $(patsubst %.c,build/%.o,$(BENCH_LIB)) $(VERIFY_OBJS) $(ENGINE_OBJS)

-include $(wildcard build/bench/*.d build/unit/*.d build/*.d)
build/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -MMD -MP -c $< -o $@
build/unit/%: test/unit/%.c $(PROGRAM_OBJS)
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(PROGRAM_OBJS) -ldl -lm
build/emogi_bench build/merge_bench build/filter_bench build/write_graph: build/%: build/bench/%.o $(PROGRAM_OBJS)
	$(CC) $(TOOL_CFLAGS) -o $@ $^ -ldl -lm
build/emogi_bench_cuda.so: bench/generate_gpu.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -Xcompiler -fPIC,-fvisibility=hidden -Iengine -Ibench -MMD -MP -MF $@.d -MT $@ -shared -cudart static \
		-Xcompiler -static-libstdc++,-static-libgcc -o $@ $<
build/packed: bench/packed.cu $(PROGRAM_OBJS)
	$(NVCC) $(NVCCFLAGS) -Iengine -Ibench -cudart static -o $@ $^ -ldl -lm -lpthread
