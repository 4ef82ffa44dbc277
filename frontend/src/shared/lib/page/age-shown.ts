import { create } from 'zustand'

/** Whether the current screen shows the age of its data: then the banner does not repeat it in another form. */
export const useAgeShown = create<{ shown: boolean }>(() => ({ shown: false }))
