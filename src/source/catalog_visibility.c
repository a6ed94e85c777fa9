/*
 * catalog_visibility.c: does a snapshot see what the catalogs say of a relation: its name, file,
 * kind, columns, rule, policies, and its children?
 *
 * A catalog row whose writer the snapshot sees as ended is the row that the snapshot sees; only if
 * it does not, the catalog is read under the snapshot. What follows from it is snapshot.c's.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_policy.h"
#include "miscadmin.h"
#include "rewrite/rewriteSupport.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "source/catalog_visibility.h"
#include "source/source.h"

/* Does a snapshot see this row, which is the newest? Own rows may be of a later command. */
static bool
sees_row(HeapTuple row, Snapshot snapshot)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(row->t_data);

	if (TransactionIdIsCurrentTransactionId(xmin))
		return HeapTupleHeaderGetCmin(row->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/*
 * Get the first row that a snapshot sees under some keys of a catalog's unique index, copied; NULL
 * when there is none.
 */
static HeapTuple
fetch_row(Oid catalog, Oid index, ScanKey keys, int nkeys, Snapshot snapshot)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, index, true, snapshot, nkeys, keys);
	HeapTuple	row = systable_getnext(scan);

	if (HeapTupleIsValid(row))
		row = heap_copytuple(row);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return row;
}

/* Find a schema by its name; InvalidOid when there was none. */
static Oid
find_schema(const char *name, Snapshot snapshot)
{
	HeapTuple	row = SearchSysCache1(NAMESPACENAME, CStringGetDatum(name));
	Oid			schema = InvalidOid;
	ScanKeyData key;
	NameData	padded;

	if (HeapTupleIsValid(row))
	{
		if (sees_row(row, snapshot))
			schema = ((Form_pg_namespace) GETSTRUCT(row))->oid;
		ReleaseSysCache(row);
	}
	if (OidIsValid(schema))
		return schema;
	namestrcpy(&padded, name);
	ScanKeyInit(&key, Anum_pg_namespace_nspname, BTEqualStrategyNumber, F_NAMEEQ,
				NameGetDatum(&padded));
	row = fetch_row(NamespaceRelationId, NamespaceNameIndexId, &key, 1, snapshot);
	return HeapTupleIsValid(row) ? ((Form_pg_namespace) GETSTRUCT(row))->oid : InvalidOid;
}

/* Find a relation by its name in a schema; InvalidOid when there was none. */
static Oid
find_relation(const char *name, Oid schema, Snapshot snapshot)
{
	HeapTuple	row = SearchSysCache2(RELNAMENSP, CStringGetDatum(name), ObjectIdGetDatum(schema));
	Oid			relid = InvalidOid;
	ScanKeyData keys[2];
	NameData	padded;

	if (HeapTupleIsValid(row))
	{
		if (sees_row(row, snapshot))
			relid = ((Form_pg_class) GETSTRUCT(row))->oid;
		ReleaseSysCache(row);
	}
	if (OidIsValid(relid))
		return relid;
	namestrcpy(&padded, name);
	ScanKeyInit(&keys[0], Anum_pg_class_relname, BTEqualStrategyNumber, F_NAMEEQ,
				NameGetDatum(&padded));
	ScanKeyInit(&keys[1], Anum_pg_class_relnamespace, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(schema));
	row = fetch_row(RelationRelationId, ClassNameNspIndexId, keys, 2, snapshot);
	return HeapTupleIsValid(row) ? ((Form_pg_class) GETSTRUCT(row))->oid : InvalidOid;
}

/* May the user look into a schema? One that is no more keeps nobody out. */
static bool
may_look_into(Oid schema)
{
	return !SearchSysCacheExists1(NAMESPACEOID, ObjectIdGetDatum(schema)) ||
		emogi_compat_schema_usage(schema) == ACLCHECK_OK;
}

