import { isObject } from '../core/json/is-object.ts'
import { ownValue } from '../core/own-value.ts'
import { hiddenHeader } from '../core/secrets/hidden-header.ts'
import { Secret } from '../core/secrets/secret.ts'
import { describeUnset, variableForm } from '../core/variables.ts'
import { flag, moment } from './forms.ts'
import { type KindSpec, kindSpecs, specOf } from './kinds.ts'
import { below, type Reader, type SourcePosition, unknownName } from './reader.ts'
import { type Fields, type ManifestEntry, type Plain, type ResourceKind, secretFields } from './resource.ts'

/** Longer than any model's name; what the routes' own rules say of it comes later. */
const slugForm = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** Names that stand for fields of other names. */
const shorthands: Partial<Record<ResourceKind, readonly string[]>> = {
  provider: ['credential'],
  route: ['provider', 'upstream_model'],
  key: ['sha256', 'last_four', 'former'],
}
const hidden = ['secrets']

/** Reads one resource into the reader; null: it has no name. Problems are reported with their place. */
export function readEntry(
  reader: Reader,
  kind: ResourceKind,
  value: unknown,
  place: SourcePosition,
  project?: ManifestEntry,
): ManifestEntry | null {
  const spec = kindSpecs[kind]
  if (!isObject(value)) {
    reader.reject(place, `expected a ${kind}, like ${spec.nameField}: … and its fields below`)
    return null
  }
  const given = fill(reader, kind, value, place)
  const name = readName(reader, kind, given.tree[spec.nameField], place)
  if (name === null) return null
  const entry: ManifestEntry = {
    kind,
    ...readScope(reader, spec, given.tree, place),
    name,
    fields: {},
    place: place.file.place(place.path),
    placeOf: {},
    credentials: null,
    missing: [],
  }
  if (project !== undefined) entry.project = project.name
  readFields(reader, entry, given, place)
  reader.add(entry)
  return entry
}

interface GivenEntry {
  tree: Record<string, unknown>
  /** By the path below the entry. */
  missing: Map<string, string[]>
}

/** Fills in all variables. Only those of a credential may be unset. */
function fill(reader: Reader, kind: ResourceKind, value: Record<string, unknown>, place: SourcePosition): GivenEntry {
  const missing = new Map<string, string[]>()
  const walk = (inner: unknown, at: SourcePosition): unknown => {
    if (Array.isArray(inner)) return inner.map((member, index) => walk(member, below(at, String(index))))
    if (isObject(inner))
      return Object.fromEntries(Object.entries(inner).map(([name, member]) => [name, walk(member, below(at, name))]))
    if (typeof inner !== 'string') return inner
    const filled = fillVariables(inner, reader.variables)
    reader.countFilled(filled.text.length, at)
    const field = at.path[place.path.length] ?? ''
    if (filled.missing.length > 0) {
      const before = missing.get(field)
      if (before === undefined) missing.set(field, filled.missing)
      else before.push(...filled.missing.slice(0, missingNamed))
      const unset = describeUnset(filled.missing.slice(0, missingNamed))
      if (isHeader(kind, field)) return hiddenHeader
      if (!isSecret(kind, field)) reader.reject(at, `${field}: ${unset}; set it and apply again`)
    }
    return filled.text
  }
  return { tree: walk(value, place) as Record<string, unknown>, missing }
}

/** Of one text, as many unset variables are named. */
const missingNamed = 10

const isSecret = (kind: ResourceKind, name: string) =>
  name === secretFields[kind] || (kind === 'provider' && name === 'credential')

/** Without its variable a header stays as it is. */
const isHeader = (kind: ResourceKind, name: string) => kind === 'provider' && name === 'headers'

function readName(reader: Reader, kind: ResourceKind, value: unknown, place: SourcePosition): string | null {
  const { nameField } = kindSpecs[kind]
  const at = below(place, nameField)
  if (value === undefined || value === null || value === '') {
    reader.reject(place, `a ${kind} needs its ${nameField}`)
    return null
  }
  const name = typeof value === 'number' ? String(value) : value
  if (typeof name === 'string' && (nameField === 'model' || slugForm.test(name))) return name
  const expected = 'lower-case letters, digits, dots, underscores and hyphens, up to 63, a letter or digit first'
  reader.reject(
    at,
    `${nameField}: expected ${nameField === 'model' ? 'a model name, or a pattern with one *' : expected}`,
  )
  return null
}

