import type { ClusterLink } from '../../cluster/link.ts'
import type { RecordReading } from '../../cluster/readings/reading.ts'
import type { RequestRecord } from '../../core/record.ts'
import type { FoundBodies, FoundRecords, RecordFilter, StoreClient } from '../../store/api.ts'
import type { ObjectFilter } from '../../store/objects/object-tables.ts'
import type { SharedRead } from '../../store/replica/replica-types.ts'
import { StoreReadOnly, StoreStopped } from '../../store/store-error.ts'

/** Whoever reads waits so long for what this node has still to ship. */
const shipMs = 500

export interface RecordReaderParts {
  link: ClusterLink
  store: StoreClient
  /** What records call this node. */
  node: string
  /** Why this node has no part in the others' records now, though PostgreSQL may answer (a standby does); null: it has. */
  out(): string | null
  /** Why the records of the others are not read; null: they are. */
  onApart(reason: string | null): void
}

/** Records of all nodes from PostgreSQL, and what is under way from here; without PostgreSQL those of this node. */
export class RecordReader {
  readonly #parts: RecordReaderParts

  constructor(parts: RecordReaderParts) {
    this.#parts = parts
  }

  /** Whoever stops reading waits for no PostgreSQL that takes its time. */
  readonly read: SharedRead = async ({ signal, ...call }, own) => {
    if (signal === null) return await this.#read(call, own, null)
    const stopped = Promise.withResolvers<never>()
    const stop = () => stopped.reject(new StoreStopped('the read was cancelled'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    try {
      return await Promise.race([this.#read(call, own, signal), stopped.promise])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #read(
    { table, method, input }: Omit<Parameters<SharedRead>[0], 'signal'>,
    own: () => Promise<unknown>,
    signal: AbortSignal | null,
  ) {
    if (table === 'objects') return await this.#readObjects(input[0] as ObjectFilter, own)
    // Their keys are configuration, and here.
    if (table === 'bodies') return method === 'find' ? await this.#findBodies(String(input[0]), own) : await own()
    if (method === 'get') return await this.#get(String(input[0]), own)
    // Every other reading begins with a filter.
    const filter = input[0] as RecordFilter
    const { node } = this.#parts
    if (filter.state === 'admitted')
      return filter.node === undefined || filter.node === node ? this.#name(await own(), input[1]) : []
    try {
      const found = await this.#ask(method, [await this.#resolve(filter), ...input.slice(1)], signal)
      this.#parts.onApart(null)
      return await this.#addUnderWay(method, filter, found)
    } catch (error) {
      if (!(error instanceof StoreReadOnly)) throw error
      this.#parts.onApart(error.message)
      if (filter.node !== undefined && filter.node !== node)
        throw new StoreReadOnly(`the records of ${filter.node} cannot be read: ${error.message}`)
      return this.#name(await own(), input[1])
    }
  }

  /** Without PostgreSQL those of this node. */
  async #readObjects(filter: ObjectFilter, own: () => Promise<unknown>): Promise<unknown> {
    try {
      return await this.#linked().ask('objects', filter)
    } catch (error) {
      if (!(error instanceof StoreReadOnly)) throw error
      this.#parts.onApart(error.message)
      return await own()
    }
  }

  /** Here first, as records are. */
  async #findBodies(id: string, own: () => Promise<unknown>): Promise<FoundBodies> {
    // What the database answers is said by the store's tables.
    const known = (await own()) as FoundBodies
    if (known.bodies.length > 0) return known
    try {
      return await this.#linked().ask('bodies', { id })
    } catch (error) {
      if (!(error instanceof StoreReadOnly)) throw error
      this.#parts.onApart(error.message)
      return { bodies: [], missing: 'unreachable' }
    }
  }

  /** What has ended changes no more: here first. */
  async #get(id: string, own: () => Promise<unknown>): Promise<unknown> {
    const known = this.#name(await own())
    if (known !== null) return known
    try {
      return await this.#ask('get', [id], null)
    } catch (error) {
      if (!(error instanceof StoreReadOnly)) throw error
      this.#parts.onApart(error.message)
      return null
    }
  }

  async #ask(method: string, input: unknown[], signal: AbortSignal | null): Promise<unknown> {
    const link = this.#linked()
    await this.#ship(link)
    // The method and its input come together, as the store's tables say.
    return await link.ask('read', { method, input } as RecordReading, signal)
  }

  /** What a node that is out, or cut off, answers from now on it can bring to nobody: PostgreSQL would show all but that. */
  #linked(): ClusterLink {
    const out = this.#parts.out()
    if (out !== null) throw new StoreReadOnly(out)
    return this.#parts.link
  }

