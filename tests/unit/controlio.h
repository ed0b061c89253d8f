/* Writing to control files of the rig, and reading them. */
#ifndef TESTS_CONTROLIO_H
#define TESTS_CONTROLIO_H

#include "controlrig.h"

static inline struct control_handle *
rig_open(const char *name)
{
	struct control_handle *handle = NULL;
	size_t row = 0;

	ck_assert(controls_find(stub_commands, name, &row));
	ck_assert_int_eq(control_open(rig.control, rig.dataset, row, &handle, NULL), LANCET_OK);
	return handle;
}

static inline void
rig_send(struct control_handle *handle, struct request *request, uid_t uid, struct slice bytes)
{
	const struct control_writer writer = { uid, 0, request };

	*request = (struct request){ 0 };
	control_write(handle, &writer, bytes);
}

static inline void
rig_answered(const struct request *request)
{
	while (!request->answered)
		usleep(1000);
}

/* Writes as the owner and waits for the answer: bytes taken, or -errno. */
static inline int
rig_write(struct control_handle *handle, const char *text)
{
	struct request request;

	rig_send(handle, &request, 1234, slice_text(text));
	rig_answered(&request);
	ck_assert(request.os_errno == 0 || request.taken == 0);
	return request.os_errno != 0 ? -request.os_errno : (int)request.taken;
}

/* All that is left to read, in a static buffer. */
static inline const char *
rig_read(struct control_handle *handle)
{
	static char text[8192];
	size_t size = 0, got = 0;

	do {
		ck_assert_int_eq(control_read(handle, size, sizeof(text) - 1 - size, text + size,
					 &got, NULL),
			LANCET_OK);
		size += got;
	} while (got > 0);
	text[size] = '\0';
	return text;
}

static inline bool
rig_says(struct control_handle *handle, const char *part)
{
	return strstr(rig_read(handle), part) != NULL;
}

static inline bool
rig_reported(const char *part)
{
	struct buf out = { 0 };
	bool found;

	report_print(control_report(rig.control), &out);
	buf_put_byte(&out, '\0');
	found = strstr((const char *)out.data, part) != NULL;
	buf_release(&out);
	return found;
}

#endif
