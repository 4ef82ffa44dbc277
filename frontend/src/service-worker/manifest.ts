/** The web app manifest: name, icons and start page of an installed Nyala. */
export const manifest = {
  id: '/',
  name: 'Nyala',
  short_name: 'Nyala',
  description:
    'Nyalakan mesin laundry dengan ponsel: pindai, bayar dari saldo E-Pay, dan pantau sisa waktunya.',
  lang: 'id',
  dir: 'ltr' as const,
  categories: ['lifestyle', 'utilities'],
  // Without a login the guard redirects to the welcome screen.
  start_url: '/dashboard',
  scope: '/',
  display: 'standalone' as const,
  orientation: 'portrait' as const,
  theme_color: '#F7F6F2',
  background_color: '#F7F6F2',
  icons: [
    { src: '/icons/icon-192.png', sizes: '192x192', type: 'image/png' },
    { src: '/icons/icon-512.png', sizes: '512x512', type: 'image/png' },
    { src: '/icons/maskable-192.png', sizes: '192x192', type: 'image/png', purpose: 'maskable' },
    { src: '/icons/maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
  ],
  shortcuts: [
    { name: 'Scan mesin', short_name: 'Scan', url: '/scanPage' },
    { name: 'Top Up saldo', short_name: 'Top Up', url: '/topUpPage' },
    { name: 'Riwayat transaksi', short_name: 'Riwayat', url: '/riwayatPage' },
  ],
}
