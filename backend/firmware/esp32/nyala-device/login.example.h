// Copy to login.h. `nyala device add` prints the values of NYALA_*.
#define WIFI_NAME "outlet"
#define WIFI_PASSWORD "password"
#define NYALA_HOST "192.168.1.10"
#define NYALA_PORT 1883
#define NYALA_USER "7"
#define NYALA_SECRET "00000000000000000000000000000000"
#define NYALA_IDOUTLET 3
#define NYALA_IDMESIN 7
// `ca` as printed, or nullptr without TLS:
// static const char NYALA_CA[] = "-----BEGIN CERTIFICATE-----\n…";
static const char *const NYALA_CA = nullptr;
