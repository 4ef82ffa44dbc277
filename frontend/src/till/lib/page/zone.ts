import { createContext, useContext } from 'react'
import { JAKARTA } from '@/till/lib/page/zone-clock'

/** The time zone of the outlet that is shown. */
export const ZoneContext = createContext<string>(JAKARTA)
export const useZone = (): string => useContext(ZoneContext)
