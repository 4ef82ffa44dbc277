import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { Field } from '@/shared/ui/field'
import { useForm } from './use-form'
import type { Faults } from './validate'

afterEach(cleanup)

const EMPTY = 'Form Belum Lengkap'
const DIFFERENT = 'Password Tidak Sama'

function check(a: string, b: string): Faults<'a' | 'b'> {
  if (a && b) return a === b ? {} : { b: DIFFERENT }
  return { ...(!a && { a: EMPTY }), ...(!b && { b: EMPTY }) }
}

/** `onSend`: whether the server accepts it. */
function Form({ onSend }: { onSend: () => boolean }) {
  const [a, setA] = useState('')
  const [b, setB] = useState('')
  const { form, field, refuse } = useForm(
    () => check(a, b),
    () => {
      if (!onSend()) refuse('b')
    },
  )
  return (
    <form {...form}>
      <Field {...field('a')} label="A" hint="Petunjuk" value={a} onChange={(e) => setA(e.target.value)} />
      <Field {...field('b')} label="B" value={b} onChange={(e) => setB(e.target.value)} />
      <button type="submit">Kirim</button>
    </form>
  )
}

function open() {
  const onSend = vi.fn(() => true)
  render(<Form onSend={onSend} />)
  const user = userEvent.setup()
  const send = () => user.click(screen.getByRole('button'))
  return { onSend, user, send, a: screen.getByLabelText('A'), b: screen.getByLabelText('B') }
}

const description = (field: HTMLElement) =>
  (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent)
    .join(' ')

it('says nothing before the first try', () => {
  const { a } = open()
  expect(screen.queryByText(EMPTY)).toBeNull()
  expect(a.getAttribute('aria-invalid')).toBeNull()
  expect(description(a)).toBe('Petunjuk')
})

it('the sentence stands once, every field that it is about names it, the first one has the focus', async () => {
  const { a, b, send, onSend } = open()
  await send()
  expect(screen.getAllByText(EMPTY)).toHaveLength(1)
  expect(document.activeElement).toBe(a)
  for (const field of [a, b]) {
    expect(field.getAttribute('aria-invalid')).toBe('true')
    expect(description(field)).toContain(EMPTY)
  }
  expect(onSend).not.toHaveBeenCalled()
})

it('a sentence goes as soon as it is no longer true, and moves to the next field that it is about', async () => {
  const { a, b, send, user } = open()
  await send()
  await user.type(a, 'x')
  expect(a.getAttribute('aria-invalid')).toBeNull()
  expect(description(b)).toBe(EMPTY)
  await user.type(b, 'y')
  expect(screen.queryByText(EMPTY)).toBeNull()
  // Another fault is shown only by another attempt to send.
  expect(screen.queryByText(DIFFERENT)).toBeNull()
  await send()
  expect(screen.getAllByText(DIFFERENT)).toHaveLength(1)
  expect(document.activeElement).toBe(b)
})

it('sends what is right', async () => {
  const { a, b, send, user, onSend } = open()
  await user.type(a, 'x')
  await user.type(b, 'x')
  await send()
  expect(onSend).toHaveBeenCalledOnce()
})

it('the field that the server refused is marked and has the focus, until something is typed or sent again', async () => {
  const { a, b, send, user, onSend } = open()
  onSend.mockReturnValue(false)
  await user.type(a, 'x')
  await user.type(b, 'x')
  await send()
  expect(b.getAttribute('aria-invalid')).toBe('true')
  expect(document.activeElement).toBe(b)
  expect(a.getAttribute('aria-invalid')).toBeNull()
  await user.type(a, '{Backspace}x')
  expect(b.getAttribute('aria-invalid')).toBeNull()
  await send()
  expect(b.getAttribute('aria-invalid')).toBe('true')
  onSend.mockReturnValue(true)
  await send()
  expect(b.getAttribute('aria-invalid')).toBeNull()
})
