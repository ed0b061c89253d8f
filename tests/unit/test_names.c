/* Names of manifests, deletion files, refs and UUIDs. */
#include "unit.h"

#include "core/names.h"

#include <string.h>

static const struct {
	const char *name;
	enum manifest_scheme scheme;
	uint64_t version;
} manifests[] = {
	{ "18446744073709551614.manifest", MANIFEST_V2, 1 },
	{ "18446744073709551610.manifest", MANIFEST_V2, 5 },
	{ "09223372036854775809.manifest", MANIFEST_V2, 9223372036854775806u },
	{ "1.manifest", MANIFEST_V1, 1 },
	{ "5.manifest", MANIFEST_V1, 5 },
	{ "9223372036854775807.manifest", MANIFEST_V1, 9223372036854775807u },
	{ "d10725386629318268134.manifest", MANIFEST_DETACHED, 10725386629318268134u },
	{ "d18446744073709551615.manifest", MANIFEST_DETACHED, UINT64_MAX },
	{ "d9223372036854775808.manifest", MANIFEST_DETACHED, 9223372036854775808u },
};

START_TEST(manifest_names_read_and_write_the_same)
{
	enum manifest_scheme scheme;
	char name[MANIFEST_NAME_MAX];
	uint64_t version;

	ck_assert_msg(manifest_name_parse(manifests[_i].name, &scheme, &version), "%s",
	              manifests[_i].name);
	ck_assert_int_eq(scheme, manifests[_i].scheme);
	ck_assert_uint_eq(version, manifests[_i].version);
	manifest_name_format(scheme, version, name);
	ck_assert_str_eq(name, manifests[_i].name);
}
END_TEST

static const char *const strays[] = {
	"", ".", "manifest", ".manifest", "d.manifest", "dmanifest", "0.manifest", "005.manifest",
	" 9.manifest", "-1.manifest", "+1.manifest", "1e3.manifest", "1.manifest ", "1.Manifest",
	"1.manifest#1", "18446744073709551611.manifest#1", ".tmp_x.manifest", ".tmpAbC123",
	"7.manifest.tmp", "5.x.manifest", "5..manifest", "latest.manifest", "dXYZ.manifest",
	"latest_version_hint.json", "184467440737095516160.manifest",
	"18446744073709551616.manifest", /* past 64 bits */
	"18446744073709551615.manifest", /* version 0 */
	"00000000000000000001.manifest", /* bit 63 without the d */
	"9223372036854775808.manifest",
	"d5.manifest",                   /* d without bit 63 */
	"d010725386629318268134.manifest", "d18446744073709551616.manifest",
	"D10725386629318268134.manifest", "dd10725386629318268134.manifest",
	"18446744073709551612.manifest.torn", "\xd9\xa3.manifest", "0x1.manifest",
};

START_TEST(stray_names_are_no_manifests)
{
	enum manifest_scheme scheme;
	uint64_t version;

	ck_assert_msg(!manifest_name_parse(strays[_i], &scheme, &version), "%s", strays[_i]);
}
END_TEST

START_TEST(deletion_paths_name_fragment_version_and_id)
{
	char path[DELETION_PATH_MAX];

	deletion_path_format(3, 2, 11983752218440946795u, false, path);
	ck_assert_str_eq(path, "_deletions/3-2-11983752218440946795.arrow");
	deletion_path_format(UINT64_MAX, UINT64_MAX, UINT64_MAX, true, path);
	ck_assert_str_eq(path, "_deletions/18446744073709551615-18446744073709551615-"
	                       "18446744073709551615.bin");
}
END_TEST

START_TEST(uuids_are_36_characters_of_hex_and_hyphens)
{
	static const uint8_t bytes[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
		                           0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	static const char text[] = "00112233-4455-6677-8899-aabbccddeeff";
	char made[37];

	uuid_format(bytes, made);
	ck_assert_str_eq(made, text);
}
END_TEST

static const struct {
	const char *stem;
	const char *name; /* NULL: malformed */
} stems[] = {
	{ "dev", "dev" },
	{ "team%2Fexp-2", "team/exp-2" },
	{ "team%2fexp-2", "team/exp-2" },
	{ "v1-%CE%B2", "v1-\xce\xb2" },
	{ "..%2F..%2Fescape", "../../escape" },
	{ "a%", NULL },
	{ "a%2", NULL },
	{ "a%2G", NULL },
	{ "a%00b", NULL },
};

START_TEST(names_of_refs_are_percent_decoded)
{
	struct buf name = { 0 };

	buf_put_text(&name, "kept");
	ck_assert_int_eq(percent_decode(slice_text(stems[_i].stem), &name), stems[_i].name != NULL);
	ck_assert(slice_equal(slice_of(name.data, 4), slice_text("kept")));
	ck_assert(slice_equal(slice_of(name.data + 4, name.size - 4),
	                      slice_text(stems[_i].name != NULL ? stems[_i].name : "")));
	buf_release(&name);
}
END_TEST

START_TEST(names_of_refs_are_encoded_as_writers_do)
{
	struct buf stem = { 0 };

	ref_name_encode(slice_text("feature/caf\xc3\xa9_1.0-x"), &stem);
	ck_assert(slice_equal(buf_slice(&stem), slice_text("feature%2Fcaf%C3%A9_1.0-x")));
	buf_release(&stem);
}
END_TEST

static const struct {
	const char *name;
	bool tag, branch;
} refs[] = {
	{ "v1.0_rc-1", true, true },
	{ "v1-\xce\xb2", true, true },
	{ "a/b/c", false, true },
	{ "main", true, false },
	{ "main/x", false, true },
	{ ".hidden", false, true },
	{ "end.", false, true },
	{ "x.lock", false, false },
	{ "a/x.lock", false, false },
	{ "", false, false },
	{ ".", false, false },
	{ "..", false, false },
	{ "a..b", false, false },
	{ "a/../b", false, false },
	{ "../../escape", false, false },
	{ "a//b", false, false },
	{ "/abs", false, false },
	{ "a/", false, false },
	{ "a\\b", false, false },
	{ "a b", false, false },
	{ "a\nb", false, false },
	{ "bad-\xff", false, false },
};

START_TEST(names_of_refs_are_valid_or_not)
{
	ck_assert_msg(tag_name_is_valid(slice_text(refs[_i].name)) == refs[_i].tag, "%s",
	              refs[_i].name);
	ck_assert_msg(branch_name_is_valid(slice_text(refs[_i].name)) == refs[_i].branch, "%s",
	              refs[_i].name);
}
END_TEST

UNIT_MAIN("names",
          UNIT_LOOP(manifest_names_read_and_write_the_same, manifests),
          UNIT_LOOP(stray_names_are_no_manifests, strays),
          UNIT_TEST(deletion_paths_name_fragment_version_and_id),
          UNIT_TEST(uuids_are_36_characters_of_hex_and_hyphens),
          UNIT_LOOP(names_of_refs_are_percent_decoded, stems),
          UNIT_TEST(names_of_refs_are_encoded_as_writers_do),
          UNIT_LOOP(names_of_refs_are_valid_or_not, refs))
