export type Zone = 'Asia/Jakarta' | 'Asia/Makassar' | 'Asia/Jayapura'

export interface Town {
  name: string
  latitude: number
  longitude: number
  zone: Zone
}

const west = 'Asia/Jakarta'
const middle = 'Asia/Makassar'
const east = 'Asia/Jayapura'

const at = (name: string, latitude: number, longitude: number, zone: Zone): Town => ({
  name,
  latitude,
  longitude,
  zone,
})

/** Where an outlet may be: the customers' app needs coordinates, and an owner knows the town. */
export const TOWNS: readonly Town[] = [
  at('Ambon', -3.695, 128.181, east),
  at('Balikpapan', -1.268, 116.829, middle),
  at('Banda Aceh', 5.548, 95.324, west),
  at('Bandar Lampung', -5.429, 105.262, west),
  at('Bandung', -6.915, 107.61, west),
  at('Banjarmasin', -3.319, 114.591, middle),
  at('Batam', 1.13, 104.053, west),
  at('Bekasi', -6.238, 106.976, west),
  at('Bengkulu', -3.796, 102.259, west),
  at('Bogor', -6.597, 106.806, west),
  at('Cimahi', -6.872, 107.542, west),
  at('Cirebon', -6.732, 108.552, west),
  at('Denpasar', -8.67, 115.213, middle),
  at('Depok', -6.402, 106.794, west),
  at('Gorontalo', 0.543, 123.057, middle),
  at('Jakarta', -6.2, 106.817, west),
  at('Jambi', -1.61, 103.613, west),
  at('Jayapura', -2.533, 140.718, east),
  at('Jember', -8.172, 113.7, west),
  at('Karawang', -6.301, 107.305, west),
  at('Kediri', -7.848, 112.018, west),
  at('Kendari', -3.998, 122.513, middle),
  at('Kupang', -10.178, 123.607, middle),
  at('Madiun', -7.63, 111.523, west),
  at('Magelang', -7.47, 110.218, west),
  at('Makassar', -5.148, 119.432, middle),
  at('Malang', -7.967, 112.633, west),
  at('Mamuju', -2.679, 118.889, middle),
  at('Manado', 1.475, 124.842, middle),
  at('Manokwari', -0.861, 134.062, east),
  at('Mataram', -8.584, 116.116, middle),
  at('Medan', 3.595, 98.672, west),
  at('Merauke', -8.499, 140.405, east),
  at('Padang', -0.947, 100.417, west),
  at('Palangka Raya', -2.21, 113.92, west),
  at('Palembang', -2.99, 104.757, west),
  at('Palu', -0.898, 119.871, middle),
  at('Pangkalpinang', -2.132, 106.117, west),
  at('Pekanbaru', 0.507, 101.448, west),
  at('Pontianak', -0.026, 109.343, west),
  at('Purwokerto', -7.424, 109.24, west),
  at('Salatiga', -7.331, 110.508, west),
  at('Samarinda', -0.502, 117.154, middle),
  at('Semarang', -6.967, 110.417, west),
  at('Serang', -6.12, 106.15, west),
  at('Sidoarjo', -7.447, 112.718, west),
  at('Sorong', -0.877, 131.256, east),
  at('Sukabumi', -6.924, 106.928, west),
  at('Surabaya', -7.258, 112.752, west),
  at('Surakarta', -7.567, 110.828, west),
  at('Tangerang', -6.178, 106.63, west),
  at('Tangerang Selatan', -6.289, 106.718, west),
  at('Tanjung Pinang', 0.918, 104.458, west),
  at('Tanjung Selor', 2.837, 117.365, middle),
  at('Tasikmalaya', -7.327, 108.221, west),
  at('Tegal', -6.87, 109.141, west),
  at('Ternate', 0.79, 127.384, east),
  at('Yogyakarta', -7.797, 110.37, west),
]
