import { figuresOf, isFailure } from '../../../core/attempt-figures.ts'
import { isId } from '../../../core/ids.ts'
import type { LaneName } from '../../../core/lane.ts'
import type { RequestRecord } from '../../../core/record.ts'
import { hasSecretForm, keyPrefix } from '../../../core/secrets/gateway-key.ts'
import type { RecordFilter } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { readDuration, readMoment } from '../moments.ts'

export interface FilterInput {
  project?: string | undefined
  environment?: string | undefined
  key?: string | undefined
  model?: string | undefined
  provider?: string | undefined
  status?: string | undefined
  error?: string | undefined
  errors?: boolean | undefined
  slowerThan?: string | undefined
  fellBack?: boolean | undefined
  failedAt?: string | undefined
  lane?: LaneName | undefined
  node?: string | undefined
  state?: RequestRecord['state'] | undefined
  id?: string | undefined
  route?: string | undefined
  tags?: string[] | undefined
  since?: string | undefined
  until?: string | undefined
  limit?: number
  before?: string | undefined
}

/** To choose or to group by node is refused where all records are of one. */
export function needOtherNodes({ runtime }: AdminContext): void {
  if (runtime.cluster === null)
    throw invalid('This gateway is alone: there are no other nodes.', 'Leave --node out, and group by something else.')
  if (runtime.cluster.records !== 'shared')
    throw invalid('Records of other nodes are not here.', 'Ask that node, or share records: docs/cluster.md')
}

/** Records carry names; where an id is given, its name of today is looked for. */
export async function readFilter(context: AdminContext, input: FilterInput): Promise<RecordFilter> {
  if (input.node !== undefined) needOtherNodes(context)
  const { since, until, limit, project, provider, tags, errors, slowerThan, fellBack, failedAt, ...rest } =
    withKeyScope(await withKeyId(context, input))
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(project === undefined ? {} : { project: await nameOfProject(context, project) }),
    ...(provider === undefined ? {} : { provider: await nameOfProvider(context, provider) }),
    ...(errors ? { errors } : {}),
    ...(slowerThan === undefined ? {} : { slowerThanMs: readDuration(slowerThan) }),
    ...(fellBack ? { fellBack } : {}),
    ...(failedAt === undefined ? {} : { failedAt: await nameOfProvider(context, failedAt) }),
    ...(tags === undefined ? {} : { tags: readWantedTags(tags) }),
    ...(since === undefined ? {} : { since: readMoment(since, 'back') }),
    ...(until === undefined ? {} : { until: readMoment(until, 'back') }),
    limit: limit ?? 1,
  }
}

/** A whole key stands for its ID. */
async function withKeyId(context: AdminContext, input: FilterInput): Promise<FilterInput> {
  if (input.key === undefined || !hasSecretForm(input.key, keyPrefix)) return input
  const { findWholeKey } = await import('../keys/whole-key.ts')
  return { ...input, key: (await findWholeKey(context, input.key)).id }
}

/** `project/environment/name`, as statistics write it where several keys have the name. */
function withKeyScope(input: FilterInput): FilterInput {
  const [project, environment, key, ...more] = input.key?.split('/') ?? []
  if (key === undefined || more.length > 0) return input
  const isElsewhere = (input.project ?? project) !== project || (input.environment ?? environment) !== environment
  return isElsewhere ? input : { ...input, project, environment, key }
}

async function nameOfProject({ store }: AdminContext, text: string): Promise<string> {
  return isId(text, 'prj') ? ((await store.projects.find(text))?.name ?? text) : text
}

async function nameOfProvider({ store }: AdminContext, text: string): Promise<string> {
  return isId(text, 'prv') ? ((await store.providers.find(text))?.name ?? text) : text
}

/** The same filter on a record that is pushed; times do not apply to what is happening now. */
export function matchesFilter(record: RequestRecord, filter: RecordFilter): boolean {
  return (
    is(filter.project, record.project) &&
    is(filter.environment, record.environment) &&
    (is(filter.key, record.key?.id) || is(filter.key, record.key?.name)) &&
    is(filter.model, record.model) &&
    is(filter.provider, record.provider) &&
    is(filter.error, record.error?.code) &&
    (!filter.errors || record.error !== null || (record.status ?? 0) >= 400) &&
    (filter.slowerThanMs === undefined || (record.duration_ms ?? 0) >= filter.slowerThanMs) &&
    matchesAttempts(filter, record) &&
    is(filter.lane, record.lane) &&
    is(filter.node, record.node) &&
    is(filter.route, record.route) &&
    is(filter.state, record.state) &&
    hasTags(filter.tags, record.tags) &&
    matchesStatus(filter.status, record.status) &&
    (filter.id === undefined || record.id.includes(filter.id.toLowerCase()))
  )
}

function matchesAttempts({ fellBack, failedAt }: RecordFilter, { attempts, error }: RequestRecord): boolean {
  if (!fellBack && failedAt === undefined) return true
  const figures = figuresOf(attempts, error)
  return (
    (!fellBack || figures.some(({ outcome }) => outcome === 'fell_back')) &&
    (failedAt === undefined || figures.some(({ provider, outcome }) => provider === failedAt && isFailure(outcome)))
  )
}

/** `name=value`, or the name alone for any value. All of them hold: a value tells more than the name alone. */
function readWantedTags(tags: readonly string[]): Record<string, string | null> {
  const wanted = new Map<string, string | null>()
  for (const tag of tags) {
    const end = tag.indexOf('=')
    const name = end < 0 ? tag : tag.slice(0, end)
    const value = end < 0 ? null : tag.slice(end + 1)
    const known = wanted.get(name) ?? null
    if (known !== null && value !== null && known !== value)
      throw invalid(`--tag names two values of ${name}, and no request has both.`, 'Give one of them.')
    wanted.set(name, value ?? known)
  }
  return Object.fromEntries(wanted)
}

function hasTags(wanted: RecordFilter['tags'] = {}, found: RequestRecord['tags']): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(found, name) && (value === null || found[name] === value),
  )
}

const is = (wanted: string | undefined, found: string | null | undefined) => wanted === undefined || wanted === found

function matchesStatus(wanted: string | undefined, status: number | null): boolean {
  if (wanted === undefined) return true
  if (status === null) return false
  return wanted.endsWith('xx') ? String(status).startsWith(wanted.charAt(0)) : String(status) === wanted
}
