import { type RefObject, useEffect, useRef, useState } from 'react'
import { isTyping } from '../shell/keys.ts'

export interface RowKeys {
  /** The row that the keyboard is on; -1: none yet. */
  active: number
  setActive(index: number): void
  table: RefObject<HTMLTableElement | null>
}

interface Rows {
  count: number
  open(index: number): void
  reveal(index: number): void
}

/** `j` and `k` (or the arrows) move over the rows of the table that one looks at, Enter opens. */
export function useRowKeys(rows: Rows): RowKeys {
  const table = useRef<HTMLTableElement>(null)
  const [active, setActive] = useState(-1)
  const state = useRef({ rows, active })
  state.current = { rows, active }
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || !isForThis(event, table.current)) return
      const { rows, active } = state.current
      const step = stepOf(event.key)
      if (event.key === 'Enter' && active >= 0 && !isPressable(event.target)) {
        // Else the same press closes the drawer that it opens, whose first button has the focus by then.
        event.preventDefault()
        return rows.open(active)
      }
      if (step === 0 || rows.count === 0) return
      event.preventDefault()
      const next = Math.min(rows.count - 1, Math.max(0, active + step))
      // At once: the next key may come before the row is drawn.
      state.current.active = next
      setActive(next)
      rows.reveal(next)
      // The row may have to be put into the page first.
      requestAnimationFrame(() => table.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus())
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return { active, setActive, table }
}

function stepOf(key: string): number {
  if (key === 'j' || key === 'ArrowDown') return 1
  return key === 'k' || key === 'ArrowUp' ? -1 : 0
}

/** Enter on a link or a button is theirs. */
function isPressable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, summary, [role="option"]') !== null
}

/** The arrows only within the table (elsewhere they scroll); the letters wherever one is, for the first table of the page. */
function isForThis(event: KeyboardEvent, table: HTMLTableElement | null): boolean {
  if (table === null || document.querySelector('dialog[open]')?.contains(table) === false) return false
  if (event.target instanceof Node && table.contains(event.target)) return true
  const letter = event.key === 'j' || event.key === 'k' || event.key === 'Enter'
  return letter && document.querySelector('dialog[open] table, table.table') === table
}
