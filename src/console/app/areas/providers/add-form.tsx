import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import type { Fault } from '../../client/fault.ts'
import { operationNamed } from '../../contract/operations.ts'
import { useFormErrors } from '../../parts/field-errors.ts'
import { FormField } from '../../parts/form-field.tsx'
import { type FormValues, inputOf, problemsOf, valuesOf } from '../../parts/form-values.ts'
import { Button, FormFault, toast, useOperation } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Provider, ProviderKind } from '../outputs.ts'
import { pluralize } from '../units.ts'
import { type AddChoice, freeName } from './add-choices.ts'
import { CheckList } from './check-list.tsx'

const folded = [
  'headers',
  'projects',
  'tags',
  'timeoutConnect',
  'timeoutFirstByte',
  'timeoutBetweenChunks',
  'timeoutTotal',
  'rpm',
  'tpm',
  'budgetUsdMonth',
]

/** Settings of nearly every kind, and seldom needed. */
export const egressFields = ['proxy', 'authorities', 'allowPrivate']

type AddKind = Pick<AddChoice, 'kind' | 'preset'>

/** The contract's own fields, those of other kinds left out: a new kind needs nothing here. */
function fieldsFor({ kind, preset }: AddKind) {
  const all = kind.own_settings.map(({ field }) => field).filter((field) => field !== 'preset')
  const own = all.filter((field) => !egressFields.includes(field))
  const needsUrl = needsBaseUrl({ kind, preset })
  const shown = [
    'name',
    ...(needsUrl ? ['baseUrl'] : []),
    ...(kind.credential === 'none' ? [] : ['credential']),
    ...own,
  ]
  const more =
    kind.own_settings.length === 0
      ? ['projects', 'tags', 'rpm', 'tpm', 'budgetUsdMonth']
      : [...(needsUrl ? [] : ['baseUrl']), ...folded, ...egressFields, 'skipCheck']
  const { fields } = operationNamed('providers.add')
  const pick = (names: readonly string[]) => names.flatMap((name) => fields.find((field) => field.name === name) ?? [])
  return { shown: pick(shown), more: pick([...more, 'inactive']) }
}

export function AddForm({ choice }: { choice: AddChoice }) {
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const projects = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  if (providers.data === undefined) return null
  const name = freeName(
    choice.preset?.name ?? choice.kind.kind,
    providers.data.map((provider) => provider.name),
  )
  return <FilledForm choice={choice} name={name} projects={projects.data?.map((project) => project.name) ?? []} />
}

interface FilledFormProps {
  choice: AddChoice
  /** Proposed. */
  name: string
  projects: readonly string[]
}

function FilledForm({ choice, name, projects }: FilledFormProps) {
  const { kind, preset } = choice
  const { shown, more } = fieldsFor(choice)
  const fields = [...shown, ...more]
  const [values, setValues] = useState<FormValues>(() => valuesOf(fields, { name }))
  const form = useRef<HTMLFormElement>(null)
  const { call, busy, fault, forget } = useOperation('providers.add')
  const navigate = useNavigate()
  const errors = useFormErrors(form, fault)
  const set = (field: string, value: FormValues[string]) => {
    errors.change(field)
    setValues((all) => ({ ...all, [field]: value }))
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (errors.refuse({ ...problemsOf(fields, values, null), ...missingByKind(choice, values) })) return
    const fixed = { kind: kind.kind, ...(preset === null ? {} : { preset: preset.name }) }
    const added = await call({ ...fixed, ...inputOf(fields, values, null) })
    if (added === null) return errors.fail()
    const made = added as Provider
    toast({ tone: 'good', title: `Provider "${made.name}" added`, text: describeCheck(made) })
    void navigate({ to: '/providers/$name', params: { name: made.name }, search: keepScope })
  }
  const draw = (field: (typeof fields)[number]) => (
    <FormField
      key={field.name}
      field={isNeeded(field.name, choice) ? { ...field, required: true } : field}
      value={values[field.name] ?? ''}
      onChange={(value) => set(field.name, value)}
      error={errors.left[field.name]}
      label={field.name === 'credential' ? credentialLabel(kind) : undefined}
      hint={hintOf(field.name, choice) ?? field.description}
      suggestions={field.name === 'projects' ? projects : undefined}
    />
  )
  const checks = kind.credential !== 'none' && values.skipCheck !== true
  // The base URL may be among them.
  const isElsewhere = checks && fault?.reason !== undefined && fault.reason !== 'credential_rejected'
  const isWrong = more.some(({ name: field }) => errors.all[field] !== undefined)
  return (
    <div className="beside">
      <form ref={form} className="form stack" noValidate onSubmit={(event) => void submit(event)}>
        {shown.map(draw)}
        <details className="fold" open={isWrong || isElsewhere || undefined}>
          <summary>More settings</summary>
          <div className="stack">{more.map(draw)}</div>
        </details>
        {fault?.reason ? null : <FormFault fault={fault} shown={fields.map((field) => field.name)} />}
        <div className="row form-actions">
          <Button variant="primary" type="submit" busy={busy}>
            {checks ? 'Check and add' : 'Add provider'}
          </Button>
          <Button onClick={() => void navigate({ to: '/providers', search: keepScope })}>Cancel</Button>
        </div>
      </form>
      <CheckAside
        choice={choice}
        checks={checks}
        busy={busy}
        fault={fault}
        onBaseUrl={(url) => {
          set('baseUrl', url)
          forget()
        }}
      />
    </div>
  )
}

