#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "nyala-device --login FILE --relay FILE|--relay-command COMMAND|--pulse FILE|--pulse-command COMMAND [options]\n"
    "\n"
    "  --login FILE             the line of JSON that `nyala device add` prints; or these five:\n"
    "  --host, --port, --user, --outlet, --machine, and the secret in NYALA_DEVICE_SECRET\n"
    "  --ca FILE                PEM of the authority behind the server's TLS; the login's otherwise\n"
    "  --journal FILE           what outlives the power (nyala-MACHINE.journal)\n"
    "  --relay FILE             1 or 0 and a new line are written into it: a file, or a GPIO's `value`\n"
    "  --relay-command COMMAND  run by sh with NYALA_RELAY=1 or 0; it has two seconds\n"
    "  --pulse FILE             coin contact: 1 and 0 are written into it for each pulse\n"
    "  --pulse-command COMMAND  the same, run by sh with NYALA_PULSE=1 or 0; its own time makes a pulse longer\n"
    "  --running-contact FILE   begins with 1 while the machine runs by its own word\n"
    "  --running-seconds N      how long a start waits for that (5, at most 30)\n"
    "  --fault FILE             begins with 1 while the machine is faulty\n"
    "  --sense FILE             begins with 1 while the machine runs its cycle: a machine that pulses start\n"
    "  --coin FILE              begins with 1 while a coin passes, 10 ms at least\n"
    "\n"
    "Each of them can be in the environment: --relay-command is NYALA_DEVICE_RELAY_COMMAND. What is empty is not there.\n";

enum name { LOGIN, HOST, PORT, USER, OUTLET, MACHINE, CA, JOURNAL, RELAY, RELAY_COMMAND, PULSE, PULSE_COMMAND, CONTACT, SECONDS, FAULT, SENSE, COIN, NAMES };

static const char *const NAME[NAMES] = {"login",         "host",  "port",          "user",            "outlet",          "machine",
                                        "ca",            "journal", "relay",       "relay-command",   "pulse",           "pulse-command",
                                        "running-contact", "running-seconds", "fault", "sense",       "coin"};

static void stop(const char *format, ...)
{
    va_list values;
    fputs("nyala-device: ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputs("\nnyala-device --help tells more\n", stderr);
    exit(2);
}

static void copy(char *to, size_t size, const char *from, const char *what)
{
    if (strlen(from) >= size)
        stop("%s is longer than %zu bytes", what, size - 1);
    memcpy(to, from, strlen(from) + 1);
}

static uint64_t number(const char *text, uint64_t most, const char *what)
{
    char *end;
    unsigned long long n;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n > most)
        stop("%s is no number up to %llu: %s", what, (unsigned long long)most, text);
    return n;
}

/* Content of a file, with a NUL at the end. */
static size_t contents(const char *path, char *to, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t n;
    if (!file)
        stop("%s: %s", path, strerror(errno));
    n = fread(to, 1, size, file);
    if (ferror(file) || n == size)
        stop("%s cannot be read, or has %zu bytes or more", path, size);
    fclose(file);
    to[n] = 0;
    return n;
}

static void read_login(struct options *o, const char *path)
{
    static char text[CA_BYTES * 2];
    struct nyala_json json;
    struct nyala_json_member m;
    enum nyala_json_step step;
    uint64_t port = 0;
    bool good = true;
    nyala_json_begin(&json, (const uint8_t *)text, contents(path, text, sizeof text));
    while (good && (step = nyala_json_next(&json, &m)) != NYALA_JSON_END) {
        if (step == NYALA_JSON_MALFORMED)
            good = false;
        else if (nyala_json_is(&m, "user"))
            good = nyala_json_text(&m, o->login.user, sizeof o->login.user);
        else if (nyala_json_is(&m, "secret"))
            good = nyala_json_text(&m, o->login.secret, sizeof o->login.secret);
        else if (nyala_json_is(&m, "host"))
            good = nyala_json_text(&m, o->host, sizeof o->host);
        else if (nyala_json_is(&m, "port"))
            good = nyala_json_whole(&m, &port) && port <= UINT16_MAX;
        else if (nyala_json_is(&m, "idoutlet"))
            good = nyala_json_whole(&m, &o->login.idoutlet);
        else if (nyala_json_is(&m, "idmesin"))
            good = nyala_json_whole(&m, &o->login.idmesin);
        else if (nyala_json_is(&m, "ca") && m.kind != NYALA_JSON_NULL)
            good = nyala_json_text(&m, o->ca, sizeof o->ca);
    }
    if (!good)
        stop("%s is not what `nyala device add` prints", path);
    o->port = (uint16_t)port;
}

