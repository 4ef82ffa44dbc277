// Device program for the ESP32 (docs/devices.md): the core of this folder with WiFi, NVS as flash, and two pins.
//
// NOT COMPILED HERE: this checkout builds and tests only the core, not this file. Try it on a bench, with a lamp as the machine,
// before it is near mains. Written for the Arduino core for ESP32 3.x. `make esp32` in backend/firmware copies the sketch and the
// core into a folder that the Arduino IDE opens; fill in login.h beside it.
#include <Preferences.h>
#include <WiFi.h>
#include <WiFiClientSecure.h>
#include <esp_random.h>
#include <esp_task_wdt.h>
#include <esp_timer.h>

extern "C" {
#include "src/line.h"
}

#include "login.h"

// Most relay modules close at LOW; then set RELAY_ON to LOW.
constexpr int RELAY_PIN = 26;
constexpr int RELAY_ON = HIGH;
// Running contact: an optocoupler pulls it to ground while the machine runs. -1: no contact, each start counts as running.
constexpr int RUNNING_PIN = -1;
constexpr uint32_t RUNNING_WITHIN_MS = 5000;
// An optocoupler behind a mains lamp gives a pulse in each half wave. Without a pulse for this long, the lamp is off.
constexpr uint32_t PULSE_MS = 50;
// A loop that takes longer is stuck, and the board restarts: the relay opens, and the journal closes it again.
constexpr uint32_t WATCHDOG_MS = 30000;
// Time limit of the TCP connection, and of the TLS handshake. The core has its own limits for what follows.
constexpr int32_t CONNECT_MS = 4000;

static nyala_line line;
static Preferences flash;
static WiFiClient plain;
static WiFiClientSecure secure;
// Received bytes that the core has not consumed.
static uint8_t in[256];
static size_t inN = 0;
static bool open_ = false;

static uint64_t upMs() { return (uint64_t)(esp_timer_get_time() / 1000); }

static WiFiClient &client() {
    if (NYALA_CA) return secure;
    return plain;
}

// --- functions that the core needs from a board ---

static const char *slotName(unsigned slot) { return slot == 0 ? "a" : "b"; }

// NVS writes the new value before it erases the old one, and returns once it is on flash.
static bool save(void *, unsigned slot, const uint8_t *record) {
    return flash.putBytes(slotName(slot), record, NYALA_RECORD_BYTES) == NYALA_RECORD_BYTES;
}

static void setRelay(bool on) { digitalWrite(RELAY_PIN, on == (RELAY_ON == HIGH) ? HIGH : LOW); }

// Timer that opens the relay at the end of the run, even while the loop waits for a connection.
static esp_timer_handle_t runEnds;

static bool relay(void *, bool on) {
    esp_timer_stop(runEnds);
    uint64_t now = upMs(), ends = line.device.ends_ms;
    if (on && esp_timer_start_once(runEnds, (ends > now ? ends - now : 0) * 1000) != ESP_OK) return false;
    setRelay(on);
    return true;
}

static const uint8_t *load(unsigned slot, uint8_t *to) {
    if (flash.getBytesLength(slotName(slot)) != NYALA_RECORD_BYTES) return nullptr;
    return flash.getBytes(slotName(slot), to, NYALA_RECORD_BYTES) == NYALA_RECORD_BYTES ? to : nullptr;
}

// --- the running contact ---

static volatile uint32_t pulseAt = 0;
static volatile bool pulsed = false;

static void IRAM_ATTR onPulse() {
    pulseAt = millis();
    pulsed = true;
}

// A contact that stays closed gives no further edges; a lamp on mains gives only edges. Both count as running.
static bool runs() { return digitalRead(RUNNING_PIN) == LOW || (pulsed && millis() - pulseAt < PULSE_MS); }

static void look() {
    static bool told = false, seen = false;
    static uint32_t since = 0;
    if (RUNNING_PIN < 0) return;
    bool now = runs();
    if (now != seen) {
        seen = now;
        since = millis();
    }
    if (pulsed && millis() - pulseAt >= PULSE_MS) pulsed = false;
    if (seen != told && millis() - since >= PULSE_MS) {
        told = seen;
        nyala_device_contact(&line.device, told, upMs());
    }
}

