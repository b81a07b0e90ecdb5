import { captureModes } from '../capture.ts'
import { laneNames } from '../lane.ts'
import { formatDuration, formatSize, parseDuration, parseSize } from '../units.ts'
import type { ContentRule } from './content-rules.ts'
import { isNetwork } from './network.ts'
import { parseOpening } from './opening.ts'

/**
 * The rules of a policy, one row each. The admin contract, flags, columns, forms, configuration files, the store and
 * the snapshot derive from these rows. What a rule does to a request is its row in `src/policy/checks.ts`; a rule
 * without one does not compile.
 */

/** How a rule's value is written. A new form also needs its schemas in the contract and its form in configuration files. */
export type RuleForm =
  /**
   * Texts; `choices` is null where any text will do that `accepts` does. `sorted`: their order has no meaning.
   * `whole`: a comma is part of a text.
   */
  | {
      kind: 'list'
      choices: readonly string[] | null
      what: string
      sorted: boolean
      accepts?: (text: string) => boolean
      whole?: true
    }
  /** A number of bytes, written with its unit. */
  | { kind: 'size' }
  /** Milliseconds, more than 0, written with a unit. */
  | { kind: 'duration'; expected: string }
  /** A whole number. */
  | { kind: 'count' }
  /** In USD. */
  | { kind: 'money' }
  | { kind: 'switch' }
  /** One of the words, or a rate in USD per million tokens. */
  | { kind: 'rate'; words: readonly string[] }
  | { kind: 'choice'; choices: readonly string[] }
  /** Content rules, written in files. */
  | { kind: 'content' }

/** As the store, the snapshot and answers have it. An empty list, false or null: the policy does not set the rule. */
export type ValueOf<Form extends RuleForm> = Form extends { kind: 'list'; choices: infer Choices }
  ? (Choices extends readonly (infer Item extends string)[] ? Item : string)[]
  : Form extends { kind: 'choice'; choices: readonly (infer Word extends string)[] }
    ? Word | null
    : Form extends { kind: 'switch' }
      ? boolean
      : Form extends { kind: 'rate'; words: readonly (infer Word extends string)[] }
        ? Word | number | null
        : Form extends { kind: 'content' }
          ? ContentRule[]
          : number | null

/** As a person or a program writes it. */
export type WrittenOf<Form extends RuleForm> = Form extends { kind: 'size' | 'duration' | 'rate' }
  ? string
  : Form extends { kind: 'content' }
    ? WrittenFiles
    : NonNullable<ValueOf<Form>>

/** Texts of files by their names. */
export type WrittenFiles = Record<string, string>

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
const networks = {
  kind: 'list',
  choices: null,
  what: 'addresses or CIDR blocks, like 10.0.0.0/8 or ::1',
  sorted: true,
  accepts: isNetwork,
} as const
const openings = {
  kind: 'list',
  choices: null,
  what: "hours, like 'Mon-Fri 08:00-18:00' or 22:00-06:00",
  sorted: false,
  accepts: (text: string) => parseOpening(text) !== null,
  whole: true,
} as const

const patterns = {
  kind: 'list',
  choices: null,
  what: 'patterns in RE2 syntax',
  sorted: false,
  whole: true,
} as const

