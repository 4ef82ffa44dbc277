/* A board for the core that writes down, a line each, what it is told to do: for the tests, and for who drives the core as a process. */
#ifndef NYALA_RIG_H
#define NYALA_RIG_H

#include <stdio.h>

#include "../core/device.h"

enum { RIG_LOG_BYTES = 1 << 16 };

/* What becomes of a record that is saved. */
enum rig_flash {
    FLASH_OK,
    /* Nothing is written. */
    FLASH_BROKEN,
    /* Half of it is. */
    FLASH_TORN,
    /* All of it is, and nobody knows. */
    FLASH_UNSURE
};

struct rig {
    struct nyala_device device;
    uint8_t slots[2][NYALA_RECORD_BYTES];
    bool there[2];
    enum rig_flash flash;
    bool relay_broken;
    /* What the relay really is. */
    bool relay;
    char log[RIG_LOG_BYTES];
    size_t log_n;
};

void rig_blank(struct rig *rig);
void rig_boot(struct rig *rig, const struct nyala_setup *setup, uint64_t up_ms);
/* The power is gone. */
void rig_off(struct rig *rig);
/* What was written down until now is read. */
void rig_read(struct rig *rig);

#endif
