import { isObject } from '../../../core/json/is-object.ts'
import { hideCredentials } from '../../../core/secrets/address-credentials.ts'
import { hiddenHeader } from '../../../core/secrets/hidden-header.ts'
import { showHeaders } from '../../../core/secrets/provider-headers.ts'
import type { AuditEvent, AuditFilter } from '../../../store/operators/audit-tables.ts'
import type { AdminContext } from '../context.ts'
import { findProject } from '../find.ts'
import { readMoment } from '../moments.ts'

export interface AuditInput {
  actor?: string | undefined
  surface?: AuditEvent['surface'] | undefined
  operation?: string | undefined
  resource?: string | undefined
  project?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

/** A project that is gone is still known by its id, to whoever may see all. */
async function readProject(context: AdminContext, name: string): Promise<string> {
  const found = await context.store.projects.find(name)
  if (found === null && context.scope.able === null && name.startsWith('prj_')) return name
  return (found ?? (await findProject(context, name))).id
}

export async function readAuditFilter(context: AdminContext, input: AuditInput): Promise<Omit<AuditFilter, 'limit'>> {
  const { project, since, until, ...rest } = input
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(project === undefined ? {} : { projects: [await readProject(context, project)] }),
    ...(since === undefined ? {} : { since: readMoment(since, 'back') }),
    ...(until === undefined ? {} : { until: readMoment(until, 'back') }),
  }
}

export function showLine(line: AuditEvent, projectName: (id: string) => string) {
  const { actorId, projectId, previousHash, before, after, ...rest } = line
  return {
    ...rest,
    before: withoutSecrets(before),
    after: withoutSecrets(after),
    actor_id: actorId,
    project: projectId === null ? null : projectName(projectId),
    previous_hash: previousHash,
  }
}

/** Earlier versions wrote headers of providers in clear, and addresses with what they held. A line is never changed. */
function withoutSecrets(state: unknown): unknown {
  if (!isObject(state)) return state
  const { headers, base_url } = state
  return {
    ...state,
    ...(isObject(headers) ? { headers: withFingerprints(headers as Record<string, string>) } : {}),
    ...(typeof base_url === 'string' ? { base_url: hideCredentials(base_url) } : {}),
  }
}

/** They show what was changed. */
function withFingerprints(headers: Record<string, string>): Record<string, string> {
  const described = Object.entries(headers).filter(([, value]) => value.startsWith(`${hiddenHeader} (`))
  return { ...showHeaders(headers), ...Object.fromEntries(described) }
}

/** A project that is gone shows as its id. */
export async function loadProjectNames({ store }: AdminContext): Promise<(id: string) => string> {
  const names = new Map((await store.projects.list()).map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
