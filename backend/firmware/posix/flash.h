/* Journal as a file: two records that are written alternately. */
#ifndef NYALA_FLASH_H
#define NYALA_FLASH_H

#include "../core/journal.h"

struct flash {
    int file;
    uint8_t record[2][NYALA_RECORD_BYTES];
    bool there[2];
};

/* Opens or creates the file and reads both records. False: see errno; EAGAIN or EACCES: another process has locked the file. */
bool flash_open(struct flash *flash, const char *path);
/* Writes one record. True: it is on the disk. */
bool flash_save(struct flash *flash, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES]);

#endif
