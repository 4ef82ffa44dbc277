import type { Screen } from './open.ts'
import { screensBefore } from './screens-before.ts'
import { screensHome } from './screens-home.ts'
import { screensMoney } from './screens-money.ts'
import { screensPurchase } from './screens-purchase.ts'

/** Every screen of the customers' app in each of its states, in the order in which one meets them. */
export const screens: readonly Screen[] = [
  ...screensBefore,
  ...screensHome,
  ...screensMoney,
  ...screensPurchase,
]
