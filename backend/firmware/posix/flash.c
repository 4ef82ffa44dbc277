#include "flash.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Distance between the records, so that no page or sector holds parts of both. */
enum { APART = 4096 };
/* Time to wait for the lock: a process that was just killed may still hold it. */
enum { LOCK_MS = 2000, LOOK_MS = 20 };

/* Syncs the folder: a new file is lost if its directory entry is not on the disk. */
static bool sync_folder(const char *path)
{
    char copy[1024];
    int folder;
    bool good;
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return false;
    folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    good = fsync(folder) == 0;
    close(folder);
    return good;
}

static bool lock(int file)
{
    struct flock all = {0};
    int waited;
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    for (waited = 0; fcntl(file, F_SETLK, &all) != 0; waited += LOOK_MS) {
        if ((errno != EAGAIN && errno != EACCES) || waited >= LOCK_MS)
            return false;
        poll(NULL, 0, LOOK_MS);
    }
    return true;
}

bool flash_open(struct flash *f, const char *path)
{
    int slot;
    f->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (f->file < 0 || !lock(f->file) || !sync_folder(path))
        return false;
    for (slot = 0; slot < 2; slot++) {
        ssize_t n = pread(f->file, f->record[slot], NYALA_RECORD_BYTES, slot * APART);
        if (n < 0)
            return false;
        f->there[slot] = n >= NYALA_RECORD_1_BYTES;
    }
    return true;
}

bool flash_save(struct flash *f, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES])
{
    ssize_t n;
    do
        n = pwrite(f->file, record, NYALA_RECORD_BYTES, (off_t)slot * APART);
    while (n < 0 && errno == EINTR);
    return n == NYALA_RECORD_BYTES && fdatasync(f->file) == 0;
}
