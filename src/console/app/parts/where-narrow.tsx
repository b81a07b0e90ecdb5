import { type ReactNode, useSyncExternalStore } from 'react'

/** As `wideOnly` columns have it (styles/table.css). */
const narrow = matchMedia('(max-width: 700px)')

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** What stands elsewhere where there is room; below what is before it. */
export function WhereNarrow({ children }: { children: ReactNode }) {
  const shown = useSyncExternalStore(subscribe, () => narrow.matches)
  return shown ? <div>{children}</div> : null
}
