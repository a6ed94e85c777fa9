# The official image of PostgreSQL with emogi, which is preloaded and created in the first database.
#
#   docker build -t emogi .
#   docker build -t emogi --build-arg PG_MAJOR=16 .
#   docker build -t emogi-cuda --build-arg TOOLCHAIN=nvidia/cuda:13.0.0-devel-ubuntu24.04 .
#   docker build -t emogi-extension --build-arg PG_MAJOR=18 --target extension .
#                                   the files of the extension and nothing else: an image volume of CloudNativePG
#
#   docker run -d --name emogi -e POSTGRES_PASSWORD=secret emogi                  # the second: --gpus all
#   docker exec -it emogi psql -U postgres
#
# emogi takes nothing of /dev/shm; its memory, emogi.max_memory, counts for the container's limit as it is used.

ARG PG_MAJOR=15
# An image that has nvcc in /usr/local/cuda, for the module for NVIDIA GPUs. This one has none.
ARG TOOLCHAIN=postgres:${PG_MAJOR}-bookworm

FROM ${TOOLCHAIN} AS toolchain
RUN mkdir -p /usr/local/cuda && cp -rL /usr/local/cuda /toolchain

FROM postgres:${PG_MAJOR}-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential libicu-dev postgresql-server-dev-$PG_MAJOR
COPY --from=toolchain /toolchain /usr/local/cuda
COPY . /emogi
RUN make -C /emogi -s -j"$(nproc)" with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config \
    && make -C /emogi -s install with_llvm=no PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config DESTDIR=/installed

# What an image volume has: /lib for dynamic_library_path, /share for extension_control_path, both from PostgreSQL 18 on.
FROM scratch AS extension
ARG PG_MAJOR
COPY --from=build /emogi/LICENSE /licenses/emogi/LICENSE
COPY --from=build /installed/usr/lib/postgresql/${PG_MAJOR}/lib /lib
COPY --from=build /installed/usr/share/postgresql/${PG_MAJOR}/extension /share/extension
USER 65532:65532

FROM postgres:${PG_MAJOR}-bookworm
COPY --from=build /installed /
# for the NVIDIA container runtime; without it they mean nothing
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# clusters that are made from here on; one that is there already needs the line in its postgresql.conf
RUN echo "shared_preload_libraries = 'emogi'" >>/usr/share/postgresql/$PG_MAJOR/postgresql.conf.sample \
    && mkdir -p /docker-entrypoint-initdb.d \
    && echo "CREATE EXTENSION emogi;" >/docker-entrypoint-initdb.d/10-emogi.sql