interface CheckAsideProps {
  choice: AddChoice
  checks: boolean
  busy: boolean
  fault: Fault | null
  onBaseUrl(url: string): void
}

function CheckAside({ choice, checks, busy, fault, onBaseUrl }: CheckAsideProps) {
  return (
    <aside className="stack beside-form">
      {choice.preset?.note ? <p className="notice">{choice.preset.note}</p> : null}
      {checks && (busy || fault?.reason) ? (
        <section className="card" aria-label="Provider check">
          <h2 className="card-head">{busy ? 'Checking' : 'Check failed. Nothing was stored.'}</h2>
          <CheckList
            outcome={busy || !fault ? null : { ok: false, reason: fault.reason, message: fault.message, models: null }}
            onBaseUrl={onBaseUrl}
          />
          {busy ? null : <p className="small quiet">To add it without a check: More settings, Skip check.</p>}
        </section>
      ) : checks ? (
        <p className="small quiet">
          Before storing anything, the gateway lists the provider’s models. This is free and verifies the base URL and
          the credential.
        </p>
      ) : null}
    </aside>
  )
}

function needsCredential({ kind, preset }: AddChoice): boolean {
  return (preset?.credential ?? kind.credential) === 'required'
}

function needsBaseUrl({ kind, preset }: AddKind): boolean {
  return kind.default_base_url === null && preset === null
}

/** The contract leaves open what some kinds cannot do without. */
function isNeeded(field: string, choice: AddChoice): boolean {
  if (field === 'credential') return needsCredential(choice)
  return field === 'baseUrl' ? needsBaseUrl(choice) : requiredSettings(choice).includes(field)
}

/** Input fields of the settings that the kind cannot do without. */
function requiredSettings({ kind }: AddChoice): string[] {
  const required = Array.isArray(kind.settings.required) ? kind.settings.required : []
  return kind.own_settings.filter(({ setting }) => required.includes(setting)).map(({ field }) => field)
}

function missingByKind(choice: AddChoice, values: FormValues): Record<string, string> {
  const lacking = ['credential', 'baseUrl', ...requiredSettings(choice)].filter(
    (field) => isNeeded(field, choice) && values[field] === '',
  )
  return Object.fromEntries(lacking.map((field) => [field, 'Required']))
}

function credentialLabel({ title, credential_documents: documents }: ProviderKind): string {
  return documents.length === 0 ? `${title} API key` : `${title} credential`
}

/** What may be pasted where one word is not all there is. */
function credentialForms({ credential_word: word, credential_documents: documents }: ProviderKind): string {
  const forms = documents.map(({ title, members }) => `a ${title} as JSON (${members.join(', ')})`)
  return forms.length === 0 ? '' : `${[...(word ? ['An API key'] : []), ...forms].join(', or ')}. `
}

function hintOf(field: string, { kind, preset }: AddChoice): string | undefined {
  if (field === 'name') return 'Routes and requests refer to the provider by this name.'
  if (field === 'credential')
    return `${credentialForms(kind)}Stored encrypted with the machine key. Later, only its last four characters are shown.`
  if (field !== 'baseUrl') return undefined
  const usual = preset?.base_url ?? kind.default_base_url
  return usual === null
    ? 'The base URL to give the vendor’s own SDK, such as http://127.0.0.1:8000/v1'
    : `Default: ${usual}`
}

function describeCheck({ state, models }: Provider): string {
  if (state === 'unchecked') return 'Not checked yet.'
  return `Check passed. ${pluralize(models.length, 'model')} found.`
}
