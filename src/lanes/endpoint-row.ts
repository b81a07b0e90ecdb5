import type { ObjectType } from '../core/stored-object.ts'
import type { BodyForm, Endpoint, ObjectUse } from './contract.ts'

type Call = `${Endpoint['method']} /${string}`

/** One endpoint; unless `more` says otherwise it names no model, takes nothing, and the provider answers in JSON. */
export function row(operation: string, call: Call, more: Partial<Endpoint> = {}): Endpoint {
  const [method, path] = call.split(' ') as [Endpoint['method'], string]
  return {
    operation,
    method,
    path,
    model: 'none',
    served: 'provider',
    takes: [],
    gives: 'json',
    stream: null,
    object: null,
    ...more,
  }
}

/** Nobody answers these, at any method, at the path and below it. */
export function refuse(operation: string, path: `/${string}`, why: string): Endpoint[] {
  return ([path, `${path}/*`] as const).map((form) => row(operation, `ANY ${form}`, { served: 'nobody', why }))
}

export const json: readonly BodyForm[] = ['json']
export const multipart: readonly BodyForm[] = ['multipart']
export const jsonOrMultipart: readonly BodyForm[] = ['json', 'multipart']

export function makes(type: ObjectType): ObjectUse {
  return { type, effect: 'make' }
}

export function lists(type: ObjectType): ObjectUse {
  return { type, effect: 'list' }
}

export function uses(type: ObjectType): ObjectUse {
  return { type, effect: 'use' }
}

export function forgets(type: ObjectType): ObjectUse {
  return { type, effect: 'forget' }
}