/* Find what a name without a schema leads to. */
static Oid
search_path_leads_to(const char *name, Snapshot snapshot)
{
	List	   *path;
	ListCell   *cell;

	if (!SplitIdentifierString(pstrdup(namespace_search_path), ',', &path))
		return InvalidOid;
	foreach(cell, path)
	{
		char	   *schema_name = lfirst(cell);
		Oid			schema;
		Oid			relid;

		if (strcmp(schema_name, "$user") == 0)
			schema_name = GetUserNameFromId(GetUserId(), true);
		schema = schema_name != NULL ? find_schema(schema_name, snapshot) : InvalidOid;
		if (!OidIsValid(schema) || !may_look_into(schema))
			continue;
		relid = find_relation(name, schema, snapshot);
		if (OidIsValid(relid))
			return relid;
	}
	return InvalidOid;
}

/*
 * Does a name, qualified or not, lead to this relation? Nobody else changes pg_catalog, or the own
 * temporary tables.
 */
bool
emogi_catalog_visibility_name(List *name, Oid relid, Snapshot snapshot)
{
	Oid			schema = get_rel_namespace(relid);

	if (schema == PG_CATALOG_NAMESPACE || isTempNamespace(schema))
		return true;
	if (list_length(name) == 1)
		return search_path_leads_to(strVal(linitial(name)), snapshot) == relid;
	schema = find_schema(strVal(list_nth(name, list_length(name) - 2)), snapshot);
	return OidIsValid(schema) && find_relation(strVal(llast(name)), schema, snapshot) == relid;
}

/* Begin to read the row security policies of a relation, under a snapshot or the newest (NULL). */
static SysScanDesc
begin_policies(Relation catalog, Oid relid, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyInit(&key, Anum_pg_policy_polrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	return systable_beginscan(catalog, PolicyPolrelidPolnameIndexId, true, snapshot, 1, &key);
}

/*
 * Does a relation have the same row security policies? Those that are gone count too: rows may have
 * been deleted before.
 */
static bool
has_seen_policies(Oid relid, Snapshot snapshot)
{
	Relation	catalog = table_open(PolicyRelationId, AccessShareLock);
	SysScanDesc scan = begin_policies(catalog, relid, NULL);
	bool		seen = true;
	int			balance = 0;
	HeapTuple	row;

	for (; HeapTupleIsValid(row = systable_getnext(scan)); balance++)
		seen &= sees_row(row, snapshot);
	systable_endscan(scan);
	scan = begin_policies(catalog, relid, snapshot);
	while (HeapTupleIsValid(systable_getnext(scan)))
		balance--;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return seen && balance == 0;
}

/* Are rows of a relation, of which there are two rows of pg_class, hidden from the same roles? */
static bool
hides_the_same(Form_pg_class now, Form_pg_class then)
{
	return now->relrowsecurity == then->relrowsecurity &&
		now->relforcerowsecurity == then->relforcerowsecurity;
}

/*
 * Does a relation have the same file, is it of the same kind, and does row security hide the same
 * rows? *childless = true: it is known to have no children.
 */
bool
emogi_catalog_visibility_relation(Oid relid, Snapshot snapshot, bool *childless)
{
	HeapTuple	newest = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	HeapTuple	row;
	ScanKeyData key;
	bool		seen;

	*childless = false;
	if (!HeapTupleIsValid(newest))
		return false;
	seen = sees_row(newest, snapshot);
	if (seen)
		*childless = !((Form_pg_class) GETSTRUCT(newest))->relhassubclass;
	else
	{
		ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(relid));
		row = fetch_row(RelationRelationId, ClassOidIndexId, &key, 1, snapshot);
		seen = HeapTupleIsValid(row) &&
			((Form_pg_class) GETSTRUCT(row))->relfilenode == ((Form_pg_class) GETSTRUCT(
					newest))->relfilenode &&
			((Form_pg_class) GETSTRUCT(row))->relkind == ((Form_pg_class) GETSTRUCT(
					newest))->relkind &&
			hides_the_same((Form_pg_class) GETSTRUCT(newest), (Form_pg_class) GETSTRUCT(row));
	}
	if (seen && ((Form_pg_class) GETSTRUCT(newest))->relrowsecurity)
		seen = has_seen_policies(relid, snapshot);
	ReleaseSysCache(newest);
	return seen;
}

/*
 * Is a column of the same name and type? The expression of one that is not stored may be another.
 * newest: its row, from the cache and given back to it; invalid = there is none.
 */
