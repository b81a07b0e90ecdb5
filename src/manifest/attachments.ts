import { isObject } from '../core/json/is-object.ts'
import { type Identity, keyOf, type ManifestEntry, type ManifestResource, type Problem } from './resource.ts'

/**
 * A policy's `key:NAME` in its full form, `key:PROJECT/ENVIRONMENT/NAME`: a key's name is unique in its environment only.
 * Gives the entries so; what cannot be told is a problem.
 */
export function resolveAttachments(
  entries: readonly ManifestEntry[],
  resources: readonly ManifestResource[],
  problems: Problem[],
): ManifestEntry[] {
  const all = new Map([...resources, ...entries].filter(({ kind }) => kind === 'key').map((key) => [keyOf(key), key]))
  const keys = Map.groupBy(all.values(), ({ name }) => name)
  return entries.map((entry) => {
    const { attach } = entry.fields
    if (!Array.isArray(attach)) return entry
    const words = attach.map((word) => fullWord(String(word), entry, keys, problems))
    return { ...entry, fields: { ...entry.fields, attach: [...new Set(words)].sort() } }
  })
}

function fullWord(
  word: string,
  entry: ManifestEntry,
  keys: ReadonlyMap<string, readonly Identity[]>,
  problems: Problem[],
): string {
  const name = /^key:([^/]+)$/.exec(word)?.[1]
  if (name === undefined) return word
  const found = keys.get(name) ?? []
  const [first] = found
  if (first !== undefined && found.length === 1) return `key:${first.project}/${first.environment}/${name}`
  const place = entry.placeOf.attach ?? entry.place
  const message =
    first === undefined
      ? `attach: there is no key ${name}`
      : `attach: several environments have a key ${name}; write key:PROJECT/ENVIRONMENT/${name}`
  problems.push({ place, message })
  return word
}

/** What a policy is attached to; null: the workspace. undefined: the word is no attachment. */
export function readAttachment(word: string): Identity | null | undefined {
  if (word === 'workspace') return null
  const [, kind, rest = ''] = /^(project|environment|key):(.+)$/.exec(word) ?? []
  const parts = rest.split('/')
  if (parts.includes('')) return undefined
  const [one = '', two = '', three = ''] = parts
  if (kind === 'project' && parts.length === 1) return { kind, project: null, environment: null, name: one }
  if (kind === 'environment' && parts.length === 2) return { kind, project: one, environment: null, name: two }
  if (kind === 'key' && parts.length === 3) return { kind, project: one, environment: two, name: three }
  return undefined
}

/** Names in the values of a field that is a list of targets. */
export function targetProviders(targets: unknown): string[] {
  return (Array.isArray(targets) ? targets : []).flatMap((target) =>
    isObject(target) && typeof target.provider === 'string' ? [target.provider] : [],
  )
}
