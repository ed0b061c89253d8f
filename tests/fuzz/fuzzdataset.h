/* A dataset for versions to belong to, made once for all inputs. */
#ifndef TESTS_FUZZDATASET_H
#define TESTS_FUZZDATASET_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lancet/dataset.h>

/* Its directory is empty and gone: whatever a version names in it is not found. */
static inline lancet_dataset *
fuzz_dataset(void)
{
	static lancet_dataset *dataset;
	char root[] = "/tmp/fuzz_dataset.XXXXXX";
	char versions[64], manifest[80];
	FILE *file;

	if (dataset != NULL)
		return dataset;
	if (mkdtemp(root) == NULL)
		abort();
	snprintf(versions, sizeof(versions), "%s/_versions", root);
	snprintf(manifest, sizeof(manifest), "%s/1.manifest", versions);
	if (mkdir(versions, 0700) != 0 || (file = fopen(manifest, "w")) == NULL)
		abort();
	fclose(file);
	if (lancet_dataset_open(root, NULL, &dataset, NULL) != LANCET_OK)
		abort();
	unlink(manifest);
	rmdir(versions);
	rmdir(root);
	return dataset;
}

#endif
