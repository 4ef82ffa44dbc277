import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { emptyOtp, OtpInput, otpCode } from './otp-input'

afterEach(cleanup)

function Boxes({ onComplete }: { onComplete?: (code: string) => void }) {
  const [digits, setDigits] = useState(emptyOtp)
  return <OtpInput digits={digits} onChange={setDigits} {...(onComplete ? { onComplete } : {})} />
}

const values = () => screen.getAllByRole('textbox').map((box) => (box as HTMLInputElement).value)

it('goes on with each digit and completes with the sixth, once', async () => {
  const onComplete = vi.fn()
  render(<Boxes onComplete={onComplete} />)
  const [first] = screen.getAllByRole('textbox')
  await userEvent.click(first as HTMLElement)
  await userEvent.keyboard('12x345')
  expect(onComplete).not.toHaveBeenCalled()
  await userEvent.keyboard('6')
  expect(values()).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(onComplete).toHaveBeenCalledExactlyOnceWith('123456')
})

it('backspace empties the box, then goes back', async () => {
  render(<Boxes />)
  const boxes = screen.getAllByRole('textbox')
  await userEvent.click(boxes[0] as HTMLElement)
  await userEvent.keyboard('12{Backspace}')
  expect(values().slice(0, 3)).toEqual(['1', '', ''])
  await userEvent.keyboard('{Backspace}')
  expect(values().slice(0, 3)).toEqual(['', '', ''])
  expect(document.activeElement).toBe(boxes[0])
})

it('spreads a pasted message with a code in it', async () => {
  const onComplete = vi.fn()
  render(<Boxes onComplete={onComplete} />)
  await userEvent.click(screen.getAllByRole('textbox')[3] as HTMLElement)
  await userEvent.paste('Kode Anda: 987 654')
  expect(values().join('')).toBe('987654')
  expect(onComplete).toHaveBeenCalledWith('987654')
})

it('a code is six digits', () => {
  expect(otpCode(['1', '2', '3', '4', '5', ''])).toBeNull()
  expect(otpCode([...'123456'])).toBe('123456')
})
