import {
  type Edit,
  type Member,
  maximumElements,
  type ObjectScan,
  scanElements,
  scanObject,
  shortValue,
} from '../core/json-scan.ts'
import { isCount, readValue } from '../core/json-value.ts'

/** Where the body of a request limits the tokens of its answer. */
export interface OutputLimits {
  /** Members that limit each choice. The first that the provider knows is written where there is none. */
  names: readonly string[]
  /** Members that say how many choices are asked for. */
  choices: readonly string[]
  /** The member that may be a list of prompts, each of which has an answer of its own. Left out: there is one. */
  prompts?: string
  /** The spellings of the member that holds them; null: the body itself does. */
  within: readonly string[] | null
}

type LimitSpans = Extract<ObjectScan, { ok: true }>

/** The member of the body that is to blame for a limit, as its client knows it. */
export function outputLimitName(body: Buffer, { names, within }: OutputLimits, written: string): string {
  const root = scanObject(body, within ?? names)
  const [member] = root.ok ? root.members : []
  if (within === null) return member?.name ?? written
  const inside = member === undefined ? null : scanObject(body, names, member)
  const name = inside?.ok ? inside.members[0]?.name : undefined
  return `${member?.name ?? within[0]}.${name ?? written}`
}

/** What makes the body allow at most so many tokens. `written`: the name of the limit where the body has none. */
export function capOutput(body: Buffer, limits: OutputLimits, most: number, written: string): Edit[] {
  const { names, choices, within } = limits
  const wanted = [...names, ...choices, ...(limits.prompts === undefined ? [] : [limits.prompts])]
  const root = scanObject(body, within ?? wanted)
  if (!root.ok) return []
  if (within === null) return capObject(body, root, limits, most, written)
  const limit = `{${JSON.stringify(written)}:${most}}`
  if (root.members.length === 0) return [insertInto(root, `${JSON.stringify(within[0])}:${limit}`)]
  return root.members.flatMap((holder) => {
    const scan = scanObject(body, wanted, holder)
    if (scan.ok) return capObject(body, scan, limits, most, written)
    return readValue(body, holder, shortValue) === null ? [replace(holder, limit)] : []
  })
}

function capObject(body: Buffer, object: LimitSpans, limits: OutputLimits, most: number, written: string): Edit[] {
  const { names, choices } = limits
  const given = object.members
    .filter(({ name }) => name !== limits.prompts)
    .map((member) => ({ member, value: readValue(body, member, shortValue) }))
  const times = given.flatMap(({ member, value }) => (choices.includes(member.name) && isCount(value) ? [value] : []))
  const answers = Math.max(1, ...times) * countPrompts(body, object.members, limits)
  const each = Math.max(1, Math.floor(most / answers))
  const set = given.filter(({ member, value }) => names.includes(member.name) && value !== null)
  const empty = given.find(({ member }) => names.includes(member.name))
  if (set.length === 0 && empty !== undefined) return [replace(empty.member, String(each))]
  if (set.length === 0) return [insertInto(object, `${JSON.stringify(written)}:${each}`)]
  const tooMuch = set.filter(({ value }) => !isCount(value) || value > each)
  return tooMuch.map(({ member }) => replace(member, String(each)))
}

/** How many answers the body asks for. `members`: of the body, those that may say so among them. */
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

/** Of a provider that reads a number out of something else. */
const mostChoices = 128

/** A list of numbers is one prompt, in tokens. What cannot be read counts as many as there may be. */
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

const openBracket = 0x5b
const quote = 0x22

function insertInto({ start, empty }: LimitSpans, member: string): Edit {
  return { span: { start: start + 1, end: start + 1 }, text: empty ? member : `${member},` }
}

function replace({ start, end }: Member, text: string): Edit {
  return { span: { start, end }, text }
}
