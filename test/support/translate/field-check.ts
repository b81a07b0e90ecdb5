import type { FormatName } from '../../../src/core/format.ts'
import { asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { conditionOf } from '../../../src/translate/depends.ts'
import type { Fate } from '../../../src/translate/field-table.ts'
import { fateOf, losses } from '../../../src/translate/losses.ts'
import { type RequestOptions, translateRequest } from './stage.ts'

/** Members that say something about the way, or about the answer, and not about what the provider gets. */
const aside = ['model', 'include', 'stream', 'stream_options', 'stream_options.include_usage']

/**
 * A field of a format's requests at a target: it is in what the provider gets, or it is listed, or the request is refused for it, or the
 * table says that it has no effect. `bodies`: requests that have all fields among them. False: it is lost in silence.
 */
export function isAccountedFor(
  from: FormatName,
  to: FormatName,
  field: string,
  bodies: readonly JsonObject[],
  options: RequestOptions,
): boolean {
  const { fate } = fateOf(from, field, to)
  const names = field.split('.')
  // A part of what no row is about is as good as the whole.
  const isLeaf = !Object.keys(losses[from]).some((other) => other.startsWith(`${field}.`))
  const having = bodies.filter((body) => pathsOf(body, names, '').length > 0)
  if (having.length === 0) throw new Error(`no request has ${field}`)
  if (fate === 'ignored' || aside.includes(field)) return true
  return having.some((whole) => {
    const translate = (value: unknown) => translateRequest(from, to, JSON.stringify(value), options)
    let body: unknown = whole
    let written = translate(body)
    // What is refused for other members says nothing about this one.
    for (let tries = 0; tries < 9 && written.refused?.param !== undefined; tries++) {
      const { param } = written.refused
      if (pathsOf(body, names, '').some((path) => isWithin(path, param))) break
      body = removePath(body, param)
      written = translate(body)
    }
    const listed =
      fate === 'refused' ? [written.refused?.param ?? ''] : [...written.losses, written.refused?.param ?? '']
    // The loss of a part is that of all its members.
    const isListed = pathsOf(body, names, '').some((path) =>
      listed.some((one) => isWithin(path, one) || (isLeaf && isWithin(one, path))),
    )
    if (isListed) return true
    if (fate !== 'kept' && fate !== 'mapped') return false
    return written.body !== null && written.body !== translate(removeField(body, names)).body
  })
}

/** Models and servers that differ in what they accept. */
const accepting: Readonly<Record<FormatName, readonly RequestOptions[]>> = {
  chat: [
    { model: 'gpt-4o' },
    { model: 'gpt-5' },
    { model: 'o3' },
    { model: 'qwen', compatible: true },
    { model: 'gpt-oss-120b', compatible: true, reasoningContent: true },
  ],
  responses: [{ model: 'gpt-4o' }, { model: 'gpt-5.2' }, { model: 'qwen', compatible: true }],
  messages: [
    'claude-3-5-haiku',
    'claude-3-7-sonnet',
    'claude-sonnet-4-5',
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-fable-5',
  ].map((model) => ({ model, maxOutput: 8 })),
  generate: ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro'].map((model) => ({ model, maxOutput: 8 })),
}

const arriving: ReadonlySet<Fate> = new Set(['kept', 'mapped', 'ignored'])

/** Losses that happen, of fields of which neither the tables nor the conditions say so: `temperature at chat (gpt-5)`. */
export function unsaidLosses(from: FormatName, to: FormatName, bodies: readonly JsonObject[]): string[] {
  const fields = Object.keys(losses[from])
  const isSaid = (path: string) => {
    const name = path.replaceAll(/\[\d+\]/g, '')
    const [field = ''] = fields
      .filter((one) => !one.includes(':') && isWithin(name, one))
      .sort((one, other) => other.length - one.length)
    // Some values of a field have rows of their own.
    const rows = [field, ...fields.filter((one) => one.startsWith(`${field}:`))]
    return rows.some((one) => !arriving.has(fateOf(from, one, to).fate)) || conditionOf(from, field, to) !== null
  }
  const found = accepting[to].flatMap((options) =>
    bodies.flatMap((whole) =>
      lossesWithoutRefused(from, to, whole, options)
        .filter((path) => !isSaid(path))
        .map((path) => `${path} at ${to} (${options.model})`),
    ),
  )
  return [...new Set(found)]
}

/** What is refused goes from the request first. */
function lossesWithoutRefused(from: FormatName, to: FormatName, whole: unknown, options: RequestOptions) {
  let body = whole
  for (let tries = 0; tries < 9; tries++) {
    const written = translateRequest(from, to, JSON.stringify(body), options)
    const param = written.refused?.param
    if (param === undefined) return written.losses
    body = removePath(body, param)
  }
  return []
}

export function isWithin(path: string, outer: string): boolean {
  return outer !== '' && (path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`))
}

/** `messages[3].content[0]` goes from its list, `n` from its object. */
export function removePath(value: unknown, path: string): unknown {
  const match = /^\.?([^.[\]]+)|^\[(\d+)\]/.exec(path)
  if (match === null) return value
  const [step, name = '', index] = match
  const rest = path.slice(step.length)
  if (Array.isArray(value)) {
    const at = Number(index)
    return rest === ''
      ? value.filter((_, one) => one !== at)
      : value.map((element, one) => (one === at ? removePath(element, rest) : element))
  }
  const object = asObject(value)
  if (object === null) return value
  const { [name]: member, ...others } = object
  return rest === '' ? others : { ...object, [name]: removePath(member, rest) }
}

/** Where the field stands in the body: `messages[0].content[1].text`. */
function pathsOf(value: unknown, names: readonly string[], path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((element, index) => pathsOf(element, names, `${path}[${index}]`))
  const [name, ...rest] = names
  const object = asObject(value)
  if (name === undefined || object === null || !Object.hasOwn(object, name)) return []
  const inner = path === '' ? name : `${path}.${name}`
  return rest.length === 0 ? [inner] : pathsOf(object[name], rest, inner)
}

function removeField(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => removeField(element, names))
  const [name, ...rest] = names
  const object = asObject(value)
  if (name === undefined || object === null || !Object.hasOwn(object, name)) return value
  const { [name]: member, ...others } = object
  return rest.length === 0 ? others : { ...object, [name]: removeField(member, rest) }
}
