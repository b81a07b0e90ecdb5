import { Columns3 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Menu } from './menu.tsx'
import type { SortValue } from './sort-rows.ts'

export interface ColumnChoiceState<Row> {
  all: readonly TableColumn<Row>[]
  shown: readonly TableColumn<Row>[]
  toggle(id: string): void
}

/** Which columns are shown; kept on this browser under the table's name. */
export function useColumnChoice<Row>(name: string, columns: readonly TableColumn<Row>[]): ColumnChoiceState<Row> {
  const storageKey = `spgw-columns-${name}`
  const [chosen, setChosen] = useState(() => readChosen(storageKey))
  const hidden = chosen ?? columns.filter(({ optional }) => optional === true).map(({ id }) => id)
  const toggle = (id: string) => {
    const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
    if (columns.every((column) => next.includes(column.id))) return
    localStorage.setItem(storageKey, JSON.stringify(next))
    setChosen(next)
  }
  return { all: columns, shown: columns.filter(({ id }) => !hidden.includes(id)), toggle }
}

/** The hidden columns; null: no choice made yet. */
function readChosen(storageKey: string): string[] | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? 'null')
    return Array.isArray(kept) ? kept.map(String) : null
  } catch {
    return null
  }
}

export function ColumnChoice<Row>({ choice }: { choice: ColumnChoiceState<Row> }) {
  if (choice.all.length < 4) return null
  return (
    <Menu
      label="Columns"
      className="button button-quiet icon-button"
      button={<Columns3 size={16} aria-hidden="true" />}
    >
      {() => (
        <fieldset className="menu-checks">
          <legend className="menu-title">Columns</legend>
          {choice.all.map(({ id, title }) => (
            <label key={id} className="check">
              <input
                type="checkbox"
                checked={choice.shown.some((column) => column.id === id)}
                onChange={() => choice.toggle(id)}
              />
              {title}
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  )
}

export interface TableColumn<Row> {
  id: string
  title: string
  /** The same where there is little room. */
  narrowTitle?: string
  cell(row: Row): ReactNode
  /** What the rows can be sorted by. It must be the same function while its values are. */
  sort?(row: Row): SortValue
  /** Right-aligned, with tabular figures. */
  number?: boolean
  /** Digits behind the point of its amount, so that the points stand under one another; null: there is none. */
  digits?(row: Row): number | null
  /** A CSS length. Columns without one share what is left. */
  width?: string
  /** Where its table has less than 1080 px. */
  middleWidth?: string
  /** Where its table has at most 760 px. */
  narrowWidth?: string
  /** Hidden by default. */
  optional?: boolean
  /** Left out where its table has at most 760 px. */
  wideOnly?: boolean
  /** Left out where its table has less than 1080 px. */
  roomyOnly?: boolean
}
