import { type Fault, fault } from '../core/errors.ts'
import {
  type Member,
  maximumElements,
  type ObjectScan,
  type Span,
  scanElements,
  scanObject,
  shortValue,
} from '../core/json/json-scan.ts'
import { isCount, readValue } from '../core/json/json-value.ts'
import { maximumValues } from '../core/json/json-walk.ts'
import { groupDigits } from '../core/units.ts'
import type { NameWatch } from '../core/watched-names.ts'
import type { Inspection } from './contract.ts'
import type { OutputLimits } from './output-limits.ts'

/** An inspection with only model and query; a lane fills in the rest. A new object each time. */
export function emptyInspection(model: string | null, query: string): Inspection {
  return {
    model,
    streamed: false,
    framing: null,
    query,
    modelSpans: [],
    endUser: null,
    outputLimit: null,
    answers: 1,
    stores: false,
    mayRefer: true,
    mayReplay: false,
    usagePatch: null,
  }
}

export type ScannedObject = Extract<ObjectScan, { ok: true }>

type ScannedBody = ScannedObject | Fault

const openBracket = 0x5b
const quote = 0x22

export function isFault(value: object): value is Fault {
  return 'code' in value
}

/** Finds the wanted top-level members of a request body, which must be one JSON object. */
export function scanBody(body: Buffer, wanted: readonly string[], watch: NameWatch | null = null): ScannedBody {
  if (body.length === 0) return fault('invalid_request', 'The body is empty; send a JSON object.')
  const scan = scanObject(body, wanted, undefined, watch, true)
  if (!scan.ok) return scan.tooMany ? tooManyToScan : notJson(body, scan.at)
  return rejectMisspelled(body, scan) ?? scan
}

/** Applies to every object whose members decide something: what is checked here must be what the provider reads. */
export function rejectMisspelled(body: Buffer, { odd }: ScannedObject): Fault | null {
  if (odd === null) return null
  const message = `\`${readValue(body, odd)}\` must be written \`${odd.meant}\`: servers disagree whether it is the same.`
  return fault('invalid_request', message, { param: odd.meant })
}

export const tooManyToScan: Fault = fault(
  'invalid_request',
  `The body holds more than ${groupDigits(maximumValues)} values, or one object in it more than ${groupDigits(maximumElements)} members: too many to look through. Send fewer at a time.`,
)

function notJson(body: Buffer, at: number): Fault {
  const first = body.subarray(0, 3).toString('latin1')
  if (first === '\xef\xbb\xbf') {
    return fault('invalid_request', 'The body begins with a byte order mark; send plain UTF-8 JSON.')
  }
  const place = at >= body.length ? 'it ends too early' : `see byte ${at}`
  return fault('invalid_request', `The body is not a valid JSON object: ${place}.`)
}

/**
 * The one name in all members called `model`; null when there is none and it is optional. Different names are rejected:
 * parsers disagree on which one counts, and what is checked here must be what the provider uses.
 */
export function readModel(
  body: Buffer,
  members: readonly Member[],
  optional: boolean,
): { model: string | null; spans: Span[] } | Fault {
  let model: string | null = null
  const spans: Span[] = []
  for (const member of members) {
    if (member.name !== 'model') continue
    if (isLongName(member)) return body[member.start] === quote ? longModel : badModel('`model` must be a string.')
    const value = readValue(body, member)
    if (value === null && optional) continue
    if (typeof value !== 'string') return badModel('`model` must be a string.')
    if (value.trim() === '') return badModel('`model` is empty; name the model.')
    if (model !== null && model !== value)
      return badModel('`model` is given twice with different values; send it once.')
    model = value
    spans.push({ start: member.start, end: member.end })
  }
  return model === null && !optional ? badModel('`model` is missing; name the model in the body.') : { model, spans }
}

/** Characters. The names stand in several places of the record, whose size must be bounded. */
export const modelLimit = 512
export const longModel = badModel(`A model's name is longer than ${modelLimit} characters.`)

/** Judged by its bytes: an escaped character takes at most six, so the name need not be decoded. */
export function isLongName({ start, end }: Span): boolean {
  return end - start > 6 * modelLimit + 2
}

function badModel(message: string): Fault {
  return fault('invalid_request', message, { param: 'model' })
}

/** Absent and null mean false. */
export function readStream(body: Buffer, members: readonly Member[]): boolean | Fault {
  let streamed: boolean | null = null
  for (const member of members) {
    if (member.name !== 'stream') continue
    const value = readValue(body, member, shortValue)
    if (value !== null && typeof value !== 'boolean') {
      return fault('invalid_request', '`stream` must be true or false.', { param: 'stream' })
    }
    if (streamed !== null && streamed !== (value ?? false)) {
      return fault('invalid_request', '`stream` is given twice with different values; send it once.', {
        param: 'stream',
      })
    }
    streamed = value ?? false
  }
  return streamed ?? false
}

