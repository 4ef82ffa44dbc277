import { useId } from 'react'

/** The kawung outline over the whole of an indigo surface: white at 9 %. */
export function Kawung() {
  const id = useId()
  return (
    <svg className="kawung" width="100%" height="100%" aria-hidden="true">
      <defs>
        <pattern id={id} width="40" height="40" patternUnits="userSpaceOnUse">
          <g fill="none" stroke="#fff" strokeOpacity="0.09" strokeWidth="1.5">
            <circle cx="0" cy="0" r="20" />
            <circle cx="40" cy="0" r="20" />
            <circle cx="0" cy="40" r="20" />
            <circle cx="40" cy="40" r="20" />
            <circle cx="20" cy="20" r="20" />
          </g>
        </pattern>
      </defs>
      <rect width="100%" height="100%" fill={`url(#${id})`} />
    </svg>
  )
}
