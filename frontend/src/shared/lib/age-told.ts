import { create } from 'zustand'

/** Whether the present screen says itself how old its data is: then the banner does not say it once more, in another form. */
export const useAgeTold = create<{ told: boolean }>(() => ({ told: false }))