/** The longest that any vendor accepts. A longer one is no id, and a shortened one could be somebody else's. */
const endUserCharacters = 256

/** The first of the named members that contains an id of an end user. No value is rejected. */
export function readEndUser(body: Buffer, members: readonly Member[], names: readonly string[]): string | null {
  for (const name of names) {
    const member = members.find((one) => one.name === name)
    // A character takes at most six bytes, as an escape.
    if (member === undefined || member.end - member.start > 6 * endUserCharacters + 2) continue
    const value = readValue(body, member)
    if (typeof value === 'string' && value !== '' && value.length <= endUserCharacters) return value
  }
  return null
}

/** More than any model generates: an absurd limit must not count as an amount in sums. */
export const largestOutput = 10_000_000

/** For bodies that do not limit their answers. */
const unlimited = { outputLimit: null, answers: 1 } as const

/** The number of answers that a request asks for, and their total length. */
export function readOutput(
  body: Buffer,
  members: readonly Member[],
  limits: OutputLimits | undefined,
): Pick<Inspection, 'outputLimit' | 'answers'> {
  if (limits === undefined) return unlimited
  return { outputLimit: readOutputLimit(body, members, limits), answers: countAnswers(body, members, limits) }
}

/**
 * The most tokens that a request allows for its answer, all choices together; null: no limit. Of several limits the largest counts, since
 * servers disagree on which one applies. If one is not a count, it is unknown what a server makes of it.
 */
export function readOutputLimit(body: Buffer, members: readonly Member[], limits: OutputLimits): number | null {
  const { within } = limits
  if (within === null) return limitOf(body, members, limits)
  let most: number | null = null
  for (const holder of members) {
    if (!within.includes(holder.name)) continue
    const scan = scanObject(body, [...limits.names, ...limits.choices], holder)
    const limit = scan.ok ? limitOf(body, scan.members, limits) : null
    if (limit === null) return null
    most = Math.max(most ?? 0, limit)
  }
  return most
}

function limitOf(body: Buffer, members: readonly Member[], limits: OutputLimits): number | null {
  const { names, choices } = limits
  let limit: number | null = null
  let times = 1
  for (const member of members) {
    const isLimit = names.includes(member.name)
    if (!isLimit && !choices.includes(member.name)) continue
    const value = readValue(body, member, shortValue)
    if (value === null) continue
    if (!isCount(value)) return null
    if (isLimit) limit = Math.max(limit ?? 0, value)
    else times = Math.max(times, value)
  }
  return limit === null ? null : Math.min(limit * times * countPrompts(body, members, limits), largestOutput)
}

/** The member to name in an error about the output limit, as the client writes it. */
export function outputLimitName(body: Buffer, { names, within }: OutputLimits, written: string): string {
  const root = scanObject(body, within ?? names)
  const [member] = root.ok ? root.members : []
  if (within === null) return member?.name ?? written
  const inside = member === undefined ? null : scanObject(body, names, member)
  const name = inside?.ok ? inside.members[0]?.name : undefined
  return `${member?.name ?? within[0]}.${name ?? written}`
}

/** The number of answers that the body asks for. `members`: of the body, including those that may state it. */
export function countAnswers(body: Buffer, members: readonly Member[], limits: OutputLimits): number {
  const { choices, prompts, within } = limits
  if (within === null) return answersIn(body, members, limits)
  const wanted = [...choices, ...(prompts === undefined ? [] : [prompts])]
  if (wanted.length === 0) return 1
  const holders = members.filter(({ name }) => within.includes(name)).map((holder) => scanObject(body, wanted, holder))
  return Math.max(1, ...holders.map((scan) => (scan.ok ? answersIn(body, scan.members, limits) : 1)))
}

function answersIn(body: Buffer, members: readonly Member[], limits: OutputLimits): number {
  let times = 1
  for (const member of members) {
    const value = limits.choices.includes(member.name) ? readValue(body, member, shortValue) : null
    if (value !== null) times = Math.max(times, isCount(value) ? value : mostChoices)
  }
  return times * countPrompts(body, members, limits)
}

/** Assumed for a provider that reads a number from another type. */
const mostChoices = 128

/** A list of numbers is a single prompt, in tokens. An unreadable list counts as the maximum. */
export function countPrompts(body: Buffer, members: readonly Member[], { prompts }: OutputLimits): number {
  if (prompts === undefined) return 1
  const counts = members.map((member) => {
    if (member.name !== prompts || body[member.start] !== openBracket) return 1
    const elements = scanElements(body, member)
    if (elements === null) return maximumElements
    return elements.filter(({ start }) => body[start] === openBracket || body[start] === quote).length
  })
  return Math.max(1, ...counts)
}
