import { Document, isMap, isScalar, type Node, type Pair, type YAMLMap } from 'yaml'
import { isObject } from '../core/json/is-object.ts'
import { isHidden } from '../core/secrets/hidden-header.ts'
import { inSlices, mapInSlices } from '../core/threads/slices.ts'
import { escapeVariables } from '../core/variables.ts'
import { kindSpecs, specOf } from './kinds.ts'
import { noOwner } from './plan.ts'
import {
  compareIdentities,
  type Fields,
  type ManifestResource,
  objectsIn,
  type Plain,
  type ResourceKind,
  same,
  secretFields,
} from './resource.ts'

export interface Written {
  /** YAML with comments. */
  text: string
  /** The same as data, for JSON. */
  tree: Record<string, unknown>
}

/** A file that describes the resources. The same resources give the same text, in whatever order they come. */
export async function writeDocument(
  resources: readonly ManifestResource[],
  owner: string | null,
  heading: string,
): Promise<Written> {
  const variables = nameVariables(resources)
  const sorted = [...resources].sort(compareIdentities)
  const of = (kind: ResourceKind) => sorted.filter((resource) => resource.kind === kind)
  const tree: Record<string, unknown> = { owner: owner ?? noOwner }
  const environments = Map.groupBy(of('environment'), ({ project }) => project)
  const sections = {
    projects: await mapInSlices(of('project'), (one) => writeProject(one, environments.get(one.name) ?? [])),
    providers: await mapInSlices(of('provider'), (provider) => writeProvider(provider, variables)),
    policies: await mapInSlices(of('policy'), writeResource),
    keys: await mapInSlices(of('key'), writeKey),
    routes: await mapInSlices(of('route'), writeResource),
    alerts: await mapInSlices(of('alert'), (alert) => writeAlert(alert, variables)),
  }
  for (const [name, entries] of Object.entries(sections)) if (entries.length > 0) tree[name] = entries
  const head = new Document({ owner: tree.owner })
  head.commentBefore = heading
  commentSection(head, 'owner')
  const texts = [head.toString(style)]
  for (const [name, entries] of Object.entries(sections))
    await inSlices(groupsOf(entries), (from) => {
      texts.push(writeGroup(name, entries.slice(from, from + groupSize), from === 0, of('provider').slice(from)))
    })
  return { text: texts.join(''), tree }
}

const style = { lineWidth: 0 } as const
/** Entries that are written in one go: a few milliseconds' worth. */
const groupSize = 100

function* groupsOf(entries: readonly unknown[]): Generator<number> {
  for (let from = 0; from < entries.length; from += groupSize) yield from
}

/** Entries of one section, the section's name before the first of them. */
function writeGroup(
  name: string,
  entries: readonly unknown[],
  first: boolean,
  providers: readonly ManifestResource[],
): string {
  const document = new Document({ [name]: entries })
  if (first) commentSection(document, name)
  if (name === 'providers') commentCredentials(document, providers.slice(0, entries.length))
  const text = document.toString(style)
  return first ? `\n${text}` : text.slice(text.indexOf('\n') + 1)
}

/** Name, scope, and every field that differs from its default. */
function writeResource({ kind, name, project, environment, fields }: ManifestResource): Record<string, unknown> {
  const { nameField, scope } = kindSpecs[kind]
  const head: Record<string, unknown> = { [nameField]: name }
  if (scope.includes('project')) head.project = project
  if (environment !== null) head.environment = environment
  else if (scope.includes('all_environments')) head.all_environments = true
  return escapeVariables({ ...head, ...writeFields(kind, fields) })
}

function writeFields(kind: ResourceKind, fields: Fields): Record<string, unknown> {
  const tree: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(fields)) {
    const spec = specOf(kind, path)
    if (spec === null || path === 'secrets' || path === secretFields[kind] || same(value, spec.fallback)) continue
    const [section = path, ...rest] = path.split('.')
    const written = spec.form.write(value, fields)
    if (rest.length === 0) tree[section] = written
    else tree[section] = { ...(isObject(tree[section]) ? tree[section] : {}), [rest.join('.')]: written }
  }
  return tree
}

function writeProject(project: ManifestResource, environments: readonly ManifestResource[]): Record<string, unknown> {
  return { name: project.name, environments: environments.map(writeResource) }
}

function writeProvider(provider: ManifestResource, variables: Map<string, string>): Record<string, unknown> {
  const count = Array.isArray(provider.fields.credentials) ? provider.fields.credentials.length : 0
  const named = namesIn(variables.get(provider.name) ?? '', count).map((variable) => `\${${variable}}`)
  const { name, kind, active, base_url, ...rest } = {
    base_url: undefined,
    active: undefined,
    ...writeResource(provider),
  } as Record<string, unknown>
  if (isObject(rest.headers)) rest.headers = writeHeaders(rest.headers, variables.get(provider.name) ?? '')
  const head = {
    name,
    kind,
    ...(active === undefined ? {} : { active }),
    ...(base_url === undefined ? {} : { base_url }),
  }
  if (count === 0) return { ...head, ...rest }
  if (count === 1) return { ...head, credential: named[0], ...rest }
  return { ...head, credentials: named, ...rest }
}

