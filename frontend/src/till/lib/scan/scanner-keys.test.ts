import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { codeIn, scannerKeys, type Takes } from './scanner-keys'

const CODE = 'NYC1.ab12.XyZ_9-q'
const CAPS = 'nyc1.AB12.xYz_9-Q'
const EAN = '8991002101234'
const URL = 'https://example.com/p?id=1'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function listen(takes: Takes = 'digits') {
  const onCode = vi.fn()
  const onForeign = vi.fn()
  const putBack = vi.fn()
  const keys = scannerKeys({ takes: () => takes, remember: () => putBack, onCode, onForeign })
  let now = 1_000
  return {
    onCode,
    onForeign,
    putBack,
    whenSilent: keys.whenSilent,
    /** Presses keys with this pause before each; returns which of them were kept from other listeners. */
    press(strokes: Iterable<string>, pause_ms: number, repeat = false): boolean[] {
      return [...strokes].map((key) => {
        vi.advanceTimersByTime(pause_ms)
        now += pause_ms
        return keys.key({ key, at: now, repeat })
      })
    },
    wait(ms: number) {
      vi.advanceTimersByTime(ms)
      now += ms
    },
  }
}

describe.each([5, 20, 40, 60, 100])('a scanner at %i ms a key', (pause_ms) => {
  const TAKES: Takes[] = ['nothing', 'digits', 'text']

  it.each(TAKES)('gives ours, with an Enter, a Tab or nothing after it, where %s is taken', (takes) => {
    for (const end of [['Enter'], ['Tab'], ['Enter', 'Enter'], []]) {
      const { press, wait, onCode, onForeign } = listen(takes)
      const kept = press([...CODE, ...end], pause_ms)
      if (end.length === 0) {
        wait(149)
        expect(onCode).not.toHaveBeenCalled()
        wait(1)
      }
      expect(onCode.mock.calls).toEqual([[CODE]])
      expect(kept.slice(-1 - end.length)).not.toContain(false)
      wait(1_000)
      expect(onCode).toHaveBeenCalledOnce()
      expect(onForeign).not.toHaveBeenCalled()
    }
  })

  it('gives ours although Caps Lock is on, or a mark of the kind of code leads', () => {
    for (const typed of [CAPS, `]Q1${CODE}`, [...CODE].flatMap((one) => ['Shift', one])]) {
      const { press, onCode } = listen()
      press([...typed, 'Enter'], pause_ms)
      expect(onCode.mock.calls).toEqual([[CODE]])
    }
  })

  it.each(TAKES)(
    'is told to be no code of ours, and puts back what its keys changed, where %s is taken',
    (takes) => {
      for (const text of [EAN, URL, '12345678', 'ABC-1234', `${EAN}Enter${EAN}`.split('Enter').join('')]) {
        for (const end of [['Enter'], []]) {
          const { press, wait, onCode, onForeign, putBack } = listen(takes)
          const kept = press([...text, ...end], pause_ms)
          expect(kept.slice(7)).not.toContain(false)
          wait(150)
          expect(putBack).toHaveBeenCalledOnce()
          expect(onForeign).toHaveBeenCalledOnce()
          expect(onCode).not.toHaveBeenCalled()
        }
      }
    },
  )

  it('presses nothing with its Enter or its blanks where nothing is typed into, however short it is', () => {
    for (const text of ['1', 'A1', '1234567', 'A B', '12 34']) {
      const { press, onForeign } = listen('nothing')
      const strokes = [...text, 'Enter']
      const kept = press(strokes, pause_ms)
      for (const [i, key] of strokes.entries()) if (key === 'Enter' || key === ' ') expect(kept[i]).toBe(true)
      expect(onForeign).toHaveBeenCalledOnce()
    }
  })

  it('never lets happen what waits for silence', () => {
    const { press, wait, whenSilent } = listen()
    const send = vi.fn()
    press(EAN.slice(0, 6), pause_ms)
    whenSilent(send)
    press(EAN.slice(6), pause_ms)
    wait(1_000)
    expect(send).not.toHaveBeenCalled()
  })
})

describe('a scanner', () => {
  it('that pauses before its Enter presses no button', () => {
    const { press, wait, onCode } = listen()
    press(CODE, 4)
    wait(150)
    expect(press(['Enter'], 0)).toEqual([true])
    expect(onCode.mock.calls).toEqual([[CODE]])
    wait(300)
    expect(press(['Enter'], 0)).toEqual([false])
  })

  it('is heard for a machine too, and once for each of two scans', () => {
    const { press, wait, onCode } = listen()
    press('NYM1.x', 10)
    wait(150)
    press([...CODE, 'Enter', ...'NYC1.b', 'Enter'], 10)
    expect(onCode.mock.calls).toEqual([['NYM1.x'], [CODE], ['NYC1.b']])
  })

  it('of a text of several lines is told once', () => {
    const { press, wait, onForeign } = listen()
    const kept = press(
      'BEGIN:VCARD|N:Siti|TEL:0812|END:VCARD|'.split('').map((one) => (one === '|' ? 'Enter' : one)),
      10,
    )
    wait(150)
    expect(onForeign).toHaveBeenCalledOnce()
    expect(kept.slice(2)).not.toContain(false)
  })

  it('that never stops is not kept for ever, and its code is none', () => {
    const { press, wait, onCode, onForeign } = listen()
    press(`NYC1.${'x'.repeat(5_000)}`, 1)
    wait(150)
    expect(onCode).not.toHaveBeenCalled()
    expect(onForeign).toHaveBeenCalledOnce()
  })

  it('whose last keys are heard late, with the time at which they were pressed, gives the whole code', () => {
    const onCode = vi.fn()
    const { key } = scannerKeys({
      takes: () => 'nothing',
      remember: () => () => undefined,
      onCode,
      onForeign: () => undefined,
    })
    for (const [i, one] of [...CODE].entries()) {
      if (i === CODE.length - 3) vi.advanceTimersByTime(400)
      key({ key: one, at: 10 * i })
    }
    vi.advanceTimersByTime(150)
    expect(onCode.mock.lastCall).toEqual([CODE])
  })
})

