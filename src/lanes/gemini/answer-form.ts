import { type Fault, fault } from '../../core/errors.ts'
import type { Endpoint } from '../contract.ts'
import { readQuery, writeQuery } from '../query.ts'

/** Each also has Google's other spelling, with a `$`. */
const spellings = (name: string) => [name, `$${name}`]

/** `sse`, `json`, or null where the query leaves it to the endpoint. `refuseForm` has seen to it that it is one of them. */
export function readAlt(query: string): string | null {
  const parameters = readQuery(query)
  return spellings('alt').flatMap((name) => parameters.getAll(name))[0] ?? null
}

/**
 * Google lets the query change the form of an answer: to protobuf or a script (`alt`, `callback`), or to a part of it
 * (`fields`). Such an answer would look broken and be held against the provider, or come without its usage.
 */
export function refuseForm(endpoint: Endpoint, query: string): Fault | null {
  const parameters = readQuery(query)
  for (const name of [...spellings('fields'), ...spellings('callback')]) {
    if (parameters.has(name)) return refuse(name, `The query parameter ${name} is not accepted; leave it out.`)
  }
  const forms = new Set(spellings('alt').flatMap((name) => parameters.getAll(name)))
  const known = knownForms(endpoint)
  if (forms.size > 1) return refuse('alt', 'The query names two values of alt; send one.')
  if ([...forms].every((form) => known.includes(form))) return null
  return refuse('alt', `The query parameter alt may be ${known.join(' or ')} here.`)
}

function knownForms({ stream, gives }: Endpoint): string[] {
  if (gives === 'bytes') return ['media', 'json']
  return stream === null ? ['json'] : ['json', 'sse']
}

/**
 * The SDKs take the id out of a file's URI only where that begins with https; of any other they make a path and ask for
 * `?alt=media:download&alt=media`.
 */
export function plainMediaQuery(query: string): string {
  const forms = readQuery(query).getAll('alt')
  return forms.some((form) => form.startsWith('media:')) ? writeQuery(query, 'alt', 'media') : query
}

function refuse(param: string, message: string): Fault {
  return fault('invalid_request', message, { param })
}
