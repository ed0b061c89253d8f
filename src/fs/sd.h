/* The service manager's readiness protocol. */
#ifndef FS_SD_H
#define FS_SD_H

/* "READY=1" to the service manager when NOTIFY_SOCKET is set; failures are ignored, as its protocol
 * wants. */
void sd_notify_ready(void);

#endif
