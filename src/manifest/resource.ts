import { isObject } from '../core/json/is-object.ts'
import type { Secret } from '../core/secrets/secret.ts'

/** What a configuration file describes, in the order in which it is made: each refers only to what stands before. */
export const resourceKinds = ['project', 'environment', 'provider', 'policy', 'key', 'route', 'alert'] as const
export type ResourceKind = (typeof resourceKinds)[number]

export type Plain = null | string | number | boolean | Plain[] | { [name: string]: Plain }
/** By the name that a file gives the field; one of a section by its path: `timeouts.connect`. Names in place of ids. */
export type Fields = Record<string, Plain>

export interface Identity {
  kind: ResourceKind
  /** null: it belongs to the workspace. */
  project: string | null
  /** null: it belongs to the project, or to all of its environments. */
  environment: string | null
  /** Of a route: its model. */
  name: string
}

/** As the gateway has it. */
export interface ManifestResource extends Identity {
  id: string
  fields: Fields
  /** Which file owns a field, by the field's name. */
  owned: Record<string, string>
}

/** As a file says it: the fields that it names, and no others. */
export interface ManifestEntry extends Identity {
  fields: Fields
  /** `config.yaml:12:5` */
  place: string
  placeOf: Record<string, string>
  /** In the order of the pool, or the URL of an alert; null: the file names none, or not all of their variables are set. */
  credentials: Secret[] | null
  /** Variables of these that are not set. */
  missing: string[]
  /** Values of headers that may be secrets: `fields` holds what is compared of them. */
  headers?: Readonly<Record<string, Secret>>
}

/** The field of a kind that is a secret, and is written as what can be seen of it. */
export const secretFields: Partial<Record<ResourceKind, string>> = { provider: 'credentials', alert: 'url' }

export interface Problem {
  place: string
  /** Never holds a value: it may be a secret in the wrong place. */
  message: string
}

export function keyOf({ kind, project, environment, name }: Identity): string {
  return JSON.stringify([kind, project, environment, name])
}

/** `route gpt-4o in default/production` */
export function describe(identity: Identity): string {
  return `${identity.kind} ${identity.name}${describeScope(identity)}`
}

function describeScope({ kind, project, environment }: Identity): string {
  if (project === null) return ''
  if (environment !== null) return ` in ${project}/${environment}`
  return kind === 'route' ? ` in ${project} (all environments)` : ` in ${project}`
}

/** Stable, whatever the order of the files: as things are made, then by scope and name. */
export function compareIdentities(one: Identity, other: Identity): number {
  const place = (identity: Identity) => resourceKinds.indexOf(identity.kind)
  return place(one) - place(other) || compareText(sortText(one), sortText(other))
}

const sortText = ({ project, environment, name }: Identity) => [project ?? '', environment ?? '', name].join('\u0000')

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

export function same(one: Plain | undefined, other: Plain | undefined): boolean {
  return canonical(one) === canonical(other)
}

/** With the names of every object sorted. */
export function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => compareText(left, right)))
      : inner,
  )
}

/** The objects in a list. */
export function objectsIn(value: Plain | undefined): Record<string, Plain>[] {
  return Array.isArray(value) ? value.filter((one): one is Record<string, Plain> => isObject(one)) : []
}
