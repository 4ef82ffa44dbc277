/* Core as a process, for tests in other languages. It reads lines from standard input and answers each with what the core does, in
 * order. It depends on its input only: the same lines give the same answers.
 *
 *   boot UP_MS BOOT_ID CONTACT_MS   the power is on; CONTACT_MS 0: no running contact. Any of these may follow: `pulse`, `sense`,
 *                                   `coin`: what the board can, and `reset=WHY`: why it booted
 *   off                             the power is gone; the flash stays
 *   blank                           the flash is empty, as in a new device; only while the power is off
 *   link UP_MS                      a connection begins
 *   subscribed UP_MS                SUBACK was received
 *   unlink UP_MS                    the connection is over
 *   cmd UP_MS JSON                  published to `cmd`; JSON is the rest of the line
 *   kept UP_MS JSON                 the same with RETAIN
 *   contact UP_MS 0|1               the running contact
 *   fault UP_MS 0|1                 the fault contact
 *   pulsed UP_MS                    all pulses are sent, and the last gap is over
 *   sense UP_MS 0|1                 raw level of the sensor
 *   coin UP_MS                      a coin fell
 *   rssi DBM                        for the next heartbeat
 *   tick UP_MS                      time passes
 *   end UP_MS                       orderly end of the program
 *   flash ok|broken|torn|unsure     how records are saved from now on (tests/rig.h)
 *   relay ok|broken                 whether the relay obeys from now on
 *   pulse ok|broken                 whether pulses can be sent from now on
 *
 * The answer is any number of lines
 *
 *   journal SLOT ok|failed          a record was saved, or could not be
 *   relay on|off [failed]           the relay was switched, or could not be
 *   pulse N WIDTH_MS GAP_MS [failed]  pulses begin, or could not; `pulsed` tells the core when they are over
 *   ack JSON, state JSON, hb JSON   published, if there is a connection
 *   gone JSON                       the last will of the connection that begins
 *   ignored                         the command is ignored
 *
 * and a last one: `. UP_MS`, the latest time for the next `tick`, or `. -` for no limit. Any other input line ends the process with
 * exit code 2. UP_MS never goes back within a boot; a smaller one counts as the previous one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum { LINE_BYTES = 4096 };

static struct rig rig;
static bool on;
/* The device does not copy it. */
static char reset[LINE_BYTES];

static int one_of(const char *word, const char *const *words, int n)
{
    int i;
    for (i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* Reads what may follow the numbers of `boot`. */
static bool read_abilities(char *words, struct nyala_setup *setup)
{
    char *word;
    rig.pulse = false;
    for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "pulse") == 0)
            rig.pulse = true;
        else if (strcmp(word, "sense") == 0)
            setup->sense = true;
        else if (strcmp(word, "coin") == 0)
            setup->coin = true;
        else if (strncmp(word, "reset=", 6) == 0)
            setup->reset = strcpy(reset, word + 6);
        else
            return false;
    }
    return true;
}

/* False: not a line of the protocol, or not allowed in this state. */
static bool obey(char *line)
{
    static const char *const flash[] = {"ok", "broken", "torn", "unsure"};
    struct nyala_device *d = &rig.device;
    char verb[16], word[16];
    uint64_t up_ms = 0;
    long long number = 0;
    int at = 0;
    if (sscanf(line, "%15s", verb) != 1)
        return false;
    if (strcmp(verb, "flash") == 0) {
        int mode = sscanf(line, "%*s %15s", word) == 1 ? one_of(word, flash, 4) : -1;
        rig.flash = mode < 0 ? FLASH_OK : (enum rig_flash)mode;
        return mode >= 0;
    }
    if (strcmp(verb, "relay") == 0 || strcmp(verb, "pulse") == 0) {
        bool *broken = *verb == 'r' ? &rig.relay_broken : &rig.pulse_broken;
        if (sscanf(line, "%*s %15s", word) != 1)
            return false;
        *broken = strcmp(word, "broken") == 0;
        return *broken || strcmp(word, "ok") == 0;
    }
    if (strcmp(verb, "boot") == 0) {
        struct nyala_setup setup = {0, 0, "core", "stdio", NULL, false, false};
        if (on || sscanf(line, "%*s %" SCNu64 " %" SCNu32 " %" SCNu32 "%n", &up_ms, &setup.boot_id, &setup.contact_ms, &at) != 3
            || !read_abilities(line + at, &setup))
            return false;
        on = true;
        rig_boot(&rig, &setup, up_ms);
        return true;
    }
    if (strcmp(verb, "blank") == 0) {
        rig.there[0] = rig.there[1] = false;
        return !on;
    }
    if (!on)
        return false;
    if (strcmp(verb, "off") == 0) {
        rig_off(&rig);
        on = false;
        return true;
    }
    if (strcmp(verb, "rssi") == 0) {
        if (sscanf(line, "%*s %lld", &number) != 1)
            return false;
        nyala_device_rssi(d, (int32_t)number);
        return true;
    }
    if (sscanf(line, "%*s %" SCNu64 "%n", &up_ms, &at) != 1)
        return false;
    if (strcmp(verb, "cmd") == 0 || strcmp(verb, "kept") == 0) {
        /* Copied to a heap block of exactly n bytes, so that the sanitizer notices a read beyond it. */
        const char *json = line[at] == ' ' ? line + at + 1 : line + at;
        size_t n = strlen(json);
        uint8_t *copy = malloc(n ? n : 1);
        if (!copy)
            return false;
        memcpy(copy, json, n);
        if (!nyala_device_hear(d, copy, n, verb[0] == 'k', up_ms))
            puts("ignored");
        free(copy);
        return true;
    }
    if (strcmp(verb, "link") == 0) {
        char gone[NYALA_WORD_BYTES];
        nyala_device_linked(d, up_ms);
        printf("gone %.*s\n", (int)nyala_device_gone(d, gone), gone);
    } else if (strcmp(verb, "subscribed") == 0) {
        nyala_device_subscribed(d, up_ms);
    } else if (strcmp(verb, "unlink") == 0) {
        nyala_device_unlinked(d, up_ms);
    } else if (strcmp(verb, "tick") == 0) {
        nyala_device_tick(d, up_ms);
    } else if (strcmp(verb, "pulsed") == 0) {
        nyala_device_pulsed(d, up_ms);
    } else if (strcmp(verb, "coin") == 0) {
        nyala_device_coin(d, up_ms);
    } else if (strcmp(verb, "end") == 0) {
        nyala_device_end(d, up_ms);
    } else {
        if (sscanf(line + at, "%lld", &number) != 1 || number < 0 || number > 1)
            return false;
        if (strcmp(verb, "contact") == 0)
            nyala_device_contact(d, number == 1, up_ms);
        else if (strcmp(verb, "fault") == 0)
            nyala_device_fault(d, number == 1, up_ms);
        else if (strcmp(verb, "sense") == 0)
            nyala_device_sense(d, number == 1, up_ms);
        else
            return false;
    }
    return true;
}

int main(void)
{
    static char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        rig_read(&rig);
        if (!obey(line)) {
            fprintf(stderr, "core-stdio: %s\n", line);
            return 2;
        }
        fputs(rig.log, stdout);
        if (on && nyala_device_wake(&rig.device) != NYALA_NEVER)
            printf(". %" PRIu64 "\n", nyala_device_wake(&rig.device));
        else
            puts(". -");
        fflush(stdout);
    }
    return 0;
}
