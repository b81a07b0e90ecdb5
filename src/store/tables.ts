import { ownValue } from '../core/own-value.ts'
import { alertsTable } from './alerts/alerts.ts'
import type { AuditLine, Tables } from './api.ts'
import { cacheTable } from './cache/cache.ts'
import { configurationTable } from './configuration/configuration.ts'
import { environmentsTable } from './configuration/environments.ts'
import { keysTable } from './configuration/keys.ts'
import { ownershipTable, refuseOwned } from './configuration/ownership.ts'
import { policiesTable } from './configuration/policies.ts'
import { pricesTable } from './configuration/prices.ts'
import { projectsTable } from './configuration/projects.ts'
import { providersTable } from './configuration/providers.ts'
import { routesTable } from './configuration/routes.ts'
import { sealTable } from './configuration/seal.ts'
import { workspaceTable } from './configuration/workspace.ts'
import { objectsTable } from './objects/objects.ts'
import { storeAccess } from './operators/access.ts'
import { tokensTable } from './operators/api-tokens.ts'
import { auditTable, withAudit } from './operators/audit.ts'
import { operatorsTable } from './operators/operators.ts'
import { passkeysTable } from './operators/passkeys.ts'
import { sessionsTable } from './operators/sessions.ts'
import { linksTable } from './operators/sign-in-links.ts'
import { bodiesTable } from './records/bodies.ts'
import { recordsTable } from './records/records.ts'
import { spendTable } from './records/spend.ts'
import type { Database } from './schema.ts'
import type { Connection } from './sqlite/connection.ts'
import { tracesTable } from './traces/traces.ts'

const tables: { [Name in keyof Tables]: (db: Database) => Tables[Name] } = {
  workspace: workspaceTable,
  projects: projectsTable,
  environments: environmentsTable,
  providers: providersTable,
  routes: routesTable,
  keys: keysTable,
  policies: policiesTable,
  prices: pricesTable,
  ownership: ownershipTable,
  configuration: configurationTable,
  audit: auditTable,
  objects: objectsTable,
  records: recordsTable,
  bodies: bodiesTable,
  spend: spendTable,
  alerts: alertsTable,
  traces: tracesTable,
  cache: cacheTable,
  seal: sealTable,
  operators: operatorsTable,
  sessions: sessionsTable,
  links: linksTable,
  passkeys: passkeysTable,
  tokens: tokensTable,
}

export interface TableCall {
  table: string
  method: string
  input: unknown[]
  /** Committed together with what the method writes; a method that only reads leaves no line. */
  audit: AuditLine | null
}

/** Runs one method of one table as its access says. Throws what the method throws. */
export async function callTable(connection: Connection, call: TableCall): Promise<unknown> {
  const access = accessOf(call)
  const run = (db: Database) => runMethod(db, call)
  if (access === 'paged') return await connection.readPaged(run)
  if (access === 'read') return await connection.read(run)
  return await connection.write((db) => runWrite(db, call))
}

/** The method alone, in the caller's transaction. */
export async function runMethod(db: Database, call: TableCall): Promise<unknown> {
  return await methodOf(db, call)(...call.input)
}

/** A method that writes, with its audit line, in the caller's transaction. */
export async function runWrite(db: Database, call: TableCall): Promise<unknown> {
  if (call.audit) await refuseOwned(db, call.audit)
  return await withAudit(db, call.audit, () => runMethod(db, call))
}

function accessOf(call: TableCall): string {
  const methods: Record<string, Record<string, string>> = storeAccess
  const known = ownValue(methods, call.table)
  const access = known && ownValue(known, call.method)
  if (access === undefined) throw new TypeError(`the store has no ${call.table}.${call.method}`)
  return access
}

type Methods = Record<string, (...input: unknown[]) => Promise<unknown>>

/** The call came as text from another thread; `accessOf` has vouched for both names. */
function methodOf(db: Database, call: TableCall): (...input: unknown[]) => Promise<unknown> {
  const table: object = tables[call.table as keyof Tables](db)
  const method = (table as Methods)[call.method]
  if (!method) throw new TypeError(`the store has no ${call.table}.${call.method}`)
  return method
}