function readScope(reader: Reader, spec: KindSpec, tree: Record<string, unknown>, place: SourcePosition) {
  const read = (name: 'project' | 'environment', fallback: string): string | null => {
    if (!spec.scope.includes(name)) return null
    const value = tree[name] ?? fallback
    if (typeof value === 'string' && slugForm.test(value)) return value
    reader.reject(below(place, name), `${name}: expected its name`)
    return fallback
  }
  const said = spec.scope.includes('all_environments') ? flag.read(tree.all_environments ?? false) : false
  // Taken for false, a route would be somewhere else than its file says.
  if (said === undefined) reader.reject(below(place, 'all_environments'), `all_environments: expected ${flag.expected}`)
  const everywhere = said === true
  if (everywhere && tree.environment !== undefined && tree.environment !== null)
    reader.reject(below(place, 'environment'), 'environment and all_environments cannot be used together')
  return { project: read('project', 'default'), environment: everywhere ? null : read('environment', 'production') }
}

function readFields(reader: Reader, entry: ManifestEntry, { tree, missing }: GivenEntry, place: SourcePosition): void {
  const { kind } = entry
  const spec = kindSpecs[kind]
  const names = knownNames(kind)
  for (const [name, value] of Object.entries(tree)) {
    const at = below(place, name)
    const described = name === spec.nameField || spec.scope.some((scope) => scope === name)
    if (!names.includes(name)) reader.reject(at, unknownName(name, names))
    else if (described || value === null || value === undefined) continue
    else if (isSecret(kind, name)) readCredentials(reader, entry, value, missing.get(name) ?? [], at)
    else if (isSection(kind, name)) readSection(reader, entry, name, value, at)
    else if (!shorthands[kind]?.includes(name)) readField(reader, entry, name, value, at)
  }
  if (kind === 'provider' && isGiven(tree.credential) && isGiven(tree.credentials))
    reader.reject(below(place, 'credential'), 'credential and credentials cannot be used together')
  if (kind === 'route') readSoleTarget(reader, entry, tree, place)
  if (kind === 'key') readSecrets(reader, entry, tree, place)
}

const isGiven = (value: unknown) => value !== undefined && value !== null

const namesByKind = new Map<ResourceKind, readonly string[]>()

function knownNames(kind: ResourceKind): readonly string[] {
  const names = namesByKind.get(kind) ?? namesOf(kind)
  namesByKind.set(kind, names)
  return names
}

function namesOf(kind: ResourceKind): string[] {
  const { nameField, scope, fields, openSection } = kindSpecs[kind]
  const own = Object.keys(fields).map((name) => name.split('.')[0] ?? name)
  const open = openSection === undefined ? [] : [openSection.name]
  const names = [nameField, ...scope, ...own, ...open, ...(shorthands[kind] ?? [])]
  return [...new Set(names)].filter((name) => !hidden.includes(name))
}

function isSection(kind: ResourceKind, name: string): boolean {
  const { fields, openSection } = kindSpecs[kind]
  return openSection?.name === name || Object.keys(fields).some((field) => field.startsWith(`${name}.`))
}

function readSection(
  reader: Reader,
  entry: ManifestEntry,
  section: string,
  value: unknown,
  place: SourcePosition,
): void {
  if (!isObject(value)) return reader.reject(place, `${section}: expected its fields below it, one per line`)
  for (const [name, inner] of Object.entries(value)) {
    if (inner !== null && inner !== undefined) readField(reader, entry, `${section}.${name}`, inner, below(place, name))
  }
}

function readField(reader: Reader, entry: ManifestEntry, name: string, value: unknown, place: SourcePosition): void {
  const spec = specOf(entry.kind, name)
  if (spec === null) return reader.reject(place, unknownName(name, Object.keys(kindSpecs[entry.kind].fields)))
  const read = spec.form.read(value)
  if (read === undefined) return reader.reject(place, `${name}: expected ${spec.form.expected}`)
  put(entry, name, read, place)
}

function put(entry: ManifestEntry, name: string, value: Plain, { file, path }: SourcePosition): void {
  entry.fields[name] = value
  entry.placeOf[name] = file.place(path)
}