/** A variable where a header may hold a secret: `OPENAI_HEADER_X_TOKEN` beside `OPENAI_CREDENTIAL`. */
function writeHeaders(headers: Record<string, unknown>, credential: string): Record<string, unknown> {
  const taken = new Set<string>()
  const written = Object.entries(headers).map(([name, shown]) => {
    if (typeof shown !== 'string' || !isHidden(shown)) return [name, shown]
    const plain = `${credential.replace('_CREDENTIAL', '_HEADER')}_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
    let variable = plain
    for (let number = 2; taken.has(variable); number++) variable = `${plain}_${number}`
    taken.add(variable)
    return [name, `\${${variable}}`]
  })
  return Object.fromEntries(written)
}

/** The URL where all of it may be seen; else a variable, like a credential. */
function writeAlert(alert: ManifestResource, variables: Map<string, string>): Record<string, unknown> {
  const { name, ...rest } = writeResource(alert)
  const shown = shownUrlOf(alert)
  return {
    name,
    url: shown.endsWith('…') ? `\${${variables.get(`alert ${alert.name}`)}}` : escapeVariables(shown),
    ...rest,
  }
}

function shownUrlOf({ fields }: ManifestResource): string {
  return isObject(fields.url) ? String(fields.url.shown) : ''
}

/** One stands for all that there is, several for one each. */
const namesIn = (variable: string, count: number) =>
  count > 1 ? Array.from({ length: count }, (_, place) => `${variable}_${place + 1}`) : [variable]

/** `azure-eu` → `AZURE_EU_CREDENTIAL`; two names that lead to the same variable get different ones. */
function nameVariables(resources: readonly ManifestResource[]): Map<string, string> {
  const named = resources
    .filter(({ kind }) => kind === 'provider' || kind === 'alert')
    .map(({ kind, name, fields }) => ({
      name,
      count: kind === 'provider' && Array.isArray(fields.credentials) ? fields.credentials.length : 1,
      key: kind === 'alert' ? `alert ${name}` : name,
      ending: kind === 'alert' ? 'URL' : 'CREDENTIAL',
    }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
  const variables = new Map<string, string>()
  const taken = new Set<string>()
  for (const { name, key, ending, count } of named) {
    const plain = `${name
      .toUpperCase()
      .replace(/[^A-Z0-9]/g, '_')
      .replace(/^(?=\d)/, '_')}_${ending}`
    let variable = plain
    // Also as the second of another provider's several.
    const isTaken = () => [variable, ...namesIn(variable, count)].some((each) => taken.has(each))
    for (let number = 2; isTaken(); number++) variable = `${plain}_${number}`
    for (const each of [variable, ...namesIn(variable, count)]) taken.add(each)
    variables.set(key, variable)
  }
  return variables
}

function writeKey(key: ManifestResource): Record<string, unknown> {
  const [current, former] = objectsIn(key.fields.secrets)
  const secret = ({ sha256, last_four }: Record<string, Plain>) => ({ sha256, last_four })
  return {
    ...writeResource(key),
    ...(current === undefined ? {} : secret(current)),
    ...(former === undefined ? {} : { former: { ...secret(former), expires_at: former.expires_at } }),
  }
}

const sectionComments: Record<string, string> = {
  owner:
    ' The owner of these settings. With none, applying the file claims nothing, and others may change what it says.',
  projects: ' Projects with their environments.',
  providers:
    ' Credentials and headers that may hold one are not exported: each is read from the environment variable in its place.',
  policies: ' What keys may do.',
  keys: ' Gateway keys by the SHA-256 of their secrets: their holders can continue to use them.',
  routes: ' Which providers serve the model that a client names.',
  alerts: ' Who is told of what. URLs that hold a token are read from the environment variable in their place.',
}

function commentSection({ contents }: Document, name: string): void {
  const comment = sectionComments[name]
  if (comment === undefined || !isMap(contents)) return
  const [pair] = (contents as YAMLMap).items as Pair<Node, Node>[]
  if (isScalar(pair?.key)) pair.key.commentBefore = comment
}

function commentCredentials(document: Document, providers: readonly ManifestResource[]): void {
  for (const [place, { fields }] of providers.entries()) {
    const endings = objectsIn(fields.credentials)
    for (const [index, { last_four }] of endings.entries()) {
      const path = endings.length === 1 ? ['credential'] : ['credentials', index]
      const node = document.getIn(['providers', place, ...path], true)
      if (isScalar(node) && last_four !== '') node.comment = ` ends in ${String(last_four)}`
    }
  }
}
