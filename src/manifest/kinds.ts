import { alertEvents, alertFormats } from '../core/alert.ts'
import { policyRules } from '../core/policies/policy-rules.ts'
import { usualHedgeShare } from '../core/routes/route-options.ts'
import * as forms from './forms.ts'
import { ruleSpecs } from './policy-rules.ts'
import type { Fields, Plain, ResourceKind } from './resource.ts'

/** A field of a resource, as a file may name it. */
export interface FieldSpec {
  form: forms.Form
  /** Path of it in what `show` prints: what the marks of ownership go by. */
  shown: string
  /** What a new resource has where the file says nothing. */
  fallback: Plain
  /** Decided when the resource is made, and never changed afterwards. */
  once?: true
}

export interface KindSpec {
  /** Of the file; an environment stands below its project. */
  section: string
  nameField: 'name' | 'model'
  /** Which of its fields say where it belongs. */
  scope: readonly ('project' | 'environment' | 'all_environments')[]
  fields: Record<string, FieldSpec>
  /** A section whose names the provider's kind decides. */
  openSection?: { name: string; spec: FieldSpec }
}

const field = (form: forms.Form, shown: string, fallback: Plain): FieldSpec => ({ form, shown, fallback })
const once = (form: forms.Form, shown: string, fallback: Plain): FieldSpec => ({ form, shown, fallback, once: true })

const limit = (name: string) => field(forms.orWord(forms.duration, 'default'), `timeouts.${name}_ms`, null)
const timeouts = {
  'timeouts.connect': limit('connect'),
  'timeouts.first_byte': limit('first_byte'),
  'timeouts.between_chunks': limit('between_chunks'),
  'timeouts.total': limit('total'),
}
const tags = field(forms.pairs, 'tags', {})

/** Written and compared as what can be seen of them (`credentials.ts` of the handlers knows them better). */
const credentials: forms.Form = {
  expected: 'a credential, preferably a variable',
  read: () => undefined,
  write: (value) => (Array.isArray(value) ? value.map(showCredential) : value),
}

/** May hold a token, so that it is handled like a credential. */
const alertUrl: forms.Form = {
  expected: 'an http or https URL, preferably a variable where it holds a token',
  read: () => undefined,
  write: (value) => (value === null ? value : showUrl(value)),
}

function showUrl(value: Plain): string {
  const { shown, fingerprint, unset } = value as ShownCredential & { shown?: string }
  if (unset !== undefined) return `unknown (${unset} is not set)`
  return fingerprint === undefined || shown?.endsWith('…') !== true
    ? (shown ?? '')
    : `${shown} (fingerprint ${fingerprint})`
}

/** `unset`: the variables without which it is not known. */
type ShownCredential = { last_four?: string; fingerprint?: string; unset?: string }

function showCredential(value: Plain): string {
  const { last_four, fingerprint, unset } = value as ShownCredential
  if (unset !== undefined) return `unknown (${unset} is not set)`
  const ending = last_four ? `ends in ${last_four}` : 'short'
  return fingerprint === undefined ? ending : `${ending} (fingerprint ${fingerprint})`
}

const secrets: forms.Form = {
  expected: 'a SHA-256 in 64 hexadecimal digits',
  read: () => undefined,
  write: (value) =>
    Array.isArray(value) ? value.map((one) => `ends in ${(one as { last_four: string }).last_four}`) : value,
}

