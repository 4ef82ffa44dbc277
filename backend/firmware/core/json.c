#include "json.h"

#include <string.h>

/* Maximum nesting depth. One bit per level says whether it is an object or an array. */
enum { DEPTH = 16 };

static void skip_space(struct nyala_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
        j->at++;
}

/* The next byte that is not white space; 0 at the end. JSON never allows a byte 0, so 0 is unambiguous. */
static uint8_t peek(struct nyala_json *j)
{
    skip_space(j);
    return j->at < j->end ? *j->at : 0;
}

static bool take(struct nyala_json *j, uint8_t byte)
{
    if (peek(j) != byte)
        return false;
    j->at++;
    return true;
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Skips one non-ASCII character: valid UTF-8, neither overlong nor a surrogate. */
static bool skip_wide(struct nyala_json *j)
{
    uint8_t first = *j->at++;
    uint8_t least = 0x80, most = 0xBF;
    int more;
    if (first >= 0xC2 && first <= 0xDF) {
        more = 1;
    } else if (first >= 0xE0 && first <= 0xEF) {
        more = 2;
        if (first == 0xE0)
            least = 0xA0;
        if (first == 0xED)
            most = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
        more = 3;
        if (first == 0xF0)
            least = 0x90;
        if (first == 0xF4)
            most = 0x8F;
    } else {
        return false;
    }
    for (; more > 0; more--, least = 0x80, most = 0xBF) {
        if (j->at == j->end || *j->at < least || *j->at > most)
            return false;
        j->at++;
    }
    return true;
}

/* Skips a string and returns what is between its quotes. */
static bool text(struct nyala_json *j, const uint8_t **from, size_t *n)
{
    if (!take(j, '"'))
        return false;
    *from = j->at;
    while (j->at < j->end) {
        uint8_t c = *j->at;
        if (c == '"') {
            *n = (size_t)(j->at++ - *from);
            return true;
        }
        if (c < 0x20)
            return false;
        if (c >= 0x80) {
            if (!skip_wide(j))
                return false;
            continue;
        }
        j->at++;
        if (c != '\\')
            continue;
        if (j->at == j->end || *j->at == 0 || !strchr("\"\\/bfnrtu", *j->at))
            return false;
        if (*j->at++ == 'u') {
            int digits;
            for (digits = 0; digits < 4; digits++, j->at++)
                if (j->at == j->end || hex(*j->at) < 0)
                    return false;
        }
    }
    return false;
}

static bool skip_digits(struct nyala_json *j)
{
    const uint8_t *from = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return j->at > from;
}

static bool number(struct nyala_json *j)
{
    if (*j->at == '-')
        j->at++;
    if (j->at < j->end && *j->at == '0')
        j->at++;
    else if (!skip_digits(j))
        return false;
    if (j->at < j->end && *j->at == '.') {
        j->at++;
        if (!skip_digits(j))
            return false;
    }
    if (j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
            j->at++;
        if (!skip_digits(j))
            return false;
    }
    return true;
}

static bool word(struct nyala_json *j, const char *name)
{
    size_t n = strlen(name);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, name, n) != 0)
        return false;
    j->at += n;
    return true;
}

/* Skips a value that is neither an object nor an array. */
static bool plain(struct nyala_json *j, struct nyala_json_member *to)
{
    uint8_t c = peek(j);
    bool whole;
    to->value = j->at;
    if (c == '"') {
        to->kind = NYALA_JSON_TEXT;
        return text(j, &to->value, &to->value_n);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        to->kind = NYALA_JSON_NUMBER;
        whole = number(j);
    } else if (c == 'n') {
        to->kind = NYALA_JSON_NULL;
        whole = word(j, "null");
    } else {
        to->kind = NYALA_JSON_BOOL;
        whole = word(j, "true") || word(j, "false");
    }
    to->value_n = (size_t)(j->at - to->value);
    return whole;
}

/* Skips a member's key and the colon after it. */
static bool key(struct nyala_json *j, const uint8_t **from, size_t *n)
{
    return peek(j) == '"' && text(j, from, n) && take(j, ':');
}

