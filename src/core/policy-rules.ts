import { captureModes } from './capture.ts'
import { laneNames } from './lane.ts'
import { formatSize, parseSize } from './units.ts'

/**
 * The rules of a policy, one row each. The admin contract, flags, columns, forms, configuration files, the store and
 * the snapshot derive from these rows. What a rule does to a request is its row in `src/policy/checks.ts`; a rule
 * without one does not compile.
 */

/** How a rule's value is written. A new form also needs its schemas in the contract and its form in configuration files. */
export type RuleForm =
  /** Texts; `choices` is null where any text will do. `sorted`: their order has no meaning. */
  | { kind: 'list'; choices: readonly string[] | null; what: string; sorted: boolean }
  /** A number of bytes, written with its unit. */
  | { kind: 'size' }
  | { kind: 'choice'; choices: readonly string[] }

/** As the store, the snapshot and answers have it. An empty list or null: the policy does not set the rule. */
export type ValueOf<Form extends RuleForm> = Form extends { kind: 'list'; choices: infer Choices }
  ? (Choices extends readonly (infer Item extends string)[] ? Item : string)[]
  : Form extends { kind: 'choice'; choices: readonly (infer Word extends string)[] }
    ? Word | null
    : number | null

/** As a person or a program writes it. */
export type WrittenOf<Form extends RuleForm> = Form extends { kind: 'size' } ? string : NonNullable<ValueOf<Form>>

/** Of a rule that is set. */
export type RuleValue = NonNullable<ValueOf<RuleForm>>

export interface PolicyRule {
  form: RuleForm
  /** Of its column. */
  title: string
  /** Of its input field: `FieldMeta` of the contract. The default flag is the rule's name in kebab case. */
  meta: { description: string; label: string; help?: string; flag?: string }
}

export type RuleTable = Readonly<Record<string, PolicyRule>>

const models = { kind: 'list', choices: null, what: 'model names or patterns', sorted: false } as const

export const policyRules = {
  allowModels: {
    form: models,
    title: 'ALLOWS',
    meta: {
      flag: 'allow-model',
      description: 'Model name or pattern to allow (default: all)',
      label: 'Allowed models',
      help: 'Model names or patterns. Empty: all models',
    },
  },
  denyModels: {
    form: models,
    title: 'DENIES',
    meta: {
      flag: 'deny-model',
      description: 'Model name or pattern to deny, even if it is allowed elsewhere',
      label: 'Denied models',
      help: 'Model names or patterns. They are denied even if they are allowed elsewhere',
    },
  },
  lanes: {
    form: { kind: 'list', choices: laneNames, what: 'lanes', sorted: true },
    title: 'LANES',
    meta: {
      flag: 'lane',
      description: 'Lane to allow (default: all)',
      label: 'Allowed lanes',
      help: 'None selected: all lanes',
    },
  },
  maxBody: {
    form: { kind: 'size' },
    title: 'MAX BODY',
    meta: { description: 'Maximum size of a request body', label: 'Max body size' },
  },
  capture: {
    form: { kind: 'choice', choices: captureModes },
    title: 'CAPTURE',
    meta: {
      description:
        'Whether to store request and response bodies; redacted masks secrets and personal data, and the strictest policy applies (default: none)',
      label: 'Body capture',
      help: 'Store request and response bodies. Redacted masks secrets and personal data; the strictest policy applies. Default: none are stored',
    },
  },
} as const satisfies RuleTable

export type RuleName = keyof typeof policyRules

type Separated<Name extends string, Mark extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `${Mark}${Lowercase<First>}`}${Separated<Rest, Mark>}`
  : ''
type ShownName<Name extends string, Form extends RuleForm> = Form extends { kind: 'size' }
  ? `${Separated<Name, '_'>}_bytes`
  : Separated<Name, '_'>

/** By the rule's name, as in the store and the snapshot. One that is not there is not set. */
export type RuleValues<Table extends RuleTable> = { -readonly [Name in keyof Table]: ValueOf<Table[Name]['form']> }
export type PolicyRules = RuleValues<typeof policyRules>

/** What an operation is given: a rule that is not named stays as it is. */
export type WrittenRules<Table extends RuleTable> = {
  -readonly [Name in keyof Table]?: WrittenOf<Table[Name]['form']> | undefined
}
/** What an operation answers. */
export type ShownRules<Table extends RuleTable> = {
  -readonly [Name in keyof Table & string as ShownName<Name, Table[Name]['form']>]: ValueOf<Table[Name]['form']>
}
/** What `--clear` takes. */
export type ClearWord<Table extends RuleTable> = Separated<keyof Table & string, '-'>

const separated = (name: string, mark: string) => name.replace(/[A-Z]/g, (letter) => mark + letter.toLowerCase())

/** `maxBody` → `max_body`: its name in configuration files. */
export const fileName = (name: string): string => separated(name, '_')
/** `maxBody` → `max-body` */
export const clearWord = (name: string): string => separated(name, '-')

/** `maxBody` → `max_body_bytes`: its name in answers. */
export function shownName(name: string, { kind }: RuleForm): string {
  return kind === 'size' ? `${fileName(name)}_bytes` : fileName(name)
}

/** What a policy has that does not set the rule. */
export function unsetValue({ kind }: RuleForm): null | [] {
  return kind === 'list' ? [] : null
}

/** The value of what was written, which the contract's schema has accepted. */
export function parseValue({ kind }: RuleForm, written: unknown): unknown {
  return kind === 'size' ? parseSize(String(written)) : written
}

/** The value as one would write it; null where the rule is not set. */
export function writeValue({ kind }: RuleForm, value: unknown): unknown {
  return kind === 'size' && typeof value === 'number' ? formatSize(value) : value
}

function fromRows<Result>(table: RuleTable, entry: (name: string, form: RuleForm) => [name: string, value: unknown]) {
  return Object.fromEntries(Object.entries(table).map(([name, { form }]) => entry(name, form))) as Result
}

/** What is written replaces what was there; what is cleared is unset first. */
export function changeRules<Table extends RuleTable>(
  table: Table,
  before: Partial<RuleValues<Table>>,
  written: WrittenRules<Table>,
  cleared: readonly string[] = [],
): RuleValues<Table> {
  return fromRows(table, (name, form) => {
    if (written[name] !== undefined) return [name, parseValue(form, written[name])]
    return [name, (cleared.includes(clearWord(name)) ? null : before[name]) ?? unsetValue(form)]
  })
}

export function showRules<Table extends RuleTable>(table: Table, rules: Partial<RuleValues<Table>>): ShownRules<Table> {
  return fromRows(table, (name, form) => [shownName(name, form), rules[name] ?? unsetValue(form)])
}

/** An answer as the input that would set the same rules. */
export function writeRules<Table extends RuleTable>(
  table: Table,
  shown: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return fromRows(table, (name, form) => [name, writeValue(form, shown[shownName(name, form)])])
}
