/* Journal: the state that must survive a loss of power. It alternates between two records on flash, so a write that a loss of power
 * interrupts destroys only that record. */
#ifndef NYALA_JOURNAL_H
#define NYALA_JOURNAL_H

#include "cmd.h"

enum {
    NYALA_KNOWN = 16,
    NYALA_LONGEST_RUN_S = 86400,
    NYALA_KNOWN_BYTES = NYALA_ID_BYTES + 1,
    /* Magic, number, epoch, rest_ms, last, resumed, the commands, checksum. */
    NYALA_RECORD_BYTES = 4 + 8 + 8 + 4 + 1 + 1 + NYALA_KNOWN * NYALA_KNOWN_BYTES + 4
};

enum nyala_result {
    NYALA_NONE,
    /* The relay closes; whether the machine runs is not known yet. */
    NYALA_TRYING,
    /* The machine runs. */
    NYALA_STARTED,
    NYALA_REFUSED,
    NYALA_EXPIRED,
    NYALA_DONE
};

/* A known command. A repeat of it gets the same answer. */
struct nyala_known {
    uint8_t id[NYALA_ID_BYTES];
    uint8_t result;
};

struct nyala_journal {
    /* Sequence number: higher in each new record. */
    uint64_t number;
    /* The highest epoch of any command. */
    uint64_t epoch;
    struct nyala_known known[NYALA_KNOWN];
    /* Time left of the run when this record was saved. */
    uint32_t rest_ms;
    /* Index of the newest known command. */
    uint8_t last;
    /* Number of power returns in this run. */
    uint8_t resumed;
};

void nyala_journal_write(const struct nyala_journal *journal, uint8_t record[NYALA_RECORD_BYTES]);
/* Reads the newer of two records (NULL: missing) and returns its index; -1: both are invalid, so the journal is empty. */
int nyala_journal_read(struct nyala_journal *journal, const uint8_t *first, const uint8_t *second);
/* Index of the command that runs or is being tried; -1: no such command. */
int nyala_journal_running(const struct nyala_journal *journal);

#endif
