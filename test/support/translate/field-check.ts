import type { FormatName } from '../../../src/core/format.ts'
import { asObject, type JsonObject } from '../../../src/core/json-value.ts'
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

function isWithin(path: string, outer: string): boolean {
  return outer !== '' && (path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`))
}

/** `messages[3].content[0]` goes from its list, `n` from its object. */
function removePath(value: unknown, path: string): unknown {
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