export const kindSpecs: Record<ResourceKind, KindSpec> = {
  project: { section: 'projects', nameField: 'name', scope: [], fields: {} },
  environment: {
    section: 'environments',
    nameField: 'name',
    scope: [],
    fields: { default_providers: field(forms.providersByLane, 'default_providers', {}) },
  },
  provider: {
    section: 'providers',
    nameField: 'name',
    scope: [],
    fields: {
      kind: once(forms.text, 'kind', null),
      active: field(forms.flag, 'active', true),
      base_url: field(forms.text, 'base_url', null),
      credentials: field(credentials, 'credentials', []),
      headers: field(forms.pairs, 'headers', {}),
      projects: field(forms.orWord(forms.list('a list of projects', { sorted: true }), 'all'), 'projects', null),
      ...timeouts,
      rpm: field(forms.orWord(forms.whole(0, 1e9), 'none'), 'rpm', null),
      tpm: field(forms.orWord(forms.whole(0, 1e12), 'none'), 'tpm', null),
      budget_usd_month: field(forms.orWord(forms.amount(1e9), 'none'), 'budget_usd_month', null),
      tags,
    },
    openSection: { name: 'settings', spec: field(forms.orWord(forms.scalar, 'none'), 'settings', null) },
  },
  policy: {
    section: 'policies',
    nameField: 'name',
    scope: [],
    fields: {
      ...ruleSpecs(policyRules),
      attach: field(
        forms.list('a list of workspace, project:P, environment:P/E or key:P/E/NAME', { sorted: true }),
        'attached_to',
        [],
      ),
    },
  },
  key: {
    section: 'keys',
    nameField: 'name',
    scope: ['project', 'environment'],
    fields: {
      policy: field(forms.orWord(forms.text, 'none'), 'policy', null),
      tags,
      expires_at: field(forms.orWord(forms.moment, 'never'), 'expires_at', null),
      secrets: once(secrets, 'last_four', []),
    },
  },
  route: {
    section: 'routes',
    nameField: 'model',
    scope: ['project', 'environment', 'all_environments'],
    fields: {
      enabled: field(forms.flag, 'enabled', true),
      strategy: field(forms.choice(['priority', 'weighted', 'latency', 'cost']), 'strategy', 'priority'),
      targets: field(forms.targets, 'targets', []),
      retries: field(forms.whole(0, 10), 'retries', 1),
      fallback_on: field(forms.list('a list of statuses and error codes', { of: forms.word }), 'fallback_on', []),
      ...timeouts,
      strict: field(forms.flag, 'strict', false),
      echo_model: field(forms.flag, 'echo_model', false),
      sticky: field(forms.flag, 'sticky', false),
      hedge_after: field(forms.orWord(forms.hedgeAfter, 'none'), 'hedge.after', null),
      hedge_share: field(forms.whole(1, 100), 'hedge.share', usualHedgeShare),
      shadow: field(forms.orWord(forms.shadow, 'none'), 'shadow', null),
      reasoning_text: field(forms.flag, 'reasoning_text', true),
      fetch_media: field(forms.flag, 'fetch_media', false),
      cache: field(forms.orWord(forms.duration, 'none'), 'cache_ms', null),
      keep_responses: field(forms.orWord(forms.duration, 'none'), 'keep_responses_ms', null),
    },
  },
  alert: {
    section: 'alerts',
    nameField: 'name',
    scope: [],
    fields: {
      url: field(alertUrl, 'url', null),
      format: once(forms.choice(alertFormats), 'format', 'webhook'),
      on: field(
        forms.list(`a list of ${alertEvents.join(', ')}`, { sorted: true, of: forms.choice(alertEvents) }),
        'on',
        [...alertEvents].sort(),
      ),
      active: field(forms.flag, 'active', true),
    },
  },
}

/** The field's spec, also of one whose name the provider's kind decides. */
export function specOf(kind: ResourceKind, name: string): FieldSpec | null {
  const { fields, openSection } = kindSpecs[kind]
  if (Object.hasOwn(fields, name)) return fields[name] ?? null
  if (openSection === undefined || !name.startsWith(`${openSection.name}.`)) return null
  const { form, shown, fallback } = openSection.spec
  return { form, shown: `${shown}.${name.slice(openSection.name.length + 1)}`, fallback }
}

export function defaultsOf(kind: ResourceKind): Fields {
  return Object.fromEntries(Object.entries(kindSpecs[kind].fields).map(([name, { fallback }]) => [name, fallback]))
}

/** Path in what `show` prints; the resource's own name stands for its being there at all. */
export function shownPath(kind: ResourceKind, name: string): string {
  return specOf(kind, name)?.shown ?? name
}

/** As a file, a plan and the audit show it. */
export function writeField(kind: ResourceKind, name: string, fields: Fields): unknown {
  const spec = specOf(kind, name)
  const value = fields[name] ?? spec?.fallback ?? null
  return spec === null ? value : spec.form.write(value, fields)
}
