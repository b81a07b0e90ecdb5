import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { orpc } from '../client/admin.ts'
import { findMatches, type SearchMatch } from './search-matches.ts'

/** Takes a `req_…`, a key's name or last four, a model, a provider, and opens it. */
export function SearchBox() {
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  const list = useId()
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const matches = useMatches(text, open)
  const close = () => {
    setOpen(false)
    setText('')
    input.current?.blur()
  }
  const choose = (match: SearchMatch | undefined) => {
    if (match === undefined) return
    close()
    void navigate({ to: match.to, params: match.params, search: match.search })
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return close()
    if (event.key === 'Enter') return choose(matches[at])
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || matches.length === 0) return
    event.preventDefault()
    setAt((at + step + matches.length) % matches.length)
  }
  const isOpen = open && matches.length > 0
  return (
    <div className="search">
      <Search size={16} aria-hidden="true" className="search-icon" />
      <input
        ref={input}
        id="search"
        className="input"
        type="text"
        role="combobox"
        aria-label="Search requests by ID, keys, models and providers"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-activedescendant={isOpen ? `${list}-${at}` : undefined}
        placeholder="Search keys, models, req_…"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
          setOpen(true)
        }}
        onKeyDown={press}
      />
      <span className="search-key key" aria-hidden="true">
        /
      </span>
      <FoundList id={list} matches={matches} at={at} open={isOpen} onChoose={choose} />
    </div>
  )
}

interface FoundListProps {
  id: string
  matches: readonly SearchMatch[]
  at: number
  open: boolean
  onChoose(match: SearchMatch): void
}

function FoundList({ id, matches, at, open, onChoose }: FoundListProps) {
  return (
    <div id={id} className="menu-panel search-list menu-list" role="listbox" aria-label="Search results" hidden={!open}>
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

function useMatches(text: string, enabled: boolean): SearchMatch[] {
  const keys = useQuery({ ...orpc.keys.list.queryOptions({ input: { all: true } }), enabled })
  const routes = useQuery({ ...orpc.routes.list.queryOptions({ input: { all: true } }), enabled })
  const providers = useQuery({ ...orpc.providers.list.queryOptions({ input: {} }), enabled })
  return findMatches(text, { keys: keys.data ?? [], routes: routes.data ?? [], providers: providers.data ?? [] })
}
