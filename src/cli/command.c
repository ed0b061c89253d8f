/* What commands share; see command.h. */
#include "command.h"

#include <lancet/version.h>
#include "util/macros.h"

static int
open_selected(lancet_dataset *dataset, const struct selection *selection,
	lancet_version **ret_version, struct lancet_error *err)
{
	uint64_t number = 0;

	TRY(select_version(dataset, selection, &number, err));
	if (number == 0)
		TRY(lancet_dataset_latest(dataset, &number, err));
	return lancet_version_open(dataset, number, ret_version, err);
}

int
command_version(
	const struct command_line *line, lancet_version **ret_version, struct lancet_error *err)
{
	lancet_dataset *dataset = NULL;
	int rc;

	TRY(select_dataset(line->dataset, &line->selection, NULL, &dataset, err));
	rc = open_selected(dataset, &line->selection, ret_version, err);
	lancet_dataset_unref(dataset);
	return rc;
}
