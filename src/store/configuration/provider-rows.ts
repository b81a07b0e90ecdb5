import { type AccountLimits, noAccountLimits } from '../../core/policies/policy-limits.ts'
import type { Provider, ProviderRevision, SealedCredential } from '../api.ts'
import { present } from '../reject.ts'
import type { Database, ProviderCredentialRow, ProviderRevisionRow, ProviderRow } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import { refuseStaleSeals } from './seal.ts'

/** Providers with their active revisions, in the order of the rows. */
export async function joinProviders(db: Database, rows: readonly ProviderRow[]): Promise<Provider[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const revisions = Map.groupBy(
    await db
      .selectFrom('provider_revisions')
      .innerJoin('providers', (join) =>
        join
          .onRef('providers.id', '=', 'provider_revisions.provider_id')
          .onRef('providers.active_revision', '=', 'provider_revisions.number'),
      )
      .selectAll('provider_revisions')
      .where('provider_id', 'in', ids)
      .execute(),
    (revision) => revision.provider_id,
  )
  const credentials = await readCredentials(db, ids)
  const projects = await db.selectFrom('provider_projects').selectAll().where('provider_id', 'in', ids).execute()
  return rows.map((row) => {
    const revision = present(revisions.get(row.id)?.[0], 'active revision of provider', row.id)
    const allowed = projects.filter((entry) => entry.provider_id === row.id).map((entry) => entry.project_id)
    return toProvider(row, row.limited === 1 ? allowed : null, toRevision(revision, credentials))
  })
}

export async function listRevisions(db: Database, id: string): Promise<ProviderRevision[]> {
  const query = db.selectFrom('provider_revisions').selectAll().where('provider_id', '=', id)
  const credentials = await readCredentials(db, [id])
  return (await query.orderBy('number').execute()).map((row) => toRevision(row, credentials))
}

export async function insertRevision(db: Database, id: string, revision: ProviderRevision): Promise<void> {
  await refuseStaleSeals(db, id, revision)
  await db
    .insertInto('provider_revisions')
    .values({
      provider_id: id,
      number: revision.number,
      base_url: revision.baseUrl,
      headers_json: writeJson(revision.headers),
      timeouts_json: writeJson(revision.timeouts),
      settings_json: writeJson(revision.settings),
      created_at: revision.createdAt,
      created_by: revision.createdBy,
    })
    .execute()
  const rows = revision.credentials.map((credential, position) => ({
    provider_id: id,
    revision: revision.number,
    position,
    id: credential.id,
    sealed: credential.sealed,
    last_four: credential.lastFour,
    added_at: credential.addedAt,
  }))
  if (rows.length > 0) await db.insertInto('provider_credentials').values(rows).execute()
}

async function readCredentials(db: Database, ids: readonly string[]): Promise<Map<string, ProviderCredentialRow[]>> {
  const query = db.selectFrom('provider_credentials').selectAll().where('provider_id', 'in', ids)
  return Map.groupBy(await query.orderBy('position').execute(), (row) => revisionKey(row.provider_id, row.revision))
}

function revisionKey(provider: string, revision: number): string {
  return `${provider} ${revision}`
}

function toProvider(row: ProviderRow, projects: string[] | null, revision: ProviderRevision): Provider {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    active: row.active === 1,
    projects,
    tags: readJson(row.tags_json),
    activeRevision: row.active_revision,
    readiness: readJson(row.readiness_json),
    models: readJson(row.models_json),
    limits: { ...noAccountLimits, ...readJson<Partial<AccountLimits>>(row.limits_json) },
    createdAt: row.created_at,
    revision,
  }
}

function toRevision(row: ProviderRevisionRow, credentials: Map<string, ProviderCredentialRow[]>): ProviderRevision {
  return {
    number: row.number,
    baseUrl: row.base_url,
    headers: readJson(row.headers_json),
    timeouts: readJson(row.timeouts_json),
    settings: readJson(row.settings_json),
    credentials: (credentials.get(revisionKey(row.provider_id, row.number)) ?? []).map(toCredential),
    createdAt: row.created_at,
    createdBy: row.created_by,
  }
}

function toCredential(row: ProviderCredentialRow): SealedCredential {
  return { id: row.id, sealed: row.sealed, lastFour: row.last_four, addedAt: row.added_at }
}
