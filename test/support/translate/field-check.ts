import type { FormatName } from '../../../src/core/format.ts'
import { asObject, type JsonObject } from '../../../src/core/json-value.ts'
import { fateOf } from '../../../src/translate/losses.ts'
import { type RequestOptions, translateRequest } from './stage.ts'

/** Members that say something about the way, or about the answer, and not about what the provider gets. */
const aside = ['model', 'include', 'stream_options', 'stream_options.include_usage']

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
  const having = bodies.filter((body) => pathsOf(body, names, '').length > 0)
  if (having.length === 0) throw new Error(`no request has ${field}`)
  if (fate === 'ignored' || aside.includes(field)) return true
  return having.some((body) => {
    const translate = (value: unknown) => translateRequest(from, to, JSON.stringify(value), options)
    const written = translate(body)
    const listed =
      fate === 'refused' ? [written.refused?.param ?? ''] : [...written.losses, written.refused?.param ?? '']
    // The loss of a part is that of all its members.
    const isListed = pathsOf(body, names, '').some((path) =>
      listed.some((one) => one !== '' && (path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`))),
    )
    if (isListed) return true
    if (fate !== 'kept' && fate !== 'mapped') return false
    return written.body !== null && written.body !== translate(removeField(body, names)).body
  })
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