describe('a hand', () => {
  it('types up to seven digits as fast as it likes, with Enter', () => {
    for (let digits = 1; digits <= 7; digits++) {
      const { press, wait, onForeign, putBack } = listen()
      expect(press([...EAN.slice(0, digits), 'Enter'], 5)).not.toContain(true)
      wait(1_000)
      expect(onForeign).not.toHaveBeenCalled()
      expect(putBack).not.toHaveBeenCalled()
    }
  })

  it('counts a drawer, number after number, each with its Enter', () => {
    const { press, wait, onForeign } = listen()
    expect(press(['1', '2', 'Enter', '5', 'Enter', ...'12345', 'Enter', 'Enter'], 90)).not.toContain(true)
    wait(1_000)
    expect(onForeign).not.toHaveBeenCalled()
  })

  it('types a whole number with pauses, and what waits for silence happens then', () => {
    const { press, wait, whenSilent, onForeign } = listen()
    const send = vi.fn()
    for (const part of ['0812', '3456', '7890']) {
      expect(press(part, 40)).not.toContain(true)
      wait(120)
    }
    expect(press(['Enter'], 0)).toEqual([false])
    whenSilent(send)
    wait(149)
    expect(send).not.toHaveBeenCalled()
    wait(1)
    expect(send).toHaveBeenCalledOnce()
    expect(onForeign).not.toHaveBeenCalled()
  })

  it('types slowly whatever it is', () => {
    for (const takes of ['nothing', 'digits', 'text'] as const) {
      const { press, onForeign, onCode } = listen(takes)
      expect(press([...CODE, ...EAN, 'Enter'], 120)).not.toContain(true)
      expect(onForeign).not.toHaveBeenCalled()
      expect(onCode).not.toHaveBeenCalled()
    }
  })

  it('holds a key down', () => {
    const { press, onForeign } = listen()
    press('5', 200)
    expect(press('0'.repeat(20), 30, true)).not.toContain(true)
    expect(onForeign).not.toHaveBeenCalled()
  })

  it('writes a word in a field, corrects it, and walks through the page', () => {
    const { press, wait, onForeign } = listen('text')
    expect(press([...'rusak', 'Backspace', 'Backspace', ...'tak', 'ArrowLeft'], 80)).not.toContain(true)
    wait(150)
    expect(press(['Tab', 'Tab', 'Enter', ' ', 'Tab'], 80)).not.toContain(true)
    expect(onForeign).not.toHaveBeenCalled()
  })

  it('goes through the page by keys alone, and types after that', () => {
    let takes: Takes = 'nothing'
    const onForeign = vi.fn()
    const { key } = scannerKeys({
      takes: () => takes,
      remember: () => () => undefined,
      onCode: () => undefined,
      onForeign,
    })
    const press = (one: string, at: number) => expect(key({ key: one, at })).toBe(false)
    for (const [i, one] of ['Tab', 'Tab', 'Enter'].entries()) press(one, i)
    // The button that Enter has pressed led to a keypad.
    takes = 'digits'
    for (const [i, one] of [...'1234567', 'Enter', ...'7654321'].entries()) press(one, 3 + i)
    expect(onForeign).not.toHaveBeenCalled()
  })

  it('touches: what waits for silence waits for no key that nobody pressed', () => {
    const send = vi.fn()
    listen().whenSilent(send)
    expect(send).toHaveBeenCalledOnce()
  })

  it('that goes on, or calls it off, changes what waits', () => {
    const { press, wait, whenSilent } = listen()
    const send = vi.fn()
    press('246810', 20)
    const callOff = whenSilent(send)
    wait(100)
    press('7', 0)
    wait(100)
    expect(send).not.toHaveBeenCalled()
    callOff()
    wait(1_000)
    expect(send).not.toHaveBeenCalled()
  })
})

it('a code is ours in its own case and in the other one, and nothing else is', () => {
  expect(codeIn(CODE)).toBe(CODE)
  expect(codeIn(CAPS)).toBe(CODE)
  expect(codeIn(`${CODE}\n`)).toBe(CODE)
  for (const text of ['', 'NYC', 'nyC1.ab', 'NYX1.ab', 'NYC2.ab', `https://x/?${CODE}`, EAN])
    expect(codeIn(text)).toBeNull()
})