/* Skips an object or an array with its content. It is not recursive, because a small board has a small stack. */
static bool nested(struct nyala_json *j)
{
    uint32_t objects = 0;
    unsigned depth = 0;
    struct nyala_json_member passed;
    for (;;) {
        uint8_t c = peek(j);
        bool closes;
        if (c == '{' || c == '[') {
            if (depth == DEPTH)
                return false;
            j->at++;
            objects = objects << 1 | (c == '{');
            depth++;
            closes = peek(j) == (c == '{' ? '}' : ']');
            if (!closes) {
                if (c == '{' && !key(j, &passed.key, &passed.key_n))
                    return false;
                continue;
            }
        } else if (!plain(j, &passed)) {
            return false;
        }
        /* After a value: its container continues with a comma, or closes and is then a complete value itself. */
        for (;;) {
            bool object = objects & 1;
            c = peek(j);
            if (c == ',') {
                j->at++;
                if (object && !key(j, &passed.key, &passed.key_n))
                    return false;
                break;
            }
            if (c != (object ? '}' : ']'))
                return false;
            j->at++;
            objects >>= 1;
            if (--depth == 0)
                return true;
        }
    }
}

void nyala_json_begin(struct nyala_json *j, const uint8_t *bytes, size_t n)
{
    j->at = bytes;
    j->end = bytes + n;
    j->begun = false;
}

enum nyala_json_step nyala_json_next(struct nyala_json *j, struct nyala_json_member *to)
{
    bool first = !j->begun;
    uint8_t c;
    if (first && !take(j, '{'))
        return NYALA_JSON_MALFORMED;
    j->begun = true;
    if (take(j, '}'))
        return peek(j) == 0 && j->at == j->end ? NYALA_JSON_END : NYALA_JSON_MALFORMED;
    if (!first && !take(j, ','))
        return NYALA_JSON_MALFORMED;
    if (!key(j, &to->key, &to->key_n))
        return NYALA_JSON_MALFORMED;
    c = peek(j);
    if (c != '{' && c != '[')
        return plain(j, to) ? NYALA_JSON_MEMBER : NYALA_JSON_MALFORMED;
    to->kind = NYALA_JSON_NESTED;
    to->value = j->at;
    if (!nested(j))
        return NYALA_JSON_MALFORMED;
    to->value_n = (size_t)(j->at - to->value);
    return NYALA_JSON_MEMBER;
}

bool nyala_json_is(const struct nyala_json_member *m, const char *name)
{
    return m->key_n == strlen(name) && memcmp(m->key, name, m->key_n) == 0;
}

bool nyala_json_whole(const struct nyala_json_member *m, uint64_t *to)
{
    uint64_t n = 0;
    size_t i;
    if (m->kind != NYALA_JSON_NUMBER)
        return false;
    for (i = 0; i < m->value_n; i++) {
        if (m->value[i] < '0' || m->value[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(m->value[i] - '0');
        if (n > NYALA_WHOLE_MAX)
            return false;
    }
    *to = n;
    return true;
}

bool nyala_json_text(const struct nyala_json_member *m, char *to, size_t size)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t i, n = 0;
    if (m->kind != NYALA_JSON_TEXT)
        return false;
    for (i = 0; i < m->value_n; i++) {
        unsigned c = m->value[i];
        if (c == '\\') {
            const char *which;
            c = m->value[++i];
            if (c == 'u') {
                unsigned digits;
                for (c = 0, digits = 0; digits < 4; digits++)
                    c = c << 4 | (unsigned)hex(m->value[++i]);
            } else {
                which = strchr(escapes, (int)c);
                if (!which)
                    return false;
                c = (unsigned char)meant[which - escapes];
            }
        }
        if (c == 0 || c >= 0x80 || n + 1 >= size)
            return false;
        to[n++] = (char)c;
    }
    if (size == 0)
        return false;
    to[n] = 0;
    return true;
}
