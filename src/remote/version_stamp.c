/*
 * version_stamp.c: emogi_stamp(relation, columns) -> bytea: a stamp of the rows that the caller's
 * snapshot sees of a table, for an emogi on another server that caches a graph of them
 *
 * Equal stamps guarantee equal rows, whatever was committed in between. The stamp is derived from
 * the table's recent writers (cache/recent_writers.c); another start of this server, or another
 * server, has other stamps. NULL: no guarantee is possible, and the rows read must not be cached.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "cache/cache.h"
#include "citus/citus.h"
#include "base/compat.h"
#include "remote/version_stamp.h"

PG_FUNCTION_INFO_V1(emogi_stamp);

/*
 * Do values of a type have the same meaning everywhere and at all times? Values of enums, domains,
 * and names of objects can change their meaning without a change of the table.
 */
static bool
covers_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case CHAROID:
		case NAMEOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case UUIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case INETOID:
		case CIDROID:
		case MACADDROID:
		case MACADDR8OID:
		case BITOID:
		case VARBITOID:
			return true;
		default:
			return false;
	}
}

/*
 * Is a value of a remote type read as the same value of a local type, whatever a session's settings
 * are?
 */
bool
emogi_version_stamp_covers_types(Oid there, Oid here)
{
	const bool	is_integer = here == INT2OID || here == INT4OID || here == INT8OID;
	const bool	is_text = here == TEXTOID || here == VARCHAROID;

	if (is_integer)
		return there == INT2OID || there == INT4OID || there == INT8OID;
	if (is_text)
		return there == TEXTOID || there == VARCHAROID;
	return there == here && covers_type(here);
}

/* May the caller read a table, and so lock it? */
static bool
may_read(Oid relid)
{
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) &&
		emogi_compat_schema_usage(get_rel_namespace(relid)) == ACLCHECK_OK &&
		pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Are all rows of a table in its own heap, visible to the caller, and their writers known? */
static bool
is_plain(Relation rel)
{
	const Oid	relid = RelationGetRelid(rel);

	return (rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_MATVIEW) &&
		rel->rd_tableam == GetHeapamTableAmRoutine() &&
		RelationIsPermanent(rel) && RelationIsPopulated(rel) && !IsCatalogRelation(rel) &&
		!rel->rd_rel->relhassubclass && !emogi_citus_is_table(relid) &&
		may_read(relid) && check_enable_rls(relid, InvalidOid, true) != RLS_ENABLED;
}

/* Do columns with these names exist, are they stored, and are their types covered? */
static bool
are_covered(Relation rel, ArrayType *names)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		const AttrNumber attnum = nulls[i] ? InvalidAttrNumber :
			get_attnum(RelationGetRelid(rel), TextDatumGetCString(elements[i]));
		Form_pg_attribute attribute;

		if (attnum <= 0)
			return false;
		attribute = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
		if (!covers_type(attribute->atttypid) || !emogi_compat_is_stored(attribute))
			return false;
	}
	return count > 0;
}

/*
 * Get the state of the recent writers for the rows of a locked table that the active snapshot sees;
 * return false if it is unknown.
 */
static bool
get_writers(Oid relid, EmogiTableVersion *version)
{
	EmogiTransactionSnapshot snapshot;
	bool		is_stamped;

	if (emogi_shared == NULL || IsolationIsSerializable() ||
		emogi_recent_writers_changed_by_me(relid) ||
		!emogi_transaction_snapshot_take(GetActiveSnapshot(), &snapshot))
		return false;
	is_stamped = emogi_recent_writers_table_version(relid, &snapshot, version);
	pfree(snapshot.running);
	return is_stamped;
}

/* Compute a fingerprint of bytes. */
void
emogi_version_stamp_digest(const void *bytes, size_t length, uint8 *fingerprint)
{
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);

	if (hash == NULL || pg_cryptohash_init(hash) < 0 ||
		pg_cryptohash_update(hash, bytes, length) < 0 ||
		pg_cryptohash_final(hash, fingerprint, EMOGI_FINGERPRINT_BYTES) < 0)
		elog(ERROR, "could not compute a SHA-256 fingerprint");
	pg_cryptohash_free(hash);
}

/*
 * Get the stamp of a table, which stays locked until the end of the transaction if the caller may
 * read it.
 */
Datum
emogi_stamp(PG_FUNCTION_ARGS)
{
	Relation	rel = may_read(PG_GETARG_OID(0)) ?
		try_relation_open(PG_GETARG_OID(0), AccessShareLock) : NULL;
	struct
	{
		Oid			database;
		Oid			relid;
		Oid			relfilenumber;
		Oid			padding;
		EmogiTableVersion version;
	}			what;
	bool		is_stamped;
	bytea	   *stamp;

	if (rel == NULL)
		PG_RETURN_NULL();
	memset(&what, 0, sizeof what);
	what.database = MyDatabaseId;
	what.relid = RelationGetRelid(rel);
	what.relfilenumber = emogi_compat_relfilenumber(rel);
	is_stamped = is_plain(rel) && are_covered(rel, PG_GETARG_ARRAYTYPE_P(1)) &&
		get_writers(what.relid, &what.version);
	relation_close(rel, NoLock);
	if (!is_stamped)
		PG_RETURN_NULL();
	stamp = palloc(VARHDRSZ + EMOGI_FINGERPRINT_BYTES);
	SET_VARSIZE(stamp, VARHDRSZ + EMOGI_FINGERPRINT_BYTES);
	emogi_version_stamp_digest(&what, sizeof what, (uint8 *) VARDATA(stamp));
	PG_RETURN_BYTEA_P(stamp);
}
