-- The catalogs of Citus, in the form of version 11 and later, for a test without Citus.
CREATE TABLE citus.pg_dist_partition (
  logicalrelid regclass NOT NULL, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL DEFAULT 0, repmodel "char" NOT NULL DEFAULT 's', autoconverted bool DEFAULT false);
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON citus.pg_dist_partition (logicalrelid);

CREATE TABLE citus.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL, shardstorage "char" NOT NULL, shardalias text, shardminvalue text, shardmaxvalue text);
ALTER TABLE citus.pg_dist_shard DROP shardalias;
CREATE UNIQUE INDEX pg_dist_shard_shardid_index ON citus.pg_dist_shard (shardid);
CREATE INDEX pg_dist_shard_logical_relid_index ON citus.pg_dist_shard (logicalrelid);

CREATE SEQUENCE citus.pg_dist_placement_placementid_seq;
CREATE TABLE citus.pg_dist_placement (
  placementid bigint NOT NULL DEFAULT nextval('citus.pg_dist_placement_placementid_seq'), shardid bigint NOT NULL, shardstate int NOT NULL, shardlength bigint NOT NULL, groupid int NOT NULL);
CREATE INDEX pg_dist_placement_shardid_index ON citus.pg_dist_placement (shardid);

CREATE TYPE citus.noderole AS ENUM ('primary', 'secondary', 'unavailable');
CREATE TABLE citus.pg_dist_node (nodeid int PRIMARY KEY, groupid int NOT NULL, nodename text NOT NULL, nodeport int NOT NULL DEFAULT 5432, noderack text NOT NULL DEFAULT 'default');
ALTER TABLE citus.pg_dist_node ADD hasmetadata bool NOT NULL DEFAULT false, ADD isactive bool NOT NULL DEFAULT true, ADD noderole citus.noderole NOT NULL DEFAULT 'primary',
  ADD nodecluster name NOT NULL DEFAULT 'default', ADD metadatasynced bool NOT NULL DEFAULT false, ADD shouldhaveshards bool NOT NULL DEFAULT true;

CREATE TABLE citus.pg_dist_local_group (groupid int PRIMARY KEY);
INSERT INTO citus.pg_dist_local_group VALUES (0);

CREATE TABLE citus.pg_dist_authinfo (nodeid int NOT NULL, rolename name NOT NULL, authinfo text NOT NULL);
CREATE UNIQUE INDEX pg_dist_authinfo_identification_index ON citus.pg_dist_authinfo (rolename, nodeid DESC);
CREATE TABLE citus.pg_dist_poolinfo (nodeid int PRIMARY KEY, poolinfo text NOT NULL);

CREATE FUNCTION citus.citus_truncate_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;

ALTER TYPE citus.noderole SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_partition SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_shard SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_placement SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_node SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_local_group SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_authinfo SET SCHEMA pg_catalog;
ALTER TABLE citus.pg_dist_poolinfo SET SCHEMA pg_catalog;
GRANT SELECT ON pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement, pg_catalog.pg_dist_node, pg_catalog.pg_dist_poolinfo, pg_catalog.pg_dist_local_group TO PUBLIC;
REVOKE ALL ON pg_catalog.pg_dist_authinfo FROM PUBLIC;
