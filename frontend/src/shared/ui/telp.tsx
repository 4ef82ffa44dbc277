import { groupedTelp } from '@/shared/lib/text/format'

/** A telephone number to read: `+62 851 9136 3216`, grouped only by gaps. */
export function Telp({ telp }: { telp: string }) {
  const [first = '', ...rest] = groupedTelp(telp).split(' ')
  return (
    <span className="digits telp" translate="no">
      <span>+62</span>
      {[first.slice(1), ...rest].map((group, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a group has no name but its place
        <span key={place}>{group}</span>
      ))}
    </span>
  )
}
