import type { PolicyRules } from '../../core/policies/policy-rules.ts'
import type { Policy, Tables } from '../api.ts'
import { named, present, refuseInUse, refuseTaken } from '../reject.ts'
import type { Database, PolicyRow, Schema } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'

type Attachment = Schema['policy_attachments']

export function policiesTable(db: Database): Tables['policies'] {
  const withId = (id: string) => db.selectFrom('policies').selectAll().where('id', '=', id).executeTakeFirst()
  const withName = (name: string) => db.selectFrom('policies').selectAll().where('name', '=', name).executeTakeFirst()
  const attachments = (id: string) =>
    db.selectFrom('policy_attachments').selectAll().where('policy_id', '=', id).execute()
  return {
    list: () => listPolicies(db),
    async find(nameOrId) {
      const row = (await withId(nameOrId)) ?? (await withName(nameOrId))
      return row ? toPolicy(row, await attachments(row.id)) : null
    },
    async insert(policy) {
      refuseTaken(await withName(policy.name), 'policy', policy.name, policy.id)
      await db.insertInto('policies').values(toRow(policy)).execute()
      await attach(db, policy)
      return policy
    },
    async update(id, change) {
      const row = present(await withId(id), 'policy', id)
      const policy = { ...toPolicy(row, await attachments(id)), ...change }
      refuseTaken(await withName(policy.name), 'policy', policy.name, id)
      await db.updateTable('policies').set(toRow(policy)).where('id', '=', id).execute()
      await attach(db, policy)
      return policy
    },
    async remove(id) {
      const row = present(await withId(id), 'policy', id)
      const keys = db.selectFrom('keys').select('name').where('policy_id', '=', id).where('revoked_at', 'is', null)
      const names = (await keys.orderBy('name').execute()).map((key) => key.name)
      refuseInUse(`policy ${row.name}`, named('key', names))
      await db.updateTable('keys').set({ policy_id: null }).where('policy_id', '=', id).execute()
      await db.deleteFrom('policies').where('id', '=', id).execute()
    },
  }
}

export async function listPolicies(db: Database): Promise<Policy[]> {
  const rows = await db.selectFrom('policies').selectAll().orderBy('name').execute()
  const attached = await db.selectFrom('policy_attachments').selectAll().execute()
  const byPolicy = Map.groupBy(attached, (entry) => entry.policy_id)
  return rows.map((row) => toPolicy(row, byPolicy.get(row.id) ?? []))
}

async function attach(db: Database, policy: Policy): Promise<void> {
  await db.deleteFrom('policy_attachments').where('policy_id', '=', policy.id).execute()
  const rows = [...new Set(policy.attachedTo.ids)].map((target_id) => ({ policy_id: policy.id, target_id }))
  if (rows.length > 0) await db.insertInto('policy_attachments').values(rows).execute()
}

function toRow({ id, name, createdAt, attachedTo, ...rules }: Policy): PolicyRow {
  return { id, name, workspace: Number(attachedTo.workspace), rules_json: writeJson(rules), created_at: createdAt }
}

function toPolicy(row: PolicyRow, attached: readonly Attachment[]): Policy {
  const rules = readJson<Partial<PolicyRules>>(row.rules_json)
  const attachedTo = { workspace: row.workspace === 1, ids: attached.map((entry) => entry.target_id) }
  return { id: row.id, name: row.name, attachedTo, ...rules, createdAt: row.created_at }
}
