import type { ReactNode } from 'react'
import { pluralize } from './units.ts'

export interface ResourceChoiceProps<Row> {
  /** `key`, `route` */
  noun: string
  name: string
  rows: readonly Row[]
  rowKey(row: Row): string
  link(row: Row): ReactNode
}

/** Several have the name that the address gives. */
export function ResourceChoice<Row>({ noun, name, rows, rowKey, link }: ResourceChoiceProps<Row>) {
  return (
    <div className="stack">
      <p>
        {pluralize(rows.length, noun)} {rows.length === 1 ? 'is' : 'are'} named <b>{name}</b>. Choose one:
      </p>
      <ul className="list narrow">
        {rows.map((row) => (
          <li key={rowKey(row)} className="list-row">
            {link(row)}
          </li>
        ))}
      </ul>
    </div>
  )
}
