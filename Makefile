# Builds emogi.so (always) and emogi_cuda.so (when nvcc is there) with PGXS.
#
#   make && make install        needs pg_config on PATH, or PG_CONFIG=/path/to/pg_config
#   make NVCC=                  without CUDA, whatever is installed
#   make installcheck           against a running server with shared_preload_libraries = 'emogi'
#   make unit bench             engine tests and benchmark, no server needed (build/)

EXTENSION  = emogi
EXTVERSION = 0.1.0
MODULE_big = emogi

ENGINE_OBJS = $(patsubst %.c,%.o,$(wildcard src/engine/*.c))
OBJS        = $(patsubst %.c,%.o,$(wildcard src/*.c)) $(ENGINE_OBJS)
DATA        = $(wildcard sql/emogi--*--*.sql)
DATA_built  = emogi--$(EXTVERSION).sql

PG_CPPFLAGS = -I$(srcdir)/src -I$(srcdir)/src/engine -DEMOGI_VERSION='"$(EXTVERSION)"'
SHLIB_LINK  = -ldl -lpthread

REGRESS        = $(sort $(basename $(notdir $(wildcard test/sql/*.sql))))
ISOLATION      = $(sort $(basename $(notdir $(wildcard test/specs/*.spec))))
REGRESS_OPTS   = --inputdir=test
ISOLATION_OPTS = --inputdir=test
TAP_TESTS      = 1
PROVE_TESTS    = test/t/*.pl

NVCC      ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
NVCCFLAGS ?= -O3 -std=c++17 -lineinfo -Xfatbin=-compress-all \
	-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
CUDA_OBJS  = $(patsubst cuda/%.cu,build/cuda/%.o,$(wildcard cuda/*.cu cuda/papers/*.cu))
CUDA_C_OBJS = $(patsubst %.c,build/%.o,$(wildcard cuda/papers/*.c) src/engine/pool.c)

EXTRA_CLEAN = emogi_cuda.so build results output_iso tmp_check tmp_check_iso regression.diffs regression.out

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ENGINE_HEADERS = $(wildcard src/engine/*.h)
$(OBJS): $(wildcard src/*.h) $(ENGINE_HEADERS)
$(ENGINE_OBJS): CFLAGS += -O3

emogi--$(EXTVERSION).sql: sql/emogi.sql
	cp $< $@

ifneq ($(NVCC),)
all: emogi_cuda.so
install: install-cuda
installdirs: installdirs-cuda
uninstall: uninstall-cuda
endif

$(CUDA_OBJS): build/cuda/%.o: cuda/%.cu $(wildcard cuda/*.cuh cuda/papers/*.cuh cuda/papers/*.h) $(ENGINE_HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -Xcompiler -fPIC,-fvisibility=hidden -Isrc/engine -Icuda -c $< -o $@

# Threads that gather: the CPU engine's pool, once more, seen by this module alone.
$(CUDA_C_OBJS): build/%.o: %.c $(wildcard cuda/papers/*.h) $(ENGINE_HEADERS)
	@mkdir -p $(@D)
	$(CC) -O3 -Wall -Wextra -Wno-unused-parameter -std=gnu11 -fPIC -fvisibility=hidden -pthread -Isrc/engine -c $< -o $@

# The runtimes of CUDA and C++ are linked statically: at run time only the driver is needed, and its absence is a clean answer.
emogi_cuda.so: $(CUDA_OBJS) $(CUDA_C_OBJS)
	$(NVCC) $(NVCCFLAGS) -shared -cudart static -Xcompiler -static-libstdc++,-static-libgcc -o $@ $^ -lpthread

.PHONY: install-cuda installdirs-cuda uninstall-cuda unit bench
installdirs-cuda:
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)'
install-cuda: emogi_cuda.so installdirs-cuda
	$(INSTALL_SHLIB) emogi_cuda.so '$(DESTDIR)$(pkglibdir)/emogi_cuda.so'
uninstall-cuda:
	rm -f '$(DESTDIR)$(pkglibdir)/emogi_cuda.so'

# Programs without a server: test/unit/*.c is one test program each, bench/*.c together are emogi_bench, generate_gpu.cu the
# module with which it makes graphs on a GPU, packed.cu a program of its own.
UNIT_PROGRAMS = $(patsubst test/unit/%.c,build/unit/%,$(wildcard test/unit/test_*.c))
TOOL_CFLAGS   = -O2 -g -Wall -Wextra -Wno-unused-parameter -std=gnu11 -Isrc/engine -Ibench -Itest/unit -pthread
BENCH_LIB     = $(filter-out bench/emogi_bench.c,$(wildcard bench/*.c))

unit: $(UNIT_PROGRAMS)
bench: build/emogi_bench
ifneq ($(NVCC),)
bench: build/emogi_bench_cuda.so build/packed
endif

build/unit/%: test/unit/%.c $(wildcard test/unit/*.h) $(wildcard bench/*.h) $(BENCH_LIB) $(ENGINE_OBJS)
	@mkdir -p build/unit
	$(CC) $(TOOL_CFLAGS) -o $@ $< $(BENCH_LIB) $(ENGINE_OBJS) -ldl -lm
build/emogi_bench: bench/emogi_bench.c $(wildcard bench/*.h) $(BENCH_LIB) $(ENGINE_OBJS)
	@mkdir -p build
	$(CC) $(TOOL_CFLAGS) -o $@ $< $(BENCH_LIB) $(ENGINE_OBJS) -ldl -lm
build/emogi_bench_cuda.so: bench/generate_gpu.cu $(wildcard bench/*.h) $(ENGINE_HEADERS)
	@mkdir -p build
	$(NVCC) $(NVCCFLAGS) -Xcompiler -fPIC,-fvisibility=hidden -Isrc/engine -Ibench -shared -cudart static \
		-Xcompiler -static-libstdc++,-static-libgcc -o $@ $<
build/bench/%.o: bench/%.c $(wildcard bench/*.h) $(ENGINE_HEADERS)
	@mkdir -p build/bench
	$(CC) $(TOOL_CFLAGS) -c $< -o $@
build/packed: bench/packed.cu $(patsubst bench/%.c,build/bench/%.o,$(BENCH_LIB)) $(ENGINE_OBJS)
	$(NVCC) $(NVCCFLAGS) -Isrc/engine -Ibench -cudart static -o $@ $^ -ldl -lm -lpthread
