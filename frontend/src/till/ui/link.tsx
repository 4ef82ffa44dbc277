import type { AnchorHTMLAttributes } from 'react'
import { hrefOf, navigate, usePath } from '@/till/lib/page/router'

interface Props extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  to: string
}

/** A link to another screen of the till. */
export function Link({ to, onClick, ...rest }: Props) {
  const here = usePath() === to
  return (
    <a
      {...rest}
      href={hrefOf(to)}
      aria-current={here ? 'page' : undefined}
      onClick={(event) => {
        onClick?.(event)
        // The browser itself opens another tab or window.
        if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        navigate(to)
      }}
    />
  )
}
