import { resourceSections, sectionNames } from '../config/schema.ts'
import { parseSettingsFile, type SettingsFile } from '../config/settings-file.ts'
import { SettingsRefused } from '../config/settings-refused.ts'
import { isObject } from '../core/json/is-object.ts'
import { ownValue } from '../core/own-value.ts'
import { readEntry } from './read-entry.ts'
import { below, Reader, type SourcePosition, TooManyProblems, unknownName } from './reader.ts'
import type { ManifestEntry, Problem, ResourceKind } from './resource.ts'

export interface Document {
  /** As it is called in messages: the file's path. */
  name: string
  /** YAML, of which JSON is a part. */
  text: string
}

export interface Manifest {
  owner: string
  entries: ManifestEntry[]
  problems: Problem[]
}

interface Owner {
  name: string
  place: string
}

const defaultOwner = 'file'
const ownerForm = /^[a-z0-9][a-z0-9._-]{0,62}$/
const plainSections: Record<string, ResourceKind> = {
  providers: 'provider',
  policies: 'policy',
  keys: 'key',
  routes: 'route',
  alerts: 'alert',
}

/** What the files say together, and every problem with its place. Sections with settings of `serve` are skipped. */
export function readDocuments(documents: readonly Document[], variables: Readonly<Record<string, string>>): Manifest {
  const reader = new Reader(variables)
  const owners: Owner[] = []
  for (const { name, text } of documents) {
    try {
      readFile(reader, parseSettingsFile(text, name), owners)
    } catch (error) {
      if (error instanceof TooManyProblems) break
      if (!(error instanceof SettingsRefused)) throw error
      reader.problems.push(...error.problems)
    }
  }
  return { owner: owners[0]?.name ?? defaultOwner, entries: reader.entries, problems: reader.problems }
}

function readFile(reader: Reader, file: SettingsFile, owners: Owner[]): void {
  for (const [name, value] of Object.entries(file.tree)) {
    const place: SourcePosition = { file, path: [name] }
    const kind = ownValue(plainSections, name)
    if (kind !== undefined) reader.eachOf(value, place, (member, at) => readEntry(reader, kind, member, at))
    else if (name === 'projects') reader.eachOf(value, place, (member, at) => readProject(reader, member, at))
    else if (name === 'owner') readOwner(reader, value, place, owners)
    else if (name === 'model_list')
      reader.reject(place, 'model_list is of LiteLLM; convert the file first: spgw import litellm FILE > gateway.yaml')
    else if (!sectionNames.includes(name))
      reader.reject(place, unknownName(name, [...resourceSections, ...sectionNames]))
  }
}

function readOwner(reader: Reader, value: unknown, place: SourcePosition, owners: Owner[]): void {
  if (typeof value !== 'string' || !ownerForm.test(value))
    return reader.reject(place, 'owner: expected a name of lower-case letters, digits, dots and hyphens')
  const other = owners.find(({ name }) => name !== value)
  if (other !== undefined)
    return reader.reject(
      place,
      `owner ${value} differs from ${other.name} at ${other.place}; apply their files separately`,
    )
  owners.push({ name: value, place: place.file.place(place.path) })
}

/** A project may be just its name, and so may each of its environments. */
function readProject(reader: Reader, value: unknown, place: SourcePosition): void {
  const { environments, ...rest } = isObject(value) ? value : { name: value, environments: undefined }
  const project = readEntry(reader, 'project', rest, place)
  if (project === null) return
  reader.eachOf(environments, below(place, 'environments'), (member, at) =>
    readEntry(reader, 'environment', isObject(member) ? member : { name: member }, at, project),
  )
}
