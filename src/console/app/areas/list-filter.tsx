import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../parts/index.ts'
import { filterRows } from './filter-rows.ts'
import type { FindSearch } from './find-search.ts'

/** A list of more has a filter. */
const manyRows = 8

export interface ListFilter<Row> {
  shown: Row[]
  /** null: the list is so short that nobody needs one. */
  field: ReactNode
  /** Shown where no row matches; null: nothing was looked for. */
  none: ReactNode
}

/** Keeps its text in the address: who opens a row and comes back finds the list as it was. */
export function useListFilter<Row>(
  rows: readonly Row[],
  /** `keys`: in the plural. */
  noun: string,
  textsOf: (row: Row) => readonly (string | null)[],
): ListFilter<Row> {
  const { find = '' } = useSearch({ strict: false }) as FindSearch
  const navigate = useNavigate()
  const [text, setText] = useState(find)
  // The address follows what is typed, later: what it has not come to yet.
  const ahead = useRef<string[]>([])
  useEffect(() => {
    const place = ahead.current.indexOf(find)
    // The list's name in the rail, or the browser's way back, leads to another filter.
    if (place < 0) setText(find)
    ahead.current = ahead.current.slice(place + 1)
  }, [find])
  const change = (next: string) => {
    setText(next)
    // A key that somebody pastes stays out of the history of the browser.
    const kept = next.includes('sp_live_') ? '' : next
    if (kept !== (ahead.current.at(-1) ?? find)) ahead.current.push(kept)
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, find: kept === '' ? undefined : kept }),
      replace: true,
      resetScroll: false,
    })
  }
  const shown = filterRows(rows, text, textsOf)
  return {
    shown,
    field:
      rows.length > manyRows || text !== '' ? (
        <Filter noun={noun} text={text} onText={change} shown={shown.length} all={rows.length} />
      ) : null,
    none:
      text.trim() === '' || rows.length === 0 ? null : (
        <div className="row">
          <p className="quiet">
            None of {rows.length.toLocaleString('en-US')} {noun} matches “{text}”.
          </p>
          <Button small onClick={() => change('')}>
            Clear filter
          </Button>
        </div>
      ),
  }
}

interface FilterProps {
  noun: string
  text: string
  onText(text: string): void
  shown: number
  all: number
}

function Filter({ noun, text, onText, shown, all }: FilterProps) {
  const id = useId()
  return (
    <div className="row">
      <label htmlFor={id} className="visually-hidden">
        Filter {noun}
      </label>
      <input
        id={id}
        className="input filter"
        placeholder={`Filter ${noun}`}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <span className="small quiet" role="status">
        {shown.toLocaleString('en-US')}
        {shown === all ? '' : ` of ${all.toLocaleString('en-US')}`} shown
      </span>
    </div>
  )
}
