import { type FormEvent, useRef, useState } from 'react'
import { operationNamed } from '../../contract/operations.ts'
import { useFormErrors, useOpenedForm } from '../../parts/field-errors.ts'
import { FormField } from '../../parts/form-field.tsx'
import { type FormValues, inputOf, problemsOf, valuesOf } from '../../parts/form-values.ts'
import { Button, FormFault, useOperation } from '../../parts/index.ts'
import type { Provider, Route } from '../outputs.ts'
import { ScopeFields, type ScopeValue } from '../scope-fields.tsx'
import { durationText } from '../units.ts'
import { TargetEditor } from './target-editor.tsx'
import { newRow, problemsOfRows, rowsOf, type TargetRow, writeRows } from './target-rows.ts'

export interface RouteFormProps {
  providers: readonly Provider[]
  /** null: a new one. */
  route: Route | null
  /** Preselected for a new route. */
  provider?: string | undefined
  defaultScope: ScopeValue
  onDone(route: Route): void
  onCancel(): void
}

/** Places of their own: the model, the scope, the targets. All else is drawn from the operation. */
const customFields = [
  'model',
  'project',
  'environment',
  'allEnvironments',
  'provider',
  'upstreamModel',
  'targets',
  'strategy',
]

export function RouteForm({ providers, route, provider, defaultScope, onDone, onCancel }: RouteFormProps) {
  const operation = route === null ? 'routes.add' : 'routes.edit'
  const all = operationNamed(operation).fields
  const named = (name: string) => all.filter((field) => field.name === name)
  const shown = [...(route === null ? named('model') : [])]
  const strategy = named('strategy')
  const more = all.filter(({ name }) => !customFields.includes(name) && (name !== 'force' || isOwned(route)))
  const fields = [...shown, ...strategy, ...more]
  const [before] = useState(() => (route === null ? null : valuesOf(fields, initialOf(route))))
  const [values, setValues] = useState<FormValues>(() => before ?? valuesOf(fields, { strategy: 'priority' }))
  const [chosen, setChosen] = useState<ScopeValue | null>(null)
  const scope = chosen ?? defaultScope
  const [rows, setRows] = useState<TargetRow[]>(() => firstRows(route, provider, providers))
  const form = useRef<HTMLFormElement>(null)
  const { call, busy, fault } = useOperation(operation)
  const models = useModelSuggestions(providers, rows)
  const errors = useFormErrors(form, fault)
  useOpenedForm(form, route === null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (errors.refuse({ ...problemsOf(fields, values, before), ...problemsOfRows(rows) })) return
    const fixed = route === null ? scopeInput(scope) : referenceTo(route)
    const answer = await call({ ...fixed, targets: writeRows(rows), ...inputOf(fields, values, before) })
    if (answer === null) errors.fail()
    else onDone(answer as Route)
  }
  const changeRows = (next: TargetRow[]) => {
    errors.change('targets')
    setRows(next)
  }
  const draw = (field: (typeof fields)[number]) => (
    <FormField
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      onChange={(value) => {
        errors.change(field.name)
        setValues((old) => ({ ...old, [field.name]: value }))
      }}
      error={errors.left[field.name]}
      suggestions={field.name === 'model' ? models : undefined}
    />
  )
  return (
    <form ref={form} className="form form-wide stack" noValidate onSubmit={(event) => void submit(event)}>
      {shown.map(draw)}
      {route === null ? (
        <ScopeFields value={scope} onChange={setChosen} operation="routes.add" allEnvironments />
      ) : null}
      <TargetEditor rows={rows} onChange={changeRows} providers={providers} weighted={values.strategy === 'weighted'} />
      {errors.left.targets === undefined ? null : (
        <p className="field-error small" role="alert">
          {errors.left.targets}
        </p>
      )}
      {rows.length > 1 ? strategy.map(draw) : null}
      <details className="fold" open={more.some(({ name }) => errors.all[name] !== undefined) || undefined}>
        <summary>More settings</summary>
        <div className="stack">{more.map(draw)}</div>
      </details>
      <FormFault fault={fault} shown={fields.map(({ name }) => name)} />
      <div className="row form-actions">
        <Button variant="primary" type="submit" busy={busy}>
          {route === null ? 'Add route' : 'Save'}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  )
}

const isOwned = (route: Route | null) => Object.keys(route?.owned ?? {}).length > 0

function firstRows(route: Route | null, provider: string | undefined, providers: readonly Provider[]): TargetRow[] {
  if (route !== null) return rowsOf(route.targets)
  const only = providers.length === 1 ? providers[0]?.name : undefined
  return [newRow(providers.find(({ name }) => name === provider)?.name ?? only ?? '')]
}

/** Names that the chosen providers have, else those of all. */
function useModelSuggestions(providers: readonly Provider[], rows: readonly TargetRow[]): string[] {
  const chosen = providers.filter(({ name }) => rows.some(({ provider }) => provider === name))
  const names = (chosen.length > 0 ? chosen : providers).flatMap(({ models }) => models.map(({ name }) => name))
  return [...new Set(names)].sort().slice(0, 500)
}

export type ScopeInput = { project: string; environment?: string; allEnvironments?: boolean }

export function scopeInput({ project, environment }: ScopeValue): ScopeInput {
  return environment === null ? { project, allEnvironments: true } : { project, environment }
}

/** Refers to a route by ID, in its own scope. */
export function referenceTo({ id, project, environment }: Route): ScopeInput & { model: string } {
  return { model: id, ...scopeInput({ project, environment }) }
}

function initialOf(route: Route): Record<string, unknown> {
  const { timeouts, fallback_on, echo_model, hedge, shadow, reasoning_text, fetch_media, ...others } = route
  const { cache_ms, keep_responses_ms, ...rest } = others
  return {
    ...rest,
    fallbackOn: fallback_on,
    echoModel: echo_model,
    hedgeAfter: hedge?.after ?? 'none',
    hedgeShare: hedge?.share,
    shadow: shadow ?? 'none',
    reasoningText: reasoning_text ? 'on' : 'off',
    fetchMedia: fetch_media,
    cache: durationText(cache_ms),
    keepResponses: durationText(keep_responses_ms),
    timeoutConnect: durationText(timeouts.connect_ms),
    timeoutFirstByte: durationText(timeouts.first_byte_ms),
    timeoutBetweenChunks: durationText(timeouts.between_chunks_ms),
    timeoutTotal: durationText(timeouts.total_ms),
  }
}
