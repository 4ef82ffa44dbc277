/* What of a device must outlive its power, and how it lies on flash: two records that take turns, so that one that power cut short
 * costs only itself. */
#ifndef NYALA_JOURNAL_H
#define NYALA_JOURNAL_H

#include "cmd.h"

enum {
    NYALA_KNOWN = 16,
    NYALA_LONGEST_RUN_S = 86400,
    NYALA_KNOWN_BYTES = NYALA_ID_BYTES + 1,
    /* Magic, number, epoch, rest, last, resumed, the commands, checksum. */
    NYALA_RECORD_BYTES = 4 + 8 + 8 + 4 + 1 + 1 + NYALA_KNOWN * NYALA_KNOWN_BYTES + 4
};

enum nyala_result {
    NYALA_NONE,
    /* The relay is told to close, and whether the machine runs is not known yet. */
    NYALA_TRYING,
    /* It runs. */
    NYALA_STARTED,
    NYALA_REFUSED,
    NYALA_EXPIRED,
    NYALA_DONE
};

/* A command that is not answered in two ways. */
struct nyala_known {
    uint8_t id[NYALA_ID_BYTES];
    uint8_t result;
};

struct nyala_journal {
    /* Each record has a higher one than that before. */
    uint64_t number;
    /* The highest that was seen. */
    uint64_t epoch;
    struct nyala_known known[NYALA_KNOWN];
    /* What was left of the run when this was saved. */
    uint32_t rest_ms;
    /* The newest of the known ones. */
    uint8_t last;
    /* How often the power came back in this run. */
    uint8_t resumed;
};

void nyala_journal_write(const struct nyala_journal *journal, uint8_t record[NYALA_RECORD_BYTES]);
/* Reads the newer of two records (either may be NULL: not there) and tells which it is; -1: neither is one, and the journal is empty. */
int nyala_journal_read(struct nyala_journal *journal, const uint8_t *first, const uint8_t *second);
/* Which command runs, or is tried; -1: none. */
int nyala_journal_running(const struct nyala_journal *journal);

#endif
