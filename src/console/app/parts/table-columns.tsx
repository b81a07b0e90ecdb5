import { Columns3 } from 'lucide-react'
import { useState } from 'react'
import { Menu } from './menu.tsx'
import type { TableColumn } from './table-column.ts'

export interface ColumnChoiceState<Row> {
  all: readonly TableColumn<Row>[]
  shown: readonly TableColumn<Row>[]
  toggle(id: string): void
}

/** Which columns are shown; kept on this browser under the table's name. */
export function useColumnChoice<Row>(name: string, columns: readonly TableColumn<Row>[]): ColumnChoiceState<Row> {
  const place = `spgw-columns-${name}`
  const [hidden, setHidden] = useState(() => readHidden(place, columns))
  const toggle = (id: string) => {
    const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
    if (columns.every((column) => next.includes(column.id))) return
    localStorage.setItem(place, JSON.stringify(next))
    setHidden(next)
  }
  return { all: columns, shown: columns.filter(({ id }) => !hidden.includes(id)), toggle }
}

function readHidden<Row>(place: string, columns: readonly TableColumn<Row>[]): string[] {
  const usual = columns.filter(({ optional }) => optional === true).map(({ id }) => id)
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? 'null')
    return Array.isArray(kept) ? kept.map(String) : usual
  } catch {
    return usual
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
