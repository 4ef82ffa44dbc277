import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { listenForScans, scannerKeys } from './scanner-keys'

const CODE = 'NYC1.ab12.XyZ_9-q'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  document.body.replaceChildren()
})

function listen() {
  const onScan = vi.fn()
  const onTyped = vi.fn()
  const { key } = scannerKeys({ onScan, onTyped })
  let now = 1_000
  return {
    onScan,
    onTyped,
    /** Presses keys with this pause before each; tells which of them were kept from everybody else. */
    press(keys: Iterable<string>, pause_ms: number): boolean[] {
      return [...keys].map((one) => {
        vi.advanceTimersByTime(pause_ms)
        now += pause_ms
        return key(one, now)
      })
    },
    wait(ms: number) {
      vi.advanceTimersByTime(ms)
      now += ms
    },
  }
}

describe('a scanner', () => {
  it('is heard with its Enter, and nobody else hears a key of it', () => {
    const { press, onScan, onTyped } = listen()
    expect(press([...CODE, 'Enter'], 8)).not.toContain(false)
    expect(onScan.mock.calls).toEqual([[CODE]])
    expect(onTyped).not.toHaveBeenCalled()
  })

  it('is heard after 60 ms of silence, and not before', () => {
    const { press, wait, onScan } = listen()
    press(CODE, 34)
    wait(59)
    expect(onScan).not.toHaveBeenCalled()
    wait(1)
    expect(onScan.mock.calls).toEqual([[CODE]])
  })

  it('may press Shift before capitals, and its late Enter presses no button', () => {
    const { press, wait, onScan } = listen()
    press(
      [...CODE].flatMap((one) => (/[A-Z]/.test(one) ? ['Shift', one] : [one])),
      4,
    )
    wait(100)
    expect(press(['Enter'], 0)).toEqual([true])
    expect(onScan.mock.calls).toEqual([[CODE]])
    wait(300)
    expect(press(['Enter'], 0)).toEqual([false])
  })

  it('is heard for a machine too, and once for each of two scans', () => {
    const { press, wait, onScan } = listen()
    press('NYM1.x', 10)
    wait(60)
    press([...CODE, 'Enter'], 10)
    expect(onScan.mock.calls).toEqual([['NYM1.x'], [CODE]])
  })

  it('that never stops is not kept for ever, and says nothing', () => {
    const { press, wait, onScan } = listen()
    press(`NYC1.${'x'.repeat(5_000)}`, 1)
    wait(60)
    expect(onScan).not.toHaveBeenCalled()
  })
})

describe('a hand', () => {
  it('types slowly: the letters come back, in order', () => {
    const { press, wait, onScan, onTyped } = listen()
    press('NYC1.a', 35)
    wait(60)
    expect(onScan).not.toHaveBeenCalled()
    expect(onTyped.mock.calls).toEqual([['N']])
  })

  it('types other things at any speed, and nothing is held', () => {
    const { press, onTyped } = listen()
    expect(press(['1', '2', 'a', 'Enter', 'Backspace', 'Tab'], 1)).not.toContain(true)
    expect(onTyped).not.toHaveBeenCalled()
  })

  it('that begins like a code by chance gets its letters back before the next one', () => {
    const { press, onTyped } = listen()
    expect(press('NYX', 10)).toEqual([true, true, false])
    expect(onTyped.mock.calls).toEqual([['NY']])
    expect(press('NN', 10)).toEqual([true, true])
    expect(onTyped.mock.calls).toEqual([['NY'], ['N']])
  })
})

describe('the page', () => {
  function field() {
    const input = document.createElement('input')
    document.body.append(input)
    input.focus()
    return input
  }
  const strike = (key: string) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
    document.activeElement?.dispatchEvent(event)
    return event.defaultPrevented
  }

  it('types no scan into the field that has the focus', () => {
    const onScan = vi.fn()
    const stop = listenForScans(onScan)
    const input = field()
    const heard = vi.fn()
    document.addEventListener('keydown', heard)
    expect([...CODE, 'Enter'].map(strike)).not.toContain(false)
    expect(onScan.mock.calls).toEqual([[CODE]])
    expect(heard).not.toHaveBeenCalled()
    expect(input.value).toBe('')
    document.removeEventListener('keydown', heard)
    stop()
  })

  it('gives a letter typed by hand to its field', () => {
    const stop = listenForScans(vi.fn())
    const input = field()
    input.value = 'AB'
    const told = vi.fn()
    input.addEventListener('input', told)
    input.setSelectionRange(1, 1)
    expect(strike('N')).toBe(true)
    vi.advanceTimersByTime(60)
    expect(input.value).toBe('ANB')
    expect(told).toHaveBeenCalledOnce()
    stop()
  })
})
