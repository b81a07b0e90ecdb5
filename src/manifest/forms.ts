import { isFormatName } from '../core/format.ts'
import { isObject } from '../core/json/is-object.ts'
import { laneNames } from '../core/lane.ts'
import { parseMoment } from '../core/moment.ts'
import { hedgeAfterForm, parseHedgeAfter, parseShadow } from '../core/routes/route-options.ts'
import { parseTarget, writeTarget } from '../core/routes/written-target.ts'
import { formatDuration, formatSize, parseDuration, parseSize } from '../core/units.ts'
import { canonical, type Fields, type Plain } from './resource.ts'

/** How a field's value is written in a file. */
export interface Form {
  /** Ends the sentence "expected …". */
  expected: string
  /** undefined: it is not of this form. */
  read(value: unknown): Plain | undefined
  /** As a file and a plan show it; `siblings` are the resource's other fields. */
  write(value: Plain, siblings: Fields): unknown
}

const asItIs = (value: Plain) => value

export const text: Form = {
  expected: 'a text',
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
  write: asItIs,
}

/** A text that has to be of some form. */
export function textThat(accepts: (text: string) => boolean = () => true): Form {
  const read = (value: unknown) => (typeof value === 'string' && value !== '' && accepts(value) ? value : undefined)
  return { ...text, read }
}

/** Of digits, which YAML takes for a number, or of anything else. */
export const word: Form = {
  ...text,
  read: (value) => text.read(typeof value === 'number' ? String(value) : value),
}

export const scalar: Form = {
  expected: 'a text, a number, true or false',
  read: (value) =>
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : undefined,
  write: asItIs,
}

export const flag: Form = {
  expected: 'true or false',
  read(value) {
    if (value === true || value === 'true') return true
    return value === false || value === 'false' ? false : undefined
  },
  write: asItIs,
}

/** A number may come as text, out of a variable. */
export function whole(least: number, most: number): Form {
  return {
    expected: `a whole number from ${least} to ${most}`,
    read(value) {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
        ? number
        : undefined
    },
    write: asItIs,
  }
}

/** A number may come as text, out of a variable. */
export function amount(most: number): Form {
  return {
    expected: `a number from 0 to ${most}`,
    read(value) {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      return typeof number === 'number' && number >= 0 && number <= most ? number : undefined
    },
    write: asItIs,
  }
}

export function choice(words: readonly string[]): Form {
  return {
    expected: `one of ${words.join(', ')}`,
    read: (value) => (typeof value === 'string' && words.includes(value) ? value : undefined),
    write: asItIs,
  }
}

/** In milliseconds. */
export const duration: Form = {
  expected: 'a duration such as 250ms, 5s, 30m or 90d',
  read: (value) => (typeof value === 'string' ? (parseDuration(value) ?? undefined) : undefined),
  write: (value) => (typeof value === 'number' ? formatDuration(value) : value),
}

/** In milliseconds, or `p95`. */
export const hedgeAfter: Form = {
  expected: hedgeAfterForm,
  read: (value) => (typeof value === 'string' ? (parseHedgeAfter(value) ?? undefined) : undefined),
  write: (value) => (typeof value === 'number' ? formatDuration(value) : value),
}

export const shadow: Form = {
  ...textThat((written) => parseShadow(written) !== null),
  expected: 'a target, like openai or openai:gpt-4o',
}

/** In bytes. */
export const size: Form = {
  expected: 'a size such as 64KB, 100MB or 2GiB',
  read: (value) => (typeof value === 'string' ? (parseSize(value) ?? undefined) : undefined),
  write: (value) => (typeof value === 'number' ? formatSize(value) : value),
}

/** Not a duration, which would mean another moment each time the file is applied. */
export const moment: Form = {
  expected: 'a time such as 2027-01-31T12:00:00Z',
  read(value) {
    const time = typeof value === 'string' ? parseMoment(value) : null
    return time === null ? undefined : new Date(time).toISOString()
  },
  write: asItIs,
}

