import { isObject, type JsonObject } from '../mock-format.ts'

/** Why a provider does not take a request, in its words. */
export class Refused extends Error {}

export function refuse(message: string): never {
  throw new Refused(message)
}

/** Real providers refuse members that they do not know. */
export function only(object: JsonObject, names: string, path = ''): JsonObject {
  const known = names.split(' ')
  for (const name of Object.keys(object))
    if (!known.includes(name)) refuse(`${path}${name}: Extra inputs are not permitted`)
  return object
}

export function objectAt(value: unknown, path: string): JsonObject {
  return isObject(value) ? value : refuse(`${path}: must be an object`)
}

export function listAt(value: unknown, path: string): unknown[] {
  return Array.isArray(value) ? value : refuse(`${path}: must be a list`)
}

export function textAt(value: unknown, path: string): string {
  return typeof value === 'string' ? value : refuse(`${path}: must be a string`)
}

export function check(holds: boolean, message: string): void {
  if (!holds) refuse(message)
}

export function base64At(value: unknown, magic: string, path: string): string {
  const text = textAt(value, path)
  const bytes = Buffer.from(text, 'base64')
  check(bytes.toString('base64') === text, `${path}: invalid base64`)
  check(bytes.toString('latin1').startsWith(magic), `${path}: the data is not of the type that is said`)
  return text
}

export const pngMagic = '\x89PNG'
export const pdfMagic = '%PDF-'

/** The base64 of a data URL of that type. */
export function dataUrlAt(value: unknown, type: string, magic: string, path: string): string {
  const text = textAt(value, path)
  const prefix = `data:${type};base64,`
  check(text.startsWith(prefix), `${path}: must be a data URL of ${type}`)
  return base64At(text.slice(prefix.length), magic, path)
}

export function toolName(value: unknown, path: string): string {
  const name = textAt(value, path)
  check(/^[A-Za-z0-9_-]{1,64}$/.test(name), `${path}: does not match '^[a-zA-Z0-9_-]{1,64}$'`)
  return name
}

/** What OpenAI's strict structured outputs demand of every object: no other members, and each one required. */
export function strictSchema(value: unknown, path: string): void {
  eachObject(value, path, ({ properties = {}, required = [] }, at) => {
    const listed = listAt(required, at)
    const isComplete = Object.keys(objectAt(properties, at)).every((name) => listed.includes(name))
    check(isComplete, `${at}: required must name every property`)
  })
}

/** What Anthropic's structured outputs demand of every object: no other members. A member may be optional. */
export function closedSchema(value: unknown, path: string): void {
  eachObject(value, path, () => {})
}

function eachObject(value: unknown, path: string, look: (schema: JsonObject, path: string) => void): void {
  const schema = objectAt(value, path)
  if (schema.type !== 'object') return
  check(schema.additionalProperties === false, `${path}: additionalProperties is required to be false`)
  look(schema, path)
  for (const [name, member] of Object.entries(objectAt(schema.properties ?? {}, path)))
    eachObject(member, `${path}.${name}`, look)
}
