import { describe, expect, it } from 'vitest'
import type { History } from '@/shared/api/model'
import { nextPage } from './use-history'

const page = (returned: number, until: string): History => ({ history_data: null, returned, sampai: until })

describe('nextPage', () => {
  it('goes on by the page size after a full page, as of the first one', () => {
    expect(nextPage([page(20, 'a')])).toEqual({ skip: 20, until: 'a' })
    expect(nextPage([page(20, 'a'), page(20, 'b')])).toEqual({ skip: 40, until: 'a' })
  })

  it('ends with a page that is not full', () => {
    expect(nextPage([page(0, 'a')])).toBeUndefined()
    expect(nextPage([page(20, 'a'), page(19, 'a')])).toBeUndefined()
    expect(nextPage([])).toBeUndefined()
  })
})