/** Credentials in clear text stay secrets here; the holder of the machine key makes what is compared of them. */
function readCredentials(
  reader: Reader,
  entry: ManifestEntry,
  value: unknown,
  missing: string[],
  place: SourcePosition,
): void {
  const field = secretFields[entry.kind] ?? ''
  const texts = Array.isArray(value) && entry.kind === 'provider' ? value : [value]
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string')) {
    const list = entry.kind === 'provider' ? ', or a list of them' : ''
    return reader.reject(place, `${field}: expected a text, preferably a variable${list}`)
  }
  entry.placeOf[field] = place.file.place(place.path)
  entry.missing = [...new Set(missing)]
  if (missing.length === 0) entry.credentials = texts.map((text) => new Secret(String(text).trim()))
}

/** `provider` and `upstream_model` are a route's one target. */
function readSoleTarget(
  reader: Reader,
  entry: ManifestEntry,
  tree: Fields | Record<string, unknown>,
  place: SourcePosition,
): void {
  const { provider, upstream_model, targets } = tree
  if (!isGiven(provider)) {
    if (isGiven(upstream_model)) reader.reject(below(place, 'upstream_model'), 'upstream_model needs provider')
    return
  }
  const at = below(place, 'provider')
  if (isGiven(targets)) return reader.reject(at, 'provider and targets cannot be used together')
  if (typeof provider !== 'string') return reader.reject(at, 'provider: expected the name of a provider')
  const model = upstream_model ?? null
  if (model !== null && typeof model !== 'string')
    return reader.reject(below(place, 'upstream_model'), 'upstream_model: expected a text, in quotes')
  put(entry, 'targets', [{ provider, upstream_model: model, weight: 1, priority: null, format: null }], at)
}

const formerNames = ['sha256', 'last_four', 'expires_at']
const hashForm = /^[0-9a-f]{64}$/

/** What an export carries of a key, so that a wiped gateway admits it again: `sha256`, `last_four`, and `former` while a rotation's grace runs. */
function readSecrets(reader: Reader, entry: ManifestEntry, tree: Record<string, unknown>, place: SourcePosition): void {
  const { former } = tree
  if (![tree.sha256, tree.last_four, former].some(isGiven)) return
  const current = readSecret(reader, tree, place)
  if (current === null) return
  const secrets: Plain[] = [{ ...current, expires_at: null }]
  const at = below(place, 'former')
  if (isGiven(former) && !isObject(former)) reader.reject(at, `former: expected ${formerNames.join(', ')} below it`)
  if (isObject(former)) {
    const unknown = Object.keys(former).find((name) => !formerNames.includes(name))
    if (unknown !== undefined) reader.reject(below(at, unknown), unknownName(unknown, formerNames))
    const second = readSecret(reader, former, at)
    const expires = moment.read(former.expires_at)
    if (expires === undefined) reader.reject(at, `expires_at: expected ${moment.expected}`)
    else if (second !== null) secrets.push({ ...second, expires_at: expires })
  }
  entry.fields.secrets = secrets
  entry.placeOf.secrets = place.file.place([...place.path, 'sha256'])
}

function readSecret(
  reader: Reader,
  { sha256, last_four }: Record<string, unknown>,
  place: SourcePosition,
): { sha256: string; last_four: string } | null {
  const hash = typeof sha256 === 'string' ? sha256.toLowerCase() : ''
  if (!hashForm.test(hash)) {
    reader.reject(below(place, 'sha256'), 'sha256: expected the SHA-256 of the key in 64 hexadecimal digits')
    return null
  }
  // Four digits are a number to YAML.
  const ending = typeof last_four === 'number' ? String(last_four).padStart(4, '0') : last_four
  if (typeof ending !== 'string' || !/^[0-9A-Za-z]{4}$/.test(ending)) {
    reader.reject(below(place, 'last_four'), 'last_four: expected the last four characters of the key, in quotes')
    return null
  }
  return { sha256: hash, last_four: ending }
}

interface Filled {
  text: string
  /** Variables that are not set, or empty. */
  missing: string[]
}

/** `${NAME}` and `${file:PATH}`, filled in from what the applying command read; `$${` stands for `${` itself. */
function fillVariables(text: string, variables: Readonly<Record<string, string>>): Filled {
  const missing: string[] = []
  const filled = text.replace(variableForm, (whole, escaped: string | undefined, name: string | undefined) => {
    if (escaped !== undefined) return escaped
    const value = name === undefined ? undefined : ownValue(variables, name)
    if (value !== undefined && value !== '') return value
    missing.push(name ?? '')
    return whole
  })
  return { text: filled, missing }
}
