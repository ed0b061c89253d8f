/* What values become, and how fast: bits of a value and megabytes of values a second, with the
 * encoding that was chosen. */
#include "bench.h"

#include "file/codec.h"
#include "file/encode.h"
#include "util/macros.h"

#include <inttypes.h>
#include <stdio.h>

#define ROUNDS 5

static uint64_t random_state = UINT64_C(88172645463325252);

static uint64_t
next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static const struct field row_ids = {
	.kind = FIELD_FIXED, .bits = 64, .name = { (const uint8_t *)"_rowid", 6 }
};
static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64 };
static const struct field u32 = { .kind = FIELD_FIXED, .bits = 32 };
static const struct field text = { .kind = FIELD_VARIABLE };

static void
put(struct array *array, uint64_t value)
{
	(void)array_append_fixed(array, array->field->bits, (const uint8_t *)&value, 1, NULL);
}

static void
holes(struct array *array, uint64_t count, uint64_t base)
{
	for (uint64_t id = base; count > 0; id++)
		if (next_random() % 10 >= 3) {
			put(array, id);
			count--;
		}
}

static void
shuffled(struct array *array, uint64_t count, uint64_t base, uint64_t range)
{
	while (count-- > 0)
		put(array, base + next_random() % range);
}

static void
floats(struct array *array, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		double value = (double)(next_random() % 100000) / 100;
		uint64_t bits;

		memcpy(&bits, &value, sizeof(bits));
		put(array, bits);
	}
}

static void
texts(struct array *array, uint64_t count, const char *format, uint64_t range)
{
	char value[128];

	for (uint64_t i = 0; i < count; i++) {
		int size = snprintf(value, sizeof(value), format, (int)(next_random() % range));

		(void)array_append_bytes(array, slice_of(value, (size_t)size), NULL);
	}
}

enum kind {
	HOLES,
	ALL_IDS,
	OWN_IDS,
	HIGH_IDS,
	VERSIONS,
	TWO_VERSIONS,
	ONE_VERSION,
	USER_HOLES,
	USER_SMALL,
	USER_FLOATS,
	USER_FEW,
	USER_U32,
	URLS,
	WORDS,
	KINDS
};

static const struct {
	const char *label;
	const struct field *field;
	uint64_t count;
} cases[KINDS] = {
	[HOLES] = { "row ids, 30 % deleted", &row_ids, 1400000 },
	[ALL_IDS] = { "row ids, 1M out of 8M shuffled", &row_ids, 1000000 },
	[OWN_IDS] = { "row ids, [7M, 8M) shuffled", &row_ids, 1000000 },
	[HIGH_IDS] = { "row ids, 23 bits above 2^40", &row_ids, 1000000 },
	[VERSIONS] = { "versions, 10 shuffled", &row_ids, 1000000 },
	[TWO_VERSIONS] = { "versions, 2 runs", &row_ids, 1000000 },
	[ONE_VERSION] = { "versions, one", &row_ids, 1000000 },
	[USER_HOLES] = { "u64 ascending with gaps", &u64, 1000000 },
	[USER_SMALL] = { "u64 below 1000", &u64, 1000000 },
	[USER_FLOATS] = { "prices as doubles", &u64, 1000000 },
	[USER_FEW] = { "100 random u64", &u64, 1000000 },
	[USER_U32] = { "random u32", &u32, 1000000 },
	[URLS] = { "addresses", &text, 100000 },
	[WORDS] = { "50 words", &text, 100000 },
};

static void
fill(struct array *array, enum kind kind)
{
	uint64_t count = cases[kind].count;

	switch (kind) {
	case HOLES:
		holes(array, count, 2000000);
		break;
	case ALL_IDS:
		shuffled(array, count, 0, 8000000);
		break;
	case OWN_IDS:
		shuffled(array, count, 7000000, 1000000);
		break;
	case HIGH_IDS:
		shuffled(array, count, UINT64_C(1) << 40, 1 << 23);
		break;
	case VERSIONS:
		shuffled(array, count, 3, 10);
		break;
	case TWO_VERSIONS:
		shuffled(array, count / 2, 5, 1);
		shuffled(array, count - count / 2, 6, 1);
		break;
	case ONE_VERSION:
		shuffled(array, count, 9, 1);
		break;
	case USER_HOLES:
		holes(array, count, 0);
		break;
	case USER_SMALL:
		shuffled(array, count, 0, 1000);
		break;
	case USER_FLOATS:
		floats(array, count);
		break;
	case USER_FEW:
		for (uint64_t i = 0; i < count; i++)
			put(array, (next_random() % 100 + 1) * UINT64_C(0x9e3779b97f4a7c15));
		break;
	case USER_U32:
		while (count-- > 0)
			put(array, next_random());
		break;
	case URLS:
		texts(array, count, "https://example.org/catalogue/items/%d/details.html", 1000000);
		break;
	case WORDS:
		texts(array, count, "category number %d", 50);
		break;
	case KINDS:
		break;
	}
}

struct chunk {
	struct buf buffers[ENCODE_BUFFERS_MAX];
	uint64_t count;
};

