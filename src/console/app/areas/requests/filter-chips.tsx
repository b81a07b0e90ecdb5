import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus, X } from 'lucide-react'
import { type FormEvent, useCallback, useId, useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { errorCodes } from '../../../../core/errors.ts'
import { orpc } from '../../client/admin.ts'
import { operationNamed } from '../../contract/operations.ts'
import { Button, Menu } from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'
import type { Key } from '../outputs.ts'
import type { FilterName, RequestsSearch } from './requests-search.ts'

const chipNames = [
  'key',
  'model',
  'provider',
  'failedAt',
  'status',
  'error',
  'slowerThan',
  'lane',
  'route',
  'state',
  'node',
  'tag',
  'id',
] as const
type ChipName = (typeof chipNames)[number]
const titleOf = (name: ChipName) => (name === 'id' ? 'Request ID' : labelOf(name))

/** One chip per filter, kept in the address. */
export function FilterChips({ search }: { search: RequestsSearch }) {
  const change = useFilterChange()
  // The quick filter of its own shows it.
  const set = chipNames.filter(
    (name) => search[name] !== undefined && !(name === 'slowerThan' && search[name] === slow),
  )
  return (
    <div className="row filters">
      <QuickFilters search={search} />
      {set.map((name) => (
        <span key={name} className="chip">
          <span className="quiet">{titleOf(name)}</span>
          <bdi className="truncate">{escapeControls(search[name] ?? '')}</bdi>
          <button
            type="button"
            aria-label={`Remove filter ${titleOf(name)}`}
            onClick={() => change({ [name]: undefined })}
          >
            <X size={12} aria-hidden="true" />
          </button>
        </span>
      ))}
      <Menu
        label="Add filter"
        align="start"
        className="button button-quiet button-small"
        button={
          <>
            <Plus size={14} aria-hidden="true" />
            Filter
          </>
        }
      >
        {(close) => (
          <FilterForm
            onDone={(name, value) => {
              close()
              change({ [name]: value })
            }}
          />
        )}
      </Menu>
      {set.length > 1 ? (
        <Button
          small
          variant="quiet"
          onClick={() => change(Object.fromEntries(set.map((name) => [name, undefined])) as RequestsSearch)}
        >
          Clear filters
        </Button>
      ) : null}
    </div>
  )
}

const slow = '5s'

const quick = [
  { name: 'errors', value: 'true', title: 'Errors' },
  { name: 'slowerThan', value: slow, title: `Slow (≥ ${slow.replace('s', ' s')})` },
  { name: 'fellBack', value: 'true', title: 'Fell back' },
] as const

/** What is looked for most, each by one press; they combine with one another and with every filter. */
function QuickFilters({ search }: { search: RequestsSearch }) {
  const change = useFilterChange()
  return (
    <fieldset className="row quick-filters">
      <legend className="visually-hidden">Quick filters</legend>
      {quick.map(({ name, value, title }) => (
        <button
          key={name}
          type="button"
          className="chip-toggle"
          aria-pressed={search[name] === value}
          onClick={() => change({ [name]: search[name] === value ? undefined : value })}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}

/** Changes words of the address; undefined takes one out. */
export function useFilterChange(): (change: { [Name in FilterName]?: string | undefined }) => void {
  const navigate = useNavigate()
  return useCallback(
    (change) => void navigate({ to: '/requests', search: (before) => ({ ...before, ...change }), replace: true }),
    [navigate],
  )
}

function FilterForm({ onDone }: { onDone(name: ChipName, value: string): void }) {
  const id = useId()
  const [name, setName] = useState<ChipName>('status')
  const [value, setValue] = useState('')
  const words = useSuggestions(name)
  const keys = useKeys(name)
  const field = fieldOf(name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (value.trim() !== '') onDone(name, name === 'key' ? nameKey(value.trim(), keys) : value.trim())
  }
  return (
    <form className="filter-form stack-tight" onSubmit={submit}>
      <label htmlFor={`${id}-name`}>Field</label>
      <select
        id={`${id}-name`}
        className="input"
        value={name}
        onChange={(event) => {
          setName(chipNames.find((one) => one === event.target.value) ?? 'status')
          setValue('')
        }}
      >
        {chipNames.map((one) => (
          <option key={one} value={one}>
            {titleOf(one)}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-value`}>Value</label>
      <input
        id={`${id}-value`}
        className="input"
        list={`${id}-words`}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      <datalist id={`${id}-words`}>
        {words.map((word) => (
          <option key={word} value={word} />
        ))}
      </datalist>
      <p className="small quiet">{field?.description}</p>
      <Button variant="primary" small type="submit">
        Apply
      </Button>
    </form>
  )
}

/** A whole key stays out of addresses: it is known by its end. */
function nameKey(given: string, keys: readonly Key[]): string {
  if (!given.startsWith('sp_live_')) return given
  const own = keys.find(({ last_four }) => given.endsWith(last_four))
  return own === undefined ? given.slice(-4) : `${own.project}/${own.environment}/${own.name}`
}

function useKeys(name: ChipName): Key[] {
  return useQuery({ ...orpc.keys.list.queryOptions({ input: { all: true } }), enabled: name === 'key' }).data ?? []
}

/** A chip has one tag, and is called what the flag is. */
function fieldOf(name: ChipName) {
  return operationNamed('requests.list').fields.find((field) => (field.flag ?? field.name) === name)
}

function useSuggestions(name: ChipName): string[] {
  const keys = useKeys(name)
  const routes = useQuery({
    ...orpc.routes.list.queryOptions({ input: { all: true } }),
    enabled: name === 'model' || name === 'route',
  })
  const isProvider = name === 'provider' || name === 'failedAt'
  const providers = useQuery({ ...orpc.providers.list.queryOptions({ input: {} }), enabled: isProvider })
  if (name === 'key') return keys.map((key) => key.name)
  if (name === 'model' || name === 'route') return (routes.data ?? []).map((route) => route.model)
  if (isProvider) return (providers.data ?? []).map((provider) => provider.name)
  if (name === 'status') return ['2xx', '4xx', '5xx', '200', '401', '429', '500', '502', '503']
  if (name === 'error') return [...errorCodes, 'client_closed', 'provider_error']
  return fieldOf(name)?.choices ?? []
}
