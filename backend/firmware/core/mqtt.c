#include "mqtt.h"

#include <string.h>

enum kind { CONNECT = 1, CONNACK, PUBLISH, PUBACK, SUBSCRIBE = 8, SUBACK, PINGREQ = 12, PINGRESP };

/* --- sending --- */

static void put_byte(struct nyala_mqtt *m, unsigned byte)
{
    m->out[m->out_n++] = (uint8_t)byte;
}

static void put_short(struct nyala_mqtt *m, unsigned n)
{
    put_byte(m, n >> 8);
    put_byte(m, n & 255);
}

static void put_bytes(struct nyala_mqtt *m, const void *bytes, size_t n)
{
    memcpy(m->out + m->out_n, bytes, n);
    m->out_n += n;
}

static void put_text(struct nyala_mqtt *m, const char *text, size_t n)
{
    put_short(m, (unsigned)n);
    put_bytes(m, text, n);
}

/* Writes the header of a packet if the whole packet fits. */
static bool begin(struct nyala_mqtt *m, enum kind kind, unsigned flags, size_t n)
{
    size_t header = n < 128 ? 2 : 3;
    if (n > NYALA_PACKET_BYTES - header || header + n > NYALA_MQTT_OUT_BYTES - m->out_n)
        return false;
    put_byte(m, (unsigned)kind << 4 | flags);
    if (n >= 128)
        put_byte(m, 128 | (n & 127));
    put_byte(m, (unsigned)(n < 128 ? n : n >> 7));
    return true;
}

static uint16_t next_id(struct nyala_mqtt *m)
{
    /* MQTT forbids the packet id 0. */
    m->id = (uint16_t)(m->id == UINT16_MAX ? 1 : m->id + 1);
    return m->id;
}

bool nyala_mqtt_connect(struct nyala_mqtt *m, const struct nyala_mqtt_login *login)
{
    size_t id = strlen(login->client_id), user = strlen(login->user), secret = strlen(login->secret), topic = strlen(login->will_topic);
    m->in_n = m->out_n = 0;
    m->done = m->accepted = false;
    if (id > NYALA_PACKET_BYTES || user > NYALA_PACKET_BYTES || secret > NYALA_PACKET_BYTES || topic > NYALA_PACKET_BYTES
        || login->will_n > NYALA_PACKET_BYTES)
        return false;
    if (!begin(m, CONNECT, 0, 10 + 10 + id + topic + login->will_n + user + secret))
        return false;
    put_text(m, "MQTT", 4);
    put_byte(m, 4);
    /* Flags: user, password, a retained will, a clean session. */
    put_byte(m, 0x80 | 0x40 | 0x20 | 0x04 | 0x02);
    put_short(m, login->keep_alive_s);
    put_text(m, login->client_id, id);
    put_text(m, login->will_topic, topic);
    put_text(m, login->will, login->will_n);
    put_text(m, login->user, user);
    put_text(m, login->secret, secret);
    return true;
}

bool nyala_mqtt_subscribe(struct nyala_mqtt *m, const char *topic, uint8_t qos)
{
    size_t n = strlen(topic);
    if (!begin(m, SUBSCRIBE, 2, 2 + 2 + n + 1))
        return false;
    put_short(m, next_id(m));
    put_text(m, topic, n);
    put_byte(m, qos);
    return true;
}

bool nyala_mqtt_publish(struct nyala_mqtt *m, const char *topic, const void *payload, size_t n, uint8_t qos, bool retain)
{
    size_t topic_n = strlen(topic);
    if (n > NYALA_PACKET_BYTES || topic_n > NYALA_PACKET_BYTES)
        return false;
    if (!begin(m, PUBLISH, (unsigned)qos << 1 | retain, 2 + topic_n + (qos ? 2 : 0) + n))
        return false;
    put_text(m, topic, topic_n);
    if (qos)
        put_short(m, next_id(m));
    put_bytes(m, payload, n);
    return true;
}

bool nyala_mqtt_ping(struct nyala_mqtt *m)
{
    return begin(m, PINGREQ, 0, 0);
}

