/* The journal as a file: two records that take turns. */
#ifndef NYALA_FLASH_H
#define NYALA_FLASH_H

#include "../core/journal.h"

struct flash {
    int file;
    uint8_t record[2][NYALA_RECORD_BYTES];
    bool there[2];
};

/* Opens it, or makes an empty one, and reads both. False: errno tells why; EAGAIN or EACCES: another process has it. */
bool flash_open(struct flash *flash, const char *path);
/* True once it is on the disk. */
bool flash_save(struct flash *flash, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES]);

#endif