static int
encode(struct mini_plan *plan, uint64_t count, struct chunk *chunks, size_t *ret_chunks,
	uint64_t *ret_size, struct lancet_error *err)
{
	uint64_t size = plan->message.size + plan->dictionary.size;
	size_t made = 0;

	for (uint64_t first = 0; first < count; first += chunks[made++].count) {
		struct chunk *chunk = &chunks[made];
		uint64_t most = UINT64_C(1) << plan->chunk_log2;
		int rc;

		chunk->count = count - first < most ? count - first : most;
		for (;; chunk->count = most /= 2) {
			for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
				chunk->buffers[i].size = 0;
			rc = mini_plan_chunk(plan, first, chunk->count, chunk->buffers, err);
			if (rc != LANCET_LIMIT)
				break;
		}
		TRY(rc);
		size += 8 + 4;
		for (unsigned i = 0; i < plan->buffer_count; i++)
			size += (chunk->buffers[i].size + 7) / 8 * 8;
	}
	*ret_chunks = made;
	*ret_size = size;
	return LANCET_OK;
}

static int
decode(const struct codec *codec, const struct mini_plan *plan, const struct chunk *chunks,
	size_t count, struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	for (size_t k = 0; k < count; k++) {
		struct slice slices[ENCODE_BUFFERS_MAX];
		struct codec_buffers in = { slices, plan->buffer_count, 0 };

		for (unsigned i = 0; i < plan->buffer_count; i++)
			slices[i] = buf_slice(&chunks[k].buffers[i]);
		TRY(codec_decode_mini(codec, &in, chunks[k].count, scratch, out, err));
	}
	return LANCET_OK;
}

struct bench {
	struct array_budget budget;
	struct array in, out;
	struct arena arena;
	struct scratch scratch;
	struct mini_plan plan;
	struct chunk *chunks;
	size_t chunk_count;
	uint64_t size;
	double plan_seconds, encode_seconds, decode_seconds;
	const struct codec *codec;
};

static int
run(struct bench *bench, enum file_version version, struct lancet_error *err)
{
	uint64_t count = bench->in.length;
	struct encode_values values = { version, bench->in.field, &bench->in, 0, count };
	double start = now(CLOCK_PROCESS_CPUTIME_ID);

	TRY(mini_plan_make(&values, &bench->plan, err));
	bench->plan_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - start;
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	TRY(encode(&bench->plan, count, bench->chunks, &bench->chunk_count, &bench->size, err));
	bench->encode_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - start;
	TRY(codec_open(buf_slice(&bench->plan.message), CODEC_MINI, version, 0, &bench->arena,
		&bench->codec, err));
	TRY(array_init(&bench->out,
		bench->plan.dictionary_items > 0 ? field_unsigned(32) : bench->in.field,
		&bench->budget, err));
	bench->decode_seconds = 1e9;
	for (int i = 0; i < ROUNDS; i++) {
		double seconds;

		array_reset(&bench->out);
		start = now(CLOCK_PROCESS_CPUTIME_ID);
		TRY(decode(bench->codec, &bench->plan, bench->chunks, bench->chunk_count,
			&bench->scratch, &bench->out, err));
		seconds = now(CLOCK_PROCESS_CPUTIME_ID) - start;
		if (seconds < bench->decode_seconds)
			bench->decode_seconds = seconds;
	}
	return LANCET_OK;
}

static void
show(const struct bench *bench, enum kind kind, enum file_version version)
{
	double count = (double)bench->in.length;
	double megabytes = (double)(bench->in.data.size + bench->in.offsets.size) / 1e6;
	struct buf words = { 0 };

	codec_describe(bench->codec, &words);
	if (bench->plan.dictionary_items > 0)
		buf_put_text(&words, ", dictionary");
	printf("%-31s %s %8.3f bits  plan %6.1f  encode %6.0f  decode %6.0f MB/s %6.2f ms  "
	       "2^%-2u %.*s\n",
		cases[kind].label, file_version_name(version), (double)bench->size * 8 / count,
		bench->plan_seconds * 1e3, megabytes / bench->encode_seconds,
		megabytes / bench->decode_seconds, bench->decode_seconds * 1e3,
		bench->plan.chunk_log2, (int)words.size, (const char *)words.data);
	buf_release(&words);
}

static int
bench_case(enum kind kind, enum file_version version)
{
	struct bench bench = { .budget = { .limit = SIZE_MAX } };
	struct lancet_error err = { 0 };
	size_t chunk_max = (size_t)cases[kind].count / 2 + 1;
	int rc = array_init(&bench.in, cases[kind].field, &bench.budget, &err);

	bench.chunks = calloc(chunk_max, sizeof(*bench.chunks));
	if (rc != LANCET_OK || bench.chunks == NULL)
		return 1;
	fill(&bench.in, kind);
	rc = run(&bench, version, &err);
	if (rc == LANCET_OK)
		show(&bench, kind, version);
	else
		fprintf(stderr, "%s: %s\n", cases[kind].label, err.text);
	for (size_t i = 0; i < chunk_max; i++)
		for (unsigned k = 0; k < ENCODE_BUFFERS_MAX; k++)
			buf_release(&bench.chunks[i].buffers[k]);
	free(bench.chunks);
	mini_plan_release(&bench.plan);
	array_release(&bench.in);
	array_release(&bench.out);
	scratch_release(&bench.scratch);
	arena_release(&bench.arena);
	return rc;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (enum kind kind = HOLES; kind < KINDS; kind++) {
		if (argc > 1 && strstr(cases[kind].label, argv[1]) == NULL)
			continue;
		failed |= bench_case(kind, FILE_2_1);
		failed |= bench_case(kind, FILE_2_2);
	}
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
