/*
 * catalog_visibility.c: whether a snapshot sees the current catalog entries of a relation: its
 * name, file, kind, columns, rule, policies, and children
 *
 * If a snapshot sees the writer of a current catalog row as committed, it sees that row; only
 * otherwise is the catalog read under the snapshot. snapshot.c decides what follows from it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
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

/*
 * Does a snapshot see this row, which is the newest version? A row of our own transaction may
 * belong to a later command.
 */
static bool
sees_row(HeapTuple row, Snapshot snapshot)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(row->t_data);

	if (TransactionIdIsCurrentTransactionId(xmin))
		return HeapTupleHeaderGetCmin(row->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/*
 * Get a copy of the first row that a snapshot sees for keys of a catalog's unique index; NULL if
 * there is none.
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

/* Find a schema by its name; InvalidOid if the snapshot sees none. */
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

/* Find a relation by its name in a schema; InvalidOid if the snapshot sees none. */
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

/* Does the user have USAGE on a schema? A dropped schema excludes nobody. */
static bool
may_use(Oid schema)
{
	return !SearchSysCacheExists1(NAMESPACEOID, ObjectIdGetDatum(schema)) ||
		emogi_compat_schema_usage(schema) == ACLCHECK_OK;
}

/* Look up an unqualified name along the search path. */
static Oid
look_up_in_search_path(const char *name, Snapshot snapshot)
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
		if (!OidIsValid(schema) || !may_use(schema))
			continue;
		relid = find_relation(name, schema, snapshot);
		if (OidIsValid(relid))
			return relid;
	}
	return InvalidOid;
}

/*
 * Does a name, qualified or not, refer to this relation? No other session changes pg_catalog, or
 * our own temporary tables.
 */
bool
emogi_catalog_visibility_name(List *name, Oid relid, Snapshot snapshot)
{
	Oid			schema = get_rel_namespace(relid);

	if (schema == PG_CATALOG_NAMESPACE || isTempNamespace(schema))
		return true;
	if (list_length(name) == 1)
		return look_up_in_search_path(strVal(linitial(name)), snapshot) == relid;
	schema = find_schema(strVal(list_nth(name, list_length(name) - 2)), snapshot);
	return OidIsValid(schema) && find_relation(strVal(llast(name)), schema, snapshot) == relid;
}

/*
 * Start a scan of a relation's row security policies, under a snapshot or the newest state (NULL).
 */
static SysScanDesc
begin_policies(Relation catalog, Oid relid, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyInit(&key, Anum_pg_policy_polrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	return systable_beginscan(catalog, PolicyPolrelidPolnameIndexId, true, snapshot, 1, &key);
}

/*
 * Does a snapshot see the newest state of a relation's rows in a catalog? Dropped rows count too:
 * what they hid may have been deleted before they were dropped. begin: start a scan of the rows
 * under a snapshot, or of the newest state (NULL).
 */
static bool
has_seen_rows(Oid catalog, SysScanDesc (*begin) (Relation, Oid, Snapshot), Oid relid,
			  Snapshot snapshot)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	SysScanDesc scan = begin(rel, relid, NULL);
	bool		seen = true;
	int			balance = 0;
	HeapTuple	row;

	for (; HeapTupleIsValid(row = systable_getnext(scan)); balance++)
		seen &= sees_row(row, snapshot);
	systable_endscan(scan);
	if (seen)
	{
		scan = begin(rel, relid, snapshot);
		while (HeapTupleIsValid(systable_getnext(scan)))
			balance--;
		systable_endscan(scan);
	}
	table_close(rel, AccessShareLock);
	return seen && balance == 0;
}

/* Do two versions of a pg_class row agree about row security? */
static bool
hides_the_same(Form_pg_class now, Form_pg_class then)
{
	return now->relrowsecurity == then->relrowsecurity &&
		now->relforcerowsecurity == then->relforcerowsecurity;
}

/*
 * Does a relation have the same file and kind, and does row security hide the same rows? *childless
 * = true: it is known to have no children.
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
			((Form_pg_class) GETSTRUCT(row))->relfilenode ==
			((Form_pg_class) GETSTRUCT(newest))->relfilenode &&
			((Form_pg_class) GETSTRUCT(row))->relkind ==
			((Form_pg_class) GETSTRUCT(newest))->relkind &&
			hides_the_same((Form_pg_class) GETSTRUCT(newest), (Form_pg_class) GETSTRUCT(row));
	}
	if (seen && ((Form_pg_class) GETSTRUCT(newest))->relrowsecurity)
		seen = has_seen_rows(PolicyRelationId, begin_policies, relid, snapshot);
	ReleaseSysCache(newest);
	return seen;
}

/*
 * Does a column have the same name and type? The expression of a virtual column may have changed.
 * newest: its row, from the cache and released here; invalid = there is none.
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

/* Are the columns with these names (C strings) the same? */
bool
emogi_catalog_visibility_columns(Oid relid, List *names, Snapshot snapshot)
{
	ListCell   *cell;

	foreach(cell, names)
		if (!emogi_catalog_visibility_column(SearchSysCacheAttName(relid, lfirst(cell)), snapshot))
			return false;
	return true;
}

/* If a relation is a view, is its query the same? */
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
 * Start a scan of the rows of pg_inherits that name a parent, under a snapshot or the newest state
 * (NULL).
 */
static SysScanDesc
begin_children(Relation catalog, Oid parent, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(parent));
	return systable_beginscan(catalog, InheritsParentIndexId, true, snapshot, 1, &key);
}

/* List the children of a relation, except those being detached, in locking order. */
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

/*
 * Lock the children of a relation and append them to a list; return false if one of them no longer
 * exists.
 */
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

/* Does a relation have the same children, including their bounds? */
bool
emogi_catalog_visibility_children(Oid parent, Snapshot snapshot)
{
	return has_seen_rows(InheritsRelationId, begin_children, parent, snapshot);
}
