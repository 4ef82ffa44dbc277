import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vite.config.ts'

/** In a VM context these would find the real clock in the DOM's events, or the module that they mock. */
const OWN_PROCESS = [
  'src/features/purchase/pembayaran/use-pay.test.tsx',
  'src/shared/lib/page/last-tap.test.ts',
  'src/shared/lib/toast/toast.test.ts',
  'src/shared/scan/wasm.test.ts',
]

export default mergeConfig(
  base,
  defineConfig({
    test: {
      environment: 'happy-dom',
      restoreMocks: true,
      unstubGlobals: true,
      projects: [
        {
          extends: true,
          test: {
            name: 'vm',
            include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.{ts,tsx}'],
            exclude: OWN_PROCESS,
            // As with a process, each file has separate globals and modules; but happy-dom, which takes longer than the tests, is loaded once.
            pool: 'vmThreads',
          },
        },
        { extends: true, test: { name: 'process', include: OWN_PROCESS } },
      ],
    },
  }),
)