  async #ship(link: ClusterLink): Promise<void> {
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, shipMs)
    await Promise.race([link.ask('ship', null), limit.promise])
    clearTimeout(timer)
  }

  /** PostgreSQL knows names, and not whose they are and were. */
  async #resolve({ projects, ...filter }: RecordFilter): Promise<object> {
    if (projects === undefined) return filter
    const names = await this.#parts.store.projects.names()
    return { ...filter, names: names.filter(({ projectId }) => projectId !== null && projects.includes(projectId)) }
  }

  /** In a list, what has not ended yet; only its own node knows of it. */
  async #addUnderWay(method: string, filter: RecordFilter, found: unknown): Promise<unknown> {
    const { store, node } = this.#parts
    const isList = method === 'list' || method === 'search'
    if (!isList || filter.state !== undefined || (filter.node !== undefined && filter.node !== node)) return found
    const input = [{ ...filter, state: 'admitted' }]
    const running = (await store.alone({ table: 'records', method: 'list', input, audit: null })) as RequestRecord[]
    if (running.length === 0) return found
    const merge = (records: RequestRecord[]) => {
      const ended = new Set(records.map(({ id }) => id))
      const all = [...records, ...running.filter(({ id }) => !ended.has(id)).map((record) => ({ ...record, node }))]
      return all.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, filter.limit)
    }
    if (method === 'list') return merge(found as RequestRecord[])
    const page = found as FoundRecords
    const records = merge(page.records)
    return { ...page, records, before: records.length >= filter.limit ? (records.at(-1)?.id ?? null) : page.before }
  }

  /** Records of this node, or sums of them, as the others would show them. `question`: how they are grouped. */
  #name(output: unknown, question?: unknown): unknown {
    const { node } = this.#parts
    const place = waysIn(question).indexOf('node')
    if (Array.isArray(output))
      return output.map((each) =>
        isRecord(each) ? { ...each, node } : place >= 0 && isGroup(each) ? nameGroup(each, place, node) : each,
      )
    if (isRecord(output)) return { ...output, node }
    return isPage(output) ? { ...output, records: output.records.map((each) => ({ ...each, node })) } : output
  }
}

/** Of `stats` one or several; of `series` one. */
function waysIn(question: unknown): readonly unknown[] {
  const by = typeof question === 'object' && question !== null && 'by' in question ? question.by : question
  return [by].flat()
}

interface NamedGroup {
  group: string
  id?: string
  groups?: readonly string[]
}

/** Here records do not say whose they are. */
function nameGroup({ group, id, groups = [group], ...sums }: NamedGroup, place: number, node: string): NamedGroup {
  const names = groups.with(place, node)
  const [named, parts] = [names.join(', '), id?.split('\n').with(place, node).join('\n')]
  return parts === undefined ? { ...sums, group: named } : { ...sums, group: named, groups: names, id: parts }
}

function isGroup(value: unknown): value is NamedGroup {
  return typeof value === 'object' && value !== null && 'group' in value
}

function isRecord(value: unknown): value is RequestRecord {
  return typeof value === 'object' && value !== null && 'policy_signals' in value
}

function isPage(value: unknown): value is FoundRecords {
  return typeof value === 'object' && value !== null && 'searchedUntil' in value
}
