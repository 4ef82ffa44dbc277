#include "journal.h"

#include <string.h>

/* Followed by the version of the record. */
static const uint8_t MAGIC[3] = {'N', 'Y', 'J'};

/* CRC-32 of IEEE 802.3. No table is needed: a record is written only a few times an hour. */
static uint32_t checksum(const uint8_t *bytes, size_t n)
{
    uint32_t crc = 0xFFFFFFFFu;
    int bit;
    while (n-- > 0) {
        crc ^= *bytes++;
        for (bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static uint8_t *put(uint8_t *to, uint64_t n, int bytes)
{
    for (; bytes > 0; bytes--, n >>= 8)
        *to++ = (uint8_t)n;
    return to;
}

static uint64_t get(const uint8_t **from, int bytes)
{
    uint64_t n = 0;
    int i;
    for (i = 0; i < bytes; i++)
        n |= (uint64_t)(*from)[i] << 8 * i;
    *from += bytes;
    return n;
}

void nyala_journal_write(const struct nyala_journal *j, uint8_t record[NYALA_RECORD_BYTES])
{
    uint8_t *to = record;
    int i;
    memcpy(to, MAGIC, sizeof MAGIC);
    to = put(to + sizeof MAGIC, 2, 1);
    to = put(to, j->number, 8);
    to = put(to, j->epoch, 8);
    to = put(to, j->rest_ms, 4);
    to = put(to, j->last, 1);
    to = put(to, j->resumed, 1);
    for (i = 0; i < NYALA_KNOWN; i++) {
        memcpy(to, j->known[i].id, NYALA_ID_BYTES);
        to = put(to + NYALA_ID_BYTES, j->known[i].result, 1);
    }
    to = put(to, j->coins, 4);
    to = put(to, j->duration_s, 4);
    to = put(to, j->sense_s, 2);
    to = put(to, j->tambah_s, 2);
    to = put(to, j->high_ms, 2);
    to = put(to, j->risen, 1);
    put(to, checksum(record, NYALA_RECORD_BYTES - 4), 4);
}

static bool runs(const struct nyala_known *known)
{
    return known->result == NYALA_STARTED || known->result == NYALA_TRYING || known->result == NYALA_PULSING
        || known->result == NYALA_CREDITED;
}

/* True if nyala_journal_write of this version or of version 1 made the record and it is complete. */
static bool read_one(struct nyala_journal *j, const uint8_t *record)
{
    const uint8_t *from = record + sizeof MAGIC;
    bool first = *from++ == 1;
    size_t n = (first ? NYALA_RECORD_1_BYTES : NYALA_RECORD_BYTES) - 4;
    const uint8_t *sum = record + n;
    int i, running = 0;
    if (memcmp(record, MAGIC, sizeof MAGIC) != 0 || record[sizeof MAGIC] < 1 || record[sizeof MAGIC] > 2
        || get(&sum, 4) != checksum(record, n))
        return false;
    memset(j, 0, sizeof *j);
    j->number = get(&from, 8);
    j->epoch = get(&from, 8);
    j->rest_ms = (uint32_t)get(&from, 4);
    j->last = (uint8_t)get(&from, 1);
    j->resumed = (uint8_t)get(&from, 1);
    for (i = 0; i < NYALA_KNOWN; i++) {
        memcpy(j->known[i].id, from, NYALA_ID_BYTES);
        from += NYALA_ID_BYTES;
        j->known[i].result = (uint8_t)get(&from, 1);
        running += runs(&j->known[i]);
        if (j->known[i].result > (first ? NYALA_DONE : NYALA_CUT))
            return false;
    }
    if (!first) {
        j->coins = (uint32_t)get(&from, 4);
        j->duration_s = (uint32_t)get(&from, 4);
        j->sense_s = (uint16_t)get(&from, 2);
        j->tambah_s = (uint16_t)get(&from, 2);
        j->high_ms = (uint16_t)get(&from, 2);
        j->risen = get(&from, 1) != 0;
    }
    return j->last < NYALA_KNOWN && j->epoch <= NYALA_WHOLE_MAX && j->rest_ms <= NYALA_LONGEST_RUN_S * 1000u && running <= 1
        && j->duration_s <= NYALA_LONGEST_RUN_S && j->tambah_s <= NYALA_LONGEST_WAIT_S;
}

int nyala_journal_read(struct nyala_journal *j, const uint8_t *first, const uint8_t *second)
{
    struct nyala_journal other;
    bool one = first && read_one(j, first);
    bool two = second && read_one(&other, second);
    if (two && (!one || other.number > j->number)) {
        *j = other;
        return 1;
    }
    if (one)
        return 0;
    memset(j, 0, sizeof *j);
    return -1;
}

int nyala_journal_running(const struct nyala_journal *j)
{
    int i;
    for (i = 0; i < NYALA_KNOWN; i++)
        if (runs(&j->known[i]))
            return i;
    return -1;
}
