import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { type KeyboardEvent, useId, useRef } from 'react'
import { formatNames } from '../../../../core/format.ts'
import { Button, IconButton } from '../../parts/index.ts'
import type { Provider } from '../outputs.ts'
import { moveRow, newRow, type TargetRow } from './target-rows.ts'

export interface TargetEditorProps {
  rows: readonly TargetRow[]
  onChange(rows: TargetRow[]): void
  providers: readonly Provider[]
  /** Weights count only where the route shares out by them. */
  weighted: boolean
}

/** Targets in their order. `Alt` with the arrow keys moves the row that one is in; the buttons do the same. */
export function TargetEditor({ rows, onChange, providers, weighted }: TargetEditorProps) {
  const list = useRef<HTMLOListElement>(null)
  const said = useRef<HTMLParagraphElement>(null)
  // A weight of 0 takes a target out, whatever the strategy.
  const hasWeights = weighted || rows.some(({ weight }) => weight !== '')
  const change = (key: string, part: Partial<TargetRow>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  const move = (from: number, step: number, key: string) => {
    const to = from + step
    if (to < 0 || to >= rows.length) return
    onChange(moveRow(rows, from, to))
    if (said.current !== null) said.current.textContent = `Moved to position ${to + 1} of ${rows.length}`
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-target="${key}"] select`)?.focus())
  }
  return (
    <fieldset className="field">
      <legend>Targets, in the order they are tried</legend>
      <div className="target-row target-heads small quiet" aria-hidden="true">
        <span className="target-place" />
        <span className="grow">Provider</span>
        <span className="grow">Upstream model</span>
        {hasWeights ? <span className="target-number">Weight</span> : null}
        <span className="target-format">Format</span>
        <span className="target-buttons" />
      </div>
      <ol className="targets" ref={list}>
        {rows.map((row, index) => (
          <TargetFields
            key={row.key}
            row={row}
            index={index}
            count={rows.length}
            weighted={hasWeights}
            providers={providers}
            onChange={(part) => change(row.key, part)}
            onMove={(step) => move(index, step, row.key)}
            onRemove={() => onChange(rows.filter(({ key }) => key !== row.key))}
          />
        ))}
      </ol>
      <div className="row">
        <Button small icon={<Plus size={14} aria-hidden="true" />} onClick={() => onChange([...rows, newRow()])}>
          Add target
        </Button>
        <span className="small quiet">
          <kbd>Alt</kbd> <kbd>↑</kbd> <kbd>↓</kbd> to move a target
        </span>
      </div>
      <p ref={said} className="visually-hidden" role="status" />
    </fieldset>
  )
}

interface TargetFieldsProps {
  row: TargetRow
  index: number
  count: number
  weighted: boolean
  providers: readonly Provider[]
  onChange(part: Partial<TargetRow>): void
  onMove(step: number): void
  onRemove(): void
}

function TargetFields({ row, index, count, weighted, providers, onChange, onMove, onRemove }: TargetFieldsProps) {
  const id = useId()
  const models = providers.find(({ name }) => name === row.provider)?.models ?? []
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
    if (!event.altKey || step === 0) return
    event.preventDefault()
    onMove(step)
  }
  const name = (what: string) => `Target ${index + 1}, ${what}`
  return (
    <li className="target-row" data-target={row.key} onKeyDown={press}>
      <span className="target-place number quiet" aria-hidden="true">
        {index + 1}
      </span>
      <select
        className="input"
        aria-label={name('provider')}
        value={row.provider}
        onChange={(event) => onChange({ provider: event.target.value })}
      >
        <option value="">Select a provider</option>
        {providers.map((provider) => (
          <option key={provider.id} value={provider.name}>
            {provider.name}
            {provider.active ? '' : ' (inactive)'}
          </option>
        ))}
      </select>
      <input
        className="input"
        aria-label={name('upstream model')}
        placeholder="Same model name"
        list={`${id}-models`}
        autoComplete="off"
        spellCheck={false}
        value={row.model}
        onChange={(event) => onChange({ model: event.target.value })}
      />
      <datalist id={`${id}-models`}>
        {models.slice(0, 300).map((model) => (
          <option key={model.name} value={model.name} />
        ))}
      </datalist>
      {weighted ? (
        <label className="target-number">
          <span className="small quiet" aria-hidden="true">
            Weight
          </span>
          <input
            className="input"
            aria-label={name('weight')}
            placeholder="1"
            inputMode="numeric"
            value={row.weight}
            onChange={(event) => onChange({ weight: event.target.value })}
          />
        </label>
      ) : null}
      <FormatSelect label={name('format')} format={row.format} onChange={(format) => onChange({ format })} />
      <TargetButtons index={index} count={count} onMove={onMove} onRemove={onRemove} />
    </li>
  )
}

interface FormatSelectProps {
  label: string
  format: string
  onChange(format: string): void
}

function FormatSelect({ label, format, onChange }: FormatSelectProps) {
  return (
    <select
      className="input target-format"
      aria-label={label}
      value={format}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Own format</option>
      {formatNames.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

function TargetButtons({
  index,
  count,
  onMove,
  onRemove,
}: Pick<TargetFieldsProps, 'index' | 'count' | 'onMove' | 'onRemove'>) {
  return (
    <span className="row target-buttons">
      <IconButton
        small
        label={`Move target ${index + 1} up`}
        icon={<ArrowUp size={14} aria-hidden="true" />}
        disabled={index === 0}
        onClick={() => onMove(-1)}
      />
      <IconButton
        small
        label={`Move target ${index + 1} down`}
        icon={<ArrowDown size={14} aria-hidden="true" />}
        disabled={index === count - 1}
        onClick={() => onMove(1)}
      />
      <IconButton
        small
        label={`Remove target ${index + 1}`}
        icon={<X size={14} aria-hidden="true" />}
        disabled={count === 1}
        onClick={onRemove}
      />
    </span>
  )
}
