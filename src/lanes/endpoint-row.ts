import type { ObjectName, ObjectType } from '../core/objects/stored-object.ts'
import type { BodyForm, Endpoint, ObjectUse } from './contract.ts'

type RowPath = `${Endpoint['method']} /${string}`

/** What a row says beyond its operation and path; it leaves out the lane's defaults. */
export type RowFacts = Partial<Omit<Endpoint, 'operation' | 'method' | 'path'>>

/** A lane's defaults: how an endpoint is read when its row does not say otherwise. */
export type UsualReading = Pick<Endpoint, 'inspect' | 'formFields' | 'inspectForm' | 'reader' | 'createdObjects'> &
  RowFacts

type MakeRow = (operation: string, call: RowPath, facts?: RowFacts) => Endpoint

/**
 * One endpoint. By default it names no model, has no request body, and the provider answers with JSON. Every member is
 * always set, in the same order, so that V8 keeps one hidden class for a lane's rows.
 */
export function makeRow(operation: string, call: RowPath, usual: UsualReading, facts: RowFacts): Endpoint {
  const [method, path] = call.split(' ') as [Endpoint['method'], string]
  const { model = 'none', usesTokens = true, served = 'provider' } = { ...usual, ...facts }
  const asksModel = method === 'POST' && model !== 'none' && usesTokens && served === 'provider'
  return {
    operation,
    method,
    path,
    model: 'none',
    served: 'provider',
    requestForms: [],
    responseForm: 'json',
    stream: null,
    object: null,
    usesTokens: true,
    media: undefined,
    format: undefined,
    counts: undefined,
    keptForm: undefined,
    embeds: undefined,
    outputLimits: undefined,
    readWhole: undefined,
    reportsUsage: undefined,
    batchAsks: undefined,
    startedWork: undefined,
    holdsBatchInput: undefined,
    billed: asksModel,
    readUnits: undefined,
    why: undefined,
    resumedAs: undefined,
    issuesClientToken: undefined,
    acceptsClientToken: undefined,
    inspectWhole: undefined,
    references: () => none,
    formReferences: () => none,
    endedWork: () => [],
    signedReasoning: undefined,
    answersHoldUrls: false,
    readClientToken: undefined,
    socket: null,
    ...usual,
    ...facts,
  }
}

const none: readonly ObjectName[] = []

/** Not served at any method, at the path and below it. */
export function notServed(row: MakeRow, operation: string, path: `/${string}`, why: string): Endpoint[] {
  return ([path, `${path}/*`] as const).map((form) => row(operation, `ANY ${form}`, { served: 'nobody', why }))
}

/** The list of models that a key may use, and one entry of it. The gateway answers both from its snapshot. */
export function modelRows(row: MakeRow, list: `/${string}`, entry: `/${string}`): Endpoint[] {
  return [
    row('models.list', `GET ${list}`, { served: 'model-list' }),
    row('models.get', `GET ${entry}`, { served: 'model-entry', model: 'path' }),
  ]
}

export const json: readonly BodyForm[] = ['json']
export const multipart: readonly BodyForm[] = ['multipart']
export const jsonOrMultipart: readonly BodyForm[] = ['json', 'multipart']

export function creates(type: ObjectType): ObjectUse {
  return { type, effect: 'create' }
}

export function lists(type: ObjectType): ObjectUse {
  return { type, effect: 'list' }
}

export function uses(type: ObjectType): ObjectUse {
  return { type, effect: 'use' }
}

export function deletes(type: ObjectType): ObjectUse {
  return { type, effect: 'delete' }
}