bool
emogi_catalog_visibility_column(HeapTuple newest, Snapshot snapshot)
{
	HeapTuple	row;
	ScanKeyData keys[2];
	bool		seen;

	if (!HeapTupleIsValid(newest))
		return false;
	seen = sees_row(newest, snapshot);
	if (!seen)
	{
		Form_pg_attribute now = (Form_pg_attribute) GETSTRUCT(newest);

		ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(now->attrelid));
		ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTEqualStrategyNumber, F_INT2EQ,
					Int16GetDatum(now->attnum));
		row = fetch_row(AttributeRelationId, AttributeRelidNumIndexId, keys, 2, snapshot);
		if (HeapTupleIsValid(row))
		{
			Form_pg_attribute then = (Form_pg_attribute) GETSTRUCT(row);

			seen = namestrcmp(&then->attname, NameStr(now->attname)) == 0 &&
				then->atttypid == now->atttypid &&
				then->attcollation == now->attcollation &&
				then->attisdropped == now->attisdropped &&
				emogi_compat_is_stored(now);
		}
	}
	ReleaseSysCache(newest);
	return seen;
}

/* Are the columns of these names, C strings, the same? */
bool
emogi_catalog_visibility_columns(Oid relid, List *names, Snapshot snapshot)
{
	ListCell   *cell;

	foreach(cell, names)
		if (!emogi_catalog_visibility_column(SearchSysCacheAttName(relid, lfirst(cell)), snapshot))
			return false;
	return true;
}

/* Does a view, if it is one, have the same query? */
bool
emogi_catalog_visibility_rule(Oid relid, Snapshot snapshot)
{
	HeapTuple	newest;
	bool		seen;

	if (get_rel_relkind(relid) != RELKIND_VIEW)
		return true;
	newest = SearchSysCache2(RULERELNAME, ObjectIdGetDatum(relid),
							 CStringGetDatum(ViewSelectRuleName));
	if (!HeapTupleIsValid(newest))
		return false;
	seen = sees_row(newest, snapshot);
	ReleaseSysCache(newest);
	return seen;
}

/* ---- children ---- */

/*
 * Begin to read the rows of pg_inherits that name a parent, under a snapshot or the newest (NULL).
 */
static SysScanDesc
begin_children(Relation catalog, Oid parent, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(parent));
	return systable_beginscan(catalog, InheritsParentIndexId, true, snapshot, 1, &key);
}

/*
 * List the children of a relation but those that are being detached, in the order in which to lock
 * them.
 */
static List *
list_children(Oid parent, Snapshot snapshot)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	SysScanDesc scan = begin_children(catalog, parent, snapshot);
	List	   *children = NIL;
	HeapTuple	row;

	while (HeapTupleIsValid(row = systable_getnext(scan)))
		if (!((Form_pg_inherits) GETSTRUCT(row))->inhdetachpending)
			children = lappend_oid(children, ((Form_pg_inherits) GETSTRUCT(row))->inhrelid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(children, list_oid_cmp);
	return children;
}

/* Add the children of a relation to a list, locked; false when one of them is no more. */
bool
emogi_catalog_visibility_list_children(Oid parent, Snapshot snapshot, List **relids)
{
	bool		several_parents = get_rel_relkind(parent) != RELKIND_PARTITIONED_TABLE;
	List	   *children = list_children(parent, snapshot);
	ListCell   *cell;

	foreach(cell, children)
	{
		Oid			relid = lfirst_oid(cell);

		if (several_parents && list_member_oid(*relids, relid))
			continue;
		LockRelationOid(relid, AccessShareLock);
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		{
			UnlockRelationOid(relid, AccessShareLock);
			return false;
		}
		*relids = lappend_oid(*relids, relid);
	}
	list_free(children);
	return true;
}

/* Does a relation have the same children, bounds and all? */
bool
emogi_catalog_visibility_children(Oid parent, Snapshot snapshot)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	SysScanDesc scan = begin_children(catalog, parent, NULL);
	bool		seen = true;
	int			balance = 0;
	HeapTuple	row;

	for (; HeapTupleIsValid(row = systable_getnext(scan)); balance++)
		seen &= sees_row(row, snapshot);
	systable_endscan(scan);
	if (seen)
	{
		scan = begin_children(catalog, parent, snapshot);
		while (HeapTupleIsValid(systable_getnext(scan)))
			balance--;
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	return seen && balance == 0;
}
