/* Short texts below fri/: what is wrong with the history and its transitions, and kinds. SPEC
 * section 3.
 */
#include "render.h"

#include "reusefile.h"
#include "util/macros.h"

/* Lines of fri/error: a history that is wrong altogether needs no million of them. */
#define FAULTS_SHOWN 1000

/* What to do about a history, or a transition, that can't be followed. */
static void
put_advice(struct buf *out, enum lancet_code code)
{
	switch (code) {
	case LANCET_UNSUPPORTED:
		buf_put_text(out, "It needs a newer lancefs, or the program that wrote it.\n");
		break;
	case LANCET_IO:
		buf_put_text(out, "Restore the file from a backup; it is looked for each time.\n");
		break;
	case LANCET_CORRUPT:
		buf_put_text(out, "Row addresses can't be translated through it. Indices of "
				  "fragments that were rewritten there have to be built anew.\n");
		break;
	default:
		break;
	}
	buf_put_text(out, "Rows and fragments of this version are not affected.\n");
}

/* A line for each; *ret_worst is what most has to be done about. */
static void
put_faults(struct buf *out, const lancet_reuse *reuse, enum lancet_code *ret_worst)
{
	const struct lancet_reuse_info *info = lancet_reuse_info(reuse);
	size_t shown = 0;

	*ret_worst = LANCET_UNSUPPORTED;
	for (size_t i = 0; i < info->transition_count; i++) {
		const struct lancet_transition *transition = lancet_reuse_transition(reuse, i);

		if (transition->fault == LANCET_OK)
			continue;
		if (transition->fault != LANCET_UNSUPPORTED)
			*ret_worst = transition->fault;
		if (shown++ < FAULTS_SHOWN)
			buf_printf(out, "transitions/%zu: %s\n", i, transition->fault_text);
	}
	if (shown > FAULTS_SHOWN)
		buf_printf(out, "and %zu more\n", shown - FAULTS_SHOWN);
	if (shown < info->transition_count)
		buf_put_text(out, "The other transitions can be followed.\n");
}

int
render_reuse_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	enum lancet_code worst;
	lancet_reuse *reuse = NULL;
	int rc = lancet_version_reuse(ref->version, &reuse, &why);

	if (rc != LANCET_OK) {
		buf_printf(out, "the history of rewritten fragments can't be read: %s\n", why.text);
		put_advice(out, why.code);
		buf_put_text(out, "A copy needs all of it: dataset/ may fail as well.\n");
		return LANCET_OK;
	}
	if (lancet_reuse_info(reuse)->fault_count == 0)
		return lancet_fail(err, LANCET_NOT_FOUND, "the history can be read now");
	put_faults(out, reuse, &worst);
	put_advice(out, worst);
	return LANCET_OK;
}

int
render_transition_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;

	TRY(transition_of(ref, &transition, err));
	buf_printf(out, "%s\n", transition->fault_text);
	put_advice(out, transition->fault);
	return LANCET_OK;
}

int
render_transition_kind(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;

	TRY(transition_of(ref, &transition, err));
	buf_printf(out, "%s%s\n", lancet_mapping_name(transition->mapping),
		transition->legacy ? " legacy" : "");
	return LANCET_OK;
}