// --- the connection ---

static void close_() {
    client().stop();
    open_ = false;
    inN = 0;
    nyala_line_closed(&line, upMs());
}

static void obey() {
    switch (nyala_line_tick(&line, upMs())) {
    case NYALA_WANT_OPEN:
        // Blocks for CONNECT_MS, as long again for a TLS handshake, and for the name lookup. The watchdog's limit is longer.
        esp_task_wdt_reset();
        if (WiFi.status() == WL_CONNECTED && client().connect(NYALA_HOST, NYALA_PORT, CONNECT_MS)) {
            open_ = true;
            nyala_line_opened(&line, upMs());
        } else {
            close_();
        }
        break;
    case NYALA_WANT_CLOSE:
        close_();
        break;
    case NYALA_WANT_NOTHING:
        break;
    }
}

static void serve() {
    if (!open_) return;
    if (line.mqtt.out_n > 0) {
        size_t n = client().write(line.mqtt.out, line.mqtt.out_n);
        nyala_mqtt_sent(&line.mqtt, n < line.mqtt.out_n ? n : line.mqtt.out_n);
    }
    if (inN == 0 && client().available() > 0) {
        int n = client().read(in, sizeof in);
        inN = n > 0 ? (size_t)n : 0;
    }
    if (inN > 0) {
        size_t taken = nyala_line_take(&line, in, inN, upMs());
        memmove(in, in + taken, inN - taken);
        inN -= taken;
    } else if (!client().connected()) {
        close_();
    }
}

void setup() {
    // First of all: until this line, only the board's resistor sets the level of the pin.
    setRelay(false);
    pinMode(RELAY_PIN, OUTPUT);
    esp_timer_create_args_t opens = {};
    opens.callback = [](void *) { setRelay(false); };
    opens.name = "run ends";
    ESP_ERROR_CHECK(esp_timer_create(&opens, &runEnds));
    if (RUNNING_PIN >= 0) {
        pinMode(RUNNING_PIN, INPUT_PULLUP);
        attachInterrupt(digitalPinToInterrupt(RUNNING_PIN), onPulse, FALLING);
    }
    Serial.begin(115200);

    esp_task_wdt_config_t watchdog = {};
    watchdog.timeout_ms = WATCHDOG_MS;
    watchdog.trigger_panic = true;
    if (esp_task_wdt_reconfigure(&watchdog) != ESP_OK) esp_task_wdt_init(&watchdog);
    esp_task_wdt_add(nullptr);

    WiFi.mode(WIFI_STA);
    WiFi.setAutoReconnect(true);
    WiFi.begin(WIFI_NAME, WIFI_PASSWORD);
    if (NYALA_CA) secure.setCACert(NYALA_CA);
    secure.setHandshakeTimeout(CONNECT_MS / 1000);

    flash.begin("nyala", false);
    uint8_t first[NYALA_RECORD_BYTES], second[NYALA_RECORD_BYTES];
    nyala_login login = {};
    snprintf(login.user, sizeof login.user, "%s", NYALA_USER);
    snprintf(login.secret, sizeof login.secret, "%s", NYALA_SECRET);
    login.idoutlet = NYALA_IDOUTLET;
    login.idmesin = NYALA_IDMESIN;
    nyala_board board = {nullptr, save, relay, nullptr};
    // esp_random is truly random only while the radio is on, which it is here.
    nyala_setup setup = {esp_random(), RUNNING_PIN >= 0 ? RUNNING_WITHIN_MS : 0, "nyala-device 1", "esp32"};
    nyala_line_boot(&line, &login, &board, &setup, load(0, first), load(1, second), esp_random(), upMs());
}

void loop() {
    esp_task_wdt_reset();
    look();
    if (WiFi.status() == WL_CONNECTED) nyala_device_rssi(&line.device, WiFi.RSSI());
    obey();
    serve();
    delay(2);
}
