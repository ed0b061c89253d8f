/* README.txt at the root: the tree explains itself. SPEC section 1. */
#include "render.h"

static const char readme[] =
	"This is a Lance dataset, mounted by lancefs. Looking at it changes nothing.\n"
	"\n"
	"latest             link to the newest version that can be read\n"
	"current/           one version at a fixed path, frozen when this was mounted\n"
	"versions/N/        every version:\n"
	"  summary            what it is, as \"key: value\" lines\n"
	"  schema             one line per field; schema.json has everything about them\n"
	"  manifest.json      the manifest without fragments and indices; manifest.pb as stored\n"
	"  transaction.json   what made this version; transaction.pb as stored\n"
	"  config/ metadata/ schema_metadata/   one value per file\n"
	"  fragments.tsv      a line per fragment; files.tsv a line per live file\n"
	"  fragments/ID/      info.json, files/, overlays/, deletion_file, deleted_rows,\n"
	"                     head.jsonl (the first rows), columns.tsv (as stored), and\n"
	"    lineage/         _rowid, _row_created_at_version, _row_last_updated_at_version:\n"
	"                     a value for each physical row, so row K is at byte K * 21;\n"
	"                     *.u64 the same in binary; all.tsv all of them side by side\n"
	"  indices/NAME/      info.json, segments/, fragment_bitmap as stored, and by way of fri/\n"
	"                     covered_fragments, retired_fragments, unindexed_fragments\n"
	"  fri/               where rows went when fragments were rewritten: info.json, graph.dot\n"
	"    transitions/K/   a rewrite: kind, info.json, sources.tsv, destinations.tsv, and\n"
	"                     mapping.tsv, a line for each source row; what it is made from is in\n"
	"                     surviving_rows, or in labels.u16, counts.tsv and row_map_file\n"
	"  dataset/           a complete dataset of just this version: copy it with cp -a, tar,\n"
	"                     rsync, restic or borg; any Lance reader opens the copy\n"
	"tags/ branches/    links to tagged versions; a tree like this one for each branch\n"
	"detached/          versions outside the history, never the latest\n"
	"ctl/               commands: a line that is written to a file there runs, its errno is\n"
	"                   that of the write; read, each says its use and what came of it last\n"
	"  stage/             files for commands to read; gone when the mount ends\n"
	"  jobs/N/            each command that waits, runs or ran; errors, stats\n"
	"\n"
	"A version that can't be read has `error` and `manifest.raw` instead. A file that can't be "
	"read\n"
	"gives an error by itself; its neighbours are not affected, and the log says why.\n"
	"\n"
	"Try:  cat latest/summary; column -t latest/fragments.tsv; jq . latest/manifest.json\n"
	"Manuals: lancefs(1), lancefs-tree(5), lancefs-control(5).\n"
	"To unmount: umount, or fusermount3 -u.\n";

int
render_readme(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	(void)ref, (void)err;
	buf_put(out, readme, sizeof(readme) - 1);
	return LANCET_OK;
}
