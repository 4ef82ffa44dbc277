/* TLS by mbedTLS, where it was built in (make TLS=1). */
#ifndef NYALA_TLS_H
#define NYALA_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct link_tls;

/* Prepares TLS. NULL: it failed; the reason is on standard error. */
struct link_tls *tls_new(const char *ca);
/* Starts TLS on a connected socket. The server's certificate must be valid for the host. */
bool tls_begin(struct link_tls *tls, const char *host, int *fd);
/* Returns 1: done, 0: call again once poll reports `wants`, -1: it failed; the reason is on standard error. */
int tls_shake_hands(struct link_tls *tls, short *wants);
/* As link_read and link_write. */
ssize_t tls_read(struct link_tls *tls, void *to, size_t n);
ssize_t tls_write(struct link_tls *tls, const void *from, size_t n);

#endif