void nyala_mqtt_sent(struct nyala_mqtt *m, size_t n)
{
    m->out_n -= n;
    memmove(m->out, m->out + n, m->out_n);
}

/* --- receiving --- */

/* Length of the packet whose first in_n bytes are received; 0: not known yet, SIZE_MAX: too long or malformed. */
static size_t whole(const struct nyala_mqtt *m, size_t *header)
{
    size_t n = 0, i;
    for (i = 1; i < m->in_n; i++) {
        n |= (size_t)(m->in[i] & 127) << 7 * (i - 1);
        if (!(m->in[i] & 128)) {
            *header = i + 1;
            return n > NYALA_PACKET_BYTES - *header ? SIZE_MAX : *header + n;
        }
        /* A packet of at most 512 bytes has its length in two bytes. */
        if (i == 2)
            return SIZE_MAX;
    }
    return 0;
}

static unsigned get_short(const uint8_t *from)
{
    return (unsigned)from[0] << 8 | from[1];
}

static enum nyala_mqtt_event publish(struct nyala_mqtt *m, unsigned flags, const uint8_t *body, size_t n, struct nyala_mqtt_message *to)
{
    unsigned qos = flags >> 1 & 3;
    size_t at;
    if (qos > 1 || n < 2 || n - 2 < get_short(body) || get_short(body) == 0)
        return NYALA_MQTT_VIOLATION;
    to->topic = body + 2;
    to->topic_n = get_short(body);
    to->retained = flags & 1;
    at = 2 + to->topic_n;
    if (qos) {
        if (n - at < 2 || get_short(body + at) == 0 || !begin(m, PUBACK, 0, 2))
            return NYALA_MQTT_VIOLATION;
        put_bytes(m, body + at, 2);
        at += 2;
    }
    to->payload = body + at;
    to->payload_n = n - at;
    return NYALA_MQTT_MESSAGE;
}

static enum nyala_mqtt_event packet(struct nyala_mqtt *m, size_t header, struct nyala_mqtt_message *message)
{
    unsigned kind = m->in[0] >> 4, flags = m->in[0] & 15;
    const uint8_t *body = m->in + header;
    size_t n = m->in_n - header;
    if ((kind == CONNACK) == m->accepted || (kind != PUBLISH && flags != 0))
        return NYALA_MQTT_VIOLATION;
    switch (kind) {
    case CONNACK:
        /* The login asks for a clean session, so the server must not report an old one as present. */
        if (n != 2 || body[0] != 0 || body[1] > 5)
            return NYALA_MQTT_VIOLATION;
        m->accepted = body[1] == 0;
        return m->accepted ? NYALA_MQTT_ACCEPTED : NYALA_MQTT_REFUSED;
    case PUBLISH:
        return publish(m, flags, body, n, message);
    case PUBACK:
        return n == 2 ? NYALA_MQTT_ARRIVED : NYALA_MQTT_VIOLATION;
    case SUBACK:
        /* Each SUBSCRIBE has one topic, so its SUBACK has one result. */
        if (n != 3 || (body[2] > 1 && body[2] != 0x80))
            return NYALA_MQTT_VIOLATION;
        return body[2] == 0x80 ? NYALA_MQTT_DENIED : NYALA_MQTT_GRANTED;
    case PINGRESP:
        return n == 0 ? NYALA_MQTT_PONG : NYALA_MQTT_VIOLATION;
    default:
        return NYALA_MQTT_VIOLATION;
    }
}

enum nyala_mqtt_event nyala_mqtt_feed(struct nyala_mqtt *m, const uint8_t **bytes, size_t *n, struct nyala_mqtt_message *message)
{
    if (m->done)
        m->in_n = 0;
    m->done = false;
    while (*n > 0) {
        size_t header = 0, length;
        m->in[m->in_n++] = *(*bytes)++;
        (*n)--;
        length = whole(m, &header);
        if (length == SIZE_MAX)
            return NYALA_MQTT_VIOLATION;
        if (length == m->in_n) {
            m->done = true;
            return packet(m, header, message);
        }
    }
    return NYALA_MQTT_NOTHING;
}
