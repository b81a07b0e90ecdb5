import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { sections } from '../areas/settings/sections.ts'
import { orpc } from '../client/admin.ts'
import { operations } from '../contract/operations.ts'
import { useScope } from '../session/scope.ts'
import { useMayCall } from '../session/session.ts'
import { fixedEntries } from './palette-entries.ts'
import { findMatches, type SearchMatch } from './palette-matches.ts'

export interface PaletteProps {
  /** The text to begin with. */
  begun: string
  onClose(): void
}

/** Finds pages, actions, resources and ids, and opens them. */
export function Palette({ begun, onClose }: PaletteProps) {
  const [text, setText] = useState(begun)
  const [at, setAt] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useId()
  const navigate = useNavigate()
  const { filter } = useScope()
  const matches = useMatches(text)
  useEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector('input')?.select()
  }, [])
  const choose = (match: SearchMatch | undefined) => {
    if (match === undefined) return
    onClose()
    void navigate({
      to: match.to,
      params: match.params,
      search: { ...filter, ...match.search },
    })
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault()
      return choose(matches[at])
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || matches.length === 0) return
    event.preventDefault()
    const next = (at + step + matches.length) % matches.length
    setAt(next)
    document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search"
      onClose={onClose}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
    >
      <div className="palette-field">
        <Search size={18} aria-hidden="true" />
        <input
          type="text"
          role="combobox"
          aria-label="Search pages, actions, keys, routes, providers and request IDs"
          aria-expanded={matches.length > 0}
          aria-controls={list}
          aria-activedescendant={matches.length === 0 ? undefined : `${list}-${at}`}
          placeholder="Search pages, actions, names, req_…"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setAt(0)
          }}
          onKeyDown={press}
        />
        <kbd>esc</kbd>
      </div>
      <Matches id={list} matches={matches} at={at} onChoose={choose} />
    </dialog>
  )
}

interface MatchesProps {
  id: string
  matches: readonly SearchMatch[]
  at: number
  onChoose(match: SearchMatch): void
}

function Matches({ id, matches, at, onChoose }: MatchesProps) {
  if (matches.length === 0)
    return (
      <p id={id} className="palette-list quiet" role="status">
        Nothing found
      </p>
    )
  return (
    <div id={id} className="palette-list menu-list" role="listbox" aria-label="Search results">
      {matches.map((match, index) => (
        <div
          key={match.key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          className="menu-item"
          onPointerDown={(event) => {
            event.preventDefault()
            onChoose(match)
          }}
        >
          <bdi className="truncate grow">{escapeControls(match.title)}</bdi>
          <span className="small quiet nowrap">{match.kind}</span>
        </div>
      ))}
    </div>
  )
}

function useMatches(text: string): SearchMatch[] {
  const may = useMayCall()
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const policies = useQuery({ ...orpc.policies.list.queryOptions({ input: {} }), enabled: may('policies.list') })
  const fixed = useMemo(() => fixedEntries(may, { sections, operations }), [may])
  return findMatches(text, {
    keys: keys.data ?? [],
    routes: routes.data ?? [],
    providers: providers.data ?? [],
    policies: policies.data ?? [],
    fixed,
    may,
  })
}
