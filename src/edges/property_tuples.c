/*
 * property_tuples.c: get the attributes of heap tuples that a load of property columns reads.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "base/compat.h"
#include "edges/property_scan.h"

/* Add an attribute to those to read. */
static void
add_attribute(EmogiTupleAttributes *attributes, Relation leaf, Oid relid, AttrNumber attnum)
{
	const int	place = attributes->nread++;

	if (attnum > 0 && RelationGetRelid(leaf) != relid)
		attnum = get_attnum(RelationGetRelid(leaf), get_attname(relid, attnum, false));
	attributes->attnums[place] = attnum;
	attributes->next_place[place] = -1;
	if (attnum <= 0)
		return;
	while (attributes->last < attnum)
		attributes->first_place[attributes->last++] = -1;
	attributes->next_place[place] = attributes->first_place[attnum - 1];
	attributes->first_place[attnum - 1] = place;
}

/* Find the attributes to read in the tuples of a leaf. */
void
emogi_property_tuples_find(EmogiTupleAttributes *attributes, Relation leaf,
						   const EmogiPropertyScan *scan)
{
	attributes->desc = RelationGetDescr(leaf);
	attributes->last = attributes->nread = 0;
	add_attribute(attributes, leaf, scan->relid, scan->src);
	add_attribute(attributes, leaf, scan->relid, scan->dst);
	add_attribute(attributes, leaf, scan->relid, scan->weight);
	for (int i = 0; i < scan->ncolumns; i++)
		add_attribute(attributes, leaf, scan->relid, scan->columns[i].identity.attnum);
}

/* Get the attributes of a tuple that lacks some of them, because they were added later. */
static pg_noinline void
get_one_by_one(HeapTupleHeader header, const EmogiTupleAttributes *attributes,
			   EmogiTupleValues *values)
{
	HeapTupleData tuple = {.t_data = header};

	for (int i = 0; i < attributes->nread; i++)
		if (attributes->attnums[i] > 0)
			values->datums[i] = heap_getattr(&tuple, attributes->attnums[i], attributes->desc,
											 &values->nulls[i]);
}

/* Get the attributes of a tuple, in one pass up to the last one; they may point into the page. */
void
emogi_property_tuples_get(HeapTupleHeader tuple, const EmogiTupleAttributes *attributes,
						  EmogiTupleValues *values)
{
	const uint8 *bits = (tuple->t_infomask & HEAP_HASNULL) != 0 ? tuple->t_bits : NULL;
	char	   *data = (char *) tuple + tuple->t_hoff;
	uint32		offset = 0;

	if (HeapTupleHeaderGetNatts(tuple) < attributes->last)
	{
		get_one_by_one(tuple, attributes, values);
		return;
	}
	for (int i = 0; i < attributes->last; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(attributes->desc, i);
		const bool	is_null = bits != NULL && att_isnull(i, bits);

		if (!is_null)
			offset = att_align_pointer(offset, attribute->attalign, attribute->attlen,
									   data + offset);
		for (int place = attributes->first_place[i]; place >= 0;
			 place = attributes->next_place[place])
		{
			values->nulls[place] = is_null;
			if (!is_null)
				values->datums[place] = fetchatt(attribute, data + offset);
		}
		if (!is_null)
			offset = att_addlength_pointer(offset, attribute->attlen, data + offset);
	}
}