/* The value of one option, by its argument or by the environment. */
static const char *find(enum name name, int argc, char **argv)
{
    char variable[40] = "NYALA_DEVICE_";
    const char *value = NULL;
    size_t n = strlen(NAME[name]), at = strlen(variable), i;
    int arg;
    for (arg = 1; arg < argc; arg++) {
        if (strncmp(argv[arg], "--", 2) != 0)
            continue;
        if (strcmp(argv[arg] + 2, NAME[name]) == 0 && arg + 1 < argc)
            value = argv[arg + 1];
        else if (strncmp(argv[arg] + 2, NAME[name], n) == 0 && argv[arg][2 + n] == '=')
            value = argv[arg] + 2 + n + 1;
    }
    if (value)
        return *value ? value : NULL;
    for (i = 0; i <= n; i++)
        variable[at + i] = (char)(NAME[name][i] == '-' ? '_' : NAME[name][i] >= 'a' ? NAME[name][i] - 'a' + 'A' : NAME[name][i]);
    value = getenv(variable);
    return value && *value ? value : NULL;
}

/* Ends the program on an unknown argument, or on one without its value. */
static void check_arguments(int argc, char **argv)
{
    int arg;
    for (arg = 1; arg < argc; arg++) {
        int name;
        size_t n;
        if (strcmp(argv[arg], "--help") == 0) {
            fputs(USAGE, stdout);
            exit(0);
        }
        n = strcspn(argv[arg], "=");
        for (name = 0; name < NAMES; name++)
            if (strncmp(argv[arg], "--", 2) == 0 && strlen(NAME[name]) + 2 == n && strncmp(argv[arg] + 2, NAME[name], n - 2) == 0)
                break;
        if (name == NAMES)
            stop("%s is not known", argv[arg]);
        if (!argv[arg][n] && ++arg == argc)
            stop("%s needs a value", argv[arg - 1]);
    }
}

void options_read(struct options *o, int argc, char **argv)
{
    const char *value[NAMES], *secret = getenv("NYALA_DEVICE_SECRET");
    int name;
    memset(o, 0, sizeof *o);
    check_arguments(argc, argv);
    for (name = 0; name < NAMES; name++)
        value[name] = find((enum name)name, argc, argv);
    if (value[LOGIN])
        read_login(o, value[LOGIN]);
    if (value[HOST])
        copy(o->host, sizeof o->host, value[HOST], "--host");
    if (value[PORT])
        o->port = (uint16_t)number(value[PORT], UINT16_MAX, "--port");
    if (value[USER])
        copy(o->login.user, sizeof o->login.user, value[USER], "--user");
    if (value[OUTLET])
        o->login.idoutlet = number(value[OUTLET], NYALA_WHOLE_MAX, "--outlet");
    if (value[MACHINE])
        o->login.idmesin = number(value[MACHINE], NYALA_WHOLE_MAX, "--machine");
    /* The secret is no argument, because every user of the computer can read those. */
    if (secret && *secret)
        copy(o->login.secret, sizeof o->login.secret, secret, "NYALA_DEVICE_SECRET");
    if (value[CA])
        contents(value[CA], o->ca, sizeof o->ca);
    if (!*o->host || !o->port || !*o->login.user || !*o->login.secret || !o->login.idoutlet || !o->login.idmesin)
        stop("a login is missing, or a part of it");
    o->relay = value[RELAY];
    o->relay_command = value[RELAY_COMMAND];
    o->pulse = value[PULSE];
    o->pulse_command = value[PULSE_COMMAND];
    if ((o->relay && o->relay_command) || (o->pulse && o->pulse_command))
        stop("an output is either a file or a command");
    if (!o->relay && !o->relay_command && !o->pulse && !o->pulse_command)
        stop("a relay or a coin contact is needed");
    o->running_contact = value[CONTACT];
    o->fault = value[FAULT];
    o->sense = value[SENSE];
    o->coin = value[COIN];
    if (o->running_contact)
        o->contact_ms = (uint32_t)number(value[SECONDS] ? value[SECONDS] : "5", NYALA_CONTACT_MAX_MS / 1000, "--running-seconds") * 1000;
    if (o->running_contact && o->contact_ms == 0)
        stop("--running-seconds is 0");
    if (value[JOURNAL])
        copy(o->journal, sizeof o->journal, value[JOURNAL], "--journal");
    else
        snprintf(o->journal, sizeof o->journal, "nyala-%llu.journal", (unsigned long long)o->login.idmesin);
}