/** A list of texts without duplicates; a single one needs no list. `sorted`: their order has no meaning. */
export function list(expected: string, { sorted = false, of = text }: { sorted?: boolean; of?: Form } = {}): Form {
  return {
    expected,
    read(value) {
      const items = (Array.isArray(value) ? value : [value]).map((item) => of.read(item))
      if (items.some((item) => item === undefined)) return undefined
      const once = [...new Set(items as string[])]
      return sorted ? once.sort() : once
    },
    write: asItIs,
  }
}

/** Names with texts; the value replaces the former one as a whole. */
export const pairs: Form = {
  expected: 'names with texts, like team: search',
  read(value) {
    if (!isObject(value)) return undefined
    const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== '')
    const fit = entries.every(([, inner]) => ['string', 'number', 'boolean'].includes(typeof inner))
    return fit ? Object.fromEntries(entries.map(([name, inner]) => [name, String(inner)])) : undefined
  },
  write: asItIs,
}

export const providersByLane: Form = {
  expected: `a provider for each lane (${laneNames.join(', ')})`,
  read(value) {
    const read = pairs.read(value)
    const known: readonly string[] = laneNames
    return isObject(read) && Object.keys(read).every((lane) => known.includes(lane)) ? read : undefined
  },
  write: asItIs,
}

/** The form, or a word that means no value. */
export function orWord(form: Form, word: string): Form {
  return {
    expected: `${form.expected}, or ${word}`,
    read: (value) => (value === word ? null : form.read(value)),
    write: (value, siblings) => (value === null ? word : form.write(value, siblings)),
  }
}

/** Each as text, or as an object. A priority that is not given follows from the strategy, and is filled in by the plan. */
export const targets: Form = {
  expected: 'a list of targets, like openai or openai:gpt-4o,weight=2',
  read(value) {
    const read = (Array.isArray(value) ? value : [value]).map(readTarget)
    return read.length === 0 || read.some((target) => target === undefined) ? undefined : (read as Plain[])
  },
  write: (value, siblings) =>
    Array.isArray(value) ? value.map((target, place) => showTarget(target, place, siblings)) : value,
}

const targetNames = ['provider', 'upstream_model', 'weight', 'priority', 'format']

function readTarget(value: unknown): Plain | undefined {
  if (typeof value === 'string') {
    const target = parseTarget(value)
    if (target === null) return undefined
    const { provider, upstreamModel, weight, priority, format } = target
    return { provider, upstream_model: upstreamModel, weight: weight ?? 1, priority, format }
  }
  if (!isObject(value) || Object.keys(value).some((name) => !targetNames.includes(name))) return undefined
  const { provider, upstream_model = null, weight = 1, priority = null, format = null } = value
  if (typeof provider !== 'string' || (upstream_model !== null && typeof upstream_model !== 'string')) return undefined
  if (typeof weight !== 'number' || (priority !== null && typeof priority !== 'number')) return undefined
  if (format !== null && !isFormatName(format)) return undefined
  return { provider, upstream_model, weight, priority, format }
}

/** Only `priority` reads an order into the list; the others choose among equals. */
export function defaultPriority(place: number, siblings: Fields): number {
  return siblings.strategy === 'priority' ? place : 0
}

function showTarget(target: Plain, place: number, siblings: Fields): unknown {
  if (!isObject(target)) return target
  const { provider, upstream_model, weight, priority, format } = target
  const written = writeTarget({
    provider: String(provider),
    upstreamModel: typeof upstream_model === 'string' ? upstream_model : null,
    weight: weight === 1 ? null : Number(weight),
    priority: priority === null || priority === defaultPriority(place, siblings) ? null : Number(priority),
    format: isFormatName(format) ? format : null,
  })
  const again = readTarget(written)
  // A model's name may look like an option.
  const plain = isObject(again) && again.upstream_model === upstream_model && again.weight === weight
  if (plain) return written
  const { format: _, ...rest } = target
  return JSON.parse(canonical(isFormatName(format) ? target : rest))
}