export const policyRules = {
  rpm: {
    form: { kind: 'count' },
    title: 'REQUESTS/MIN',
    meta: { description: 'Most requests in any 60 seconds', label: 'Requests a minute' },
  },
  tpm: {
    form: { kind: 'count' },
    title: 'TOKENS/MIN',
    meta: { description: 'Most tokens in any 60 seconds, input and output together', label: 'Tokens a minute' },
  },
  concurrency: {
    form: { kind: 'count' },
    title: 'AT ONCE',
    meta: { description: 'Most requests at once', label: 'Requests at once' },
  },
  budgetUsdDay: {
    form: { kind: 'money' },
    title: 'USD/DAY',
    meta: { description: "Budget in USD for each day of the workspace's time zone", label: 'Budget in USD a day' },
  },
  budgetUsdMonth: {
    form: { kind: 'money' },
    title: 'USD/MONTH',
    meta: {
      description: "Budget in USD for each month of the workspace's time zone; what the month has cost already counts",
      label: 'Budget in USD a month',
    },
  },
  budgetTokensDay: {
    form: { kind: 'count' },
    title: 'TOKENS/DAY',
    meta: {
      description: "Budget in tokens for each day of the workspace's time zone",
      label: 'Budget in tokens a day',
    },
  },
  budgetTokensMonth: {
    form: { kind: 'count' },
    title: 'TOKENS/MONTH',
    meta: {
      description: "Budget in tokens for each month of the workspace's time zone",
      label: 'Budget in tokens a month',
    },
  },
  onBudget: {
    form: { kind: 'choice', choices: ['refuse', 'warn'] },
    title: 'ON BUDGET',
    meta: {
      description: 'Refuse what a budget has no room for, or only flag it (default: refuse)',
      label: 'When a budget is used up',
      help: 'Refuse requests, or let them pass with a warning on their records. Default: refuse',
    },
  },
  per: {
    form: { kind: 'choice', choices: ['key', 'user'] },
    title: 'PER',
    meta: {
      description:
        'Give each key or each end user limits of its own (default: shared by what the policy is attached to)',
      label: 'Count per',
      help: 'Each key or each end user has limits of its own. Default: what the policy is attached to shares them',
    },
  },
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
  maxOutputTokens: {
    form: { kind: 'count' },
    title: 'MAX OUTPUT',
    meta: {
      description: 'Most tokens of an answer; a request must ask for no more',
      label: 'Max output tokens',
      help: 'Requests that allow longer answers, or set no limit, are refused, or changed where they are capped',
    },
  },
  capOutput: {
    form: { kind: 'switch' },
    title: 'CAPS OUTPUT',
    meta: {
      description: 'Lower or set the output limit of requests instead of refusing them',
      label: 'Cap output',
      help: 'Lower or set the output limit of requests instead of refusing them',
    },
  },
  addresses: {
    form: networks,
    title: 'ADDRESSES',
    meta: {
      flag: 'address',
      description: 'Client address or CIDR block to allow (default: all)',
      label: 'Allowed addresses',
      help: 'Addresses or CIDR blocks of clients, like 10.0.0.0/8. Empty: all',
    },
  },
  hours: {
    form: openings,
    title: 'HOURS',
    meta: {
      description:
        "When requests are allowed, in the workspace's time zone, such as 'Mon-Fri 08:00-18:00' (default: always)",
      label: 'Allowed hours',
      help: "In the workspace's time zone, one per line, such as Mon-Fri 08:00-18:00 or 22:00-06:00. Empty: always",
    },
  },
  contentRules: {
    form: { kind: 'content' },
    title: 'CONTENT RULES',
    meta: {
      flag: 'content-rule',
      description: 'File with content rules, YAML or JSON: what to block, redact or flag in prompts and answers',
      label: 'Content rules',
      help: 'What to block, redact or flag in prompts and answers, in YAML or JSON, such as rules: [{name: keys, detector: secrets, action: block}]',
    },
  },
  denyPatterns: {
    form: patterns,
    title: 'DENIES TEXT',
    meta: {
      flag: 'deny-pattern',
      description: 'Pattern in RE2 syntax; a prompt with a match is blocked',
      label: 'Denied patterns',
      help: 'Patterns in RE2 syntax, one per line. A prompt with a match is blocked',
    },
  },
  denyUnseen: {
    form: { kind: 'switch' },
    title: 'DENIES UNSEEN',
    meta: {
      description:
        "Deny what the policy's content rules cannot check: images, sound, files, uploads, lists and WebSockets other than Responses",
      label: 'Deny what rules cannot see',
      help: 'Images, sound, files, uploads, lists and WebSockets other than Responses, where the content rules of this policy would look. Default: they pass, and the record says so',
    },
  },
  unpriced: {
    form: { kind: 'rate', words: ['allow', 'deny'] },
    title: 'UNPRICED',
    meta: {
      description:
        'What to do with models that have no price: allow, deny, or charge this rate in USD per million tokens (default: allow, and deny where a budget in USD applies)',
      label: 'Models without a price',
      help: 'allow, deny, or a rate in USD per million tokens, input and output alike. Default: allowed, and denied by a budget in USD',
    },
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
  bodiesRetention: {
    form: { kind: 'duration', expected: 'a duration longer than 0, such as 12h (capture none keeps no bodies)' },
    title: 'KEEPS BODIES',
    meta: {
      description:
        'How long captured bodies are kept, at most; the shortest of all policies and of records.bodies_retention applies',
      label: 'Keep bodies for',
      help: 'Such as 12h or 1d. The shortest of all policies that apply and of records.bodies_retention counts. Empty: that setting alone',
    },
  },
} as const satisfies RuleTable

export type RuleName = keyof typeof policyRules

type Separated<Name extends string, Mark extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `${Mark}${Lowercase<First>}`}${Separated<Rest, Mark>}`
  : ''
type UnitOf<Kind> = Kind extends 'size' ? '_bytes' : Kind extends 'duration' ? '_ms' : ''
type ShownName<Name extends string, Form extends RuleForm> = `${Separated<Name, '_'>}${UnitOf<Form['kind']>}`

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
  if (kind === 'duration') return `${fileName(name)}_ms`
  return kind === 'size' ? `${fileName(name)}_bytes` : fileName(name)
}

/** What a policy has that does not set the rule. */
export function unsetValue({ kind }: RuleForm): null | [] | false {
  if (kind === 'switch') return false
  return kind === 'list' || kind === 'content' ? [] : null
}

/** The value of what was written, which the contract's schema has accepted; of content rules, what was read from their files. */
export function parseValue(form: RuleForm, written: unknown): unknown {
  if (form.kind === 'rate') return parseRate(form.words, String(written))
  if (form.kind === 'duration') return parseDuration(String(written))
  return form.kind === 'size' ? parseSize(String(written)) : written
}

/** More than this per million tokens is a mistake by a factor of a million. */
const highestRate = 10_000

/** Null: neither one of the words nor a rate. */
export function parseRate(words: readonly string[], text: string): string | number | null {
  if (words.includes(text)) return text
  const rate = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return rate <= highestRate ? rate : null
}

/** The value as one would write it; null where the rule is not set. */
export function writeValue({ kind }: RuleForm, value: unknown): unknown {
  if (kind === 'rate' && typeof value === 'number') return String(value)
  if (kind === 'duration' && typeof value === 'number') return formatDuration(value)
  if (kind === 'content' && Array.isArray(value))
    return value.length > 0 ? { 'rules.json': JSON.stringify({ rules: value }, null, 2) } : {}
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
  parse: typeof parseValue = parseValue,
): RuleValues<Table> {
  return fromRows(table, (name, form) => {
    if (written[name] !== undefined) return [name, parse(form, written[name])]
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
