import { storeAccess } from './access.ts'
import type { AuditLine, Tables } from './api.ts'
import { tokensTable } from './api-tokens.ts'
import { appendAudit, auditTable } from './audit.ts'
import { projectOf } from './audit-project.ts'
import { bodiesTable } from './bodies.ts'
import { configurationTable } from './configuration.ts'
import type { Connection } from './connection.ts'
import { environmentsTable } from './environments.ts'
import { keysTable } from './keys.ts'
import { objectsTable } from './objects.ts'
import { operatorsTable } from './operators.ts'
import { forgetOwned, ownershipTable, refuseOwned } from './ownership.ts'
import { passkeysTable } from './passkeys.ts'
import { policiesTable } from './policies.ts'
import { projectsTable } from './projects.ts'
import { providersTable } from './providers.ts'
import { recordsTable } from './records.ts'
import { routesTable } from './routes.ts'
import type { Database } from './schema.ts'
import { sealTable } from './seal.ts'
import { sessionsTable } from './sessions.ts'
import { linksTable } from './sign-in-links.ts'
import { workspaceTable } from './workspace.ts'

const tables: { [Name in keyof Tables]: (db: Database) => Tables[Name] } = {
  workspace: workspaceTable,
  projects: projectsTable,
  environments: environmentsTable,
  providers: providersTable,
  routes: routesTable,
  keys: keysTable,
  policies: policiesTable,
  ownership: ownershipTable,
  configuration: configurationTable,
  audit: auditTable,
  objects: objectsTable,
  records: recordsTable,
  bodies: bodiesTable,
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
  const run = async (db: Database): Promise<unknown> => await methodOf(db, call)(...call.input)
  if (access === 'paged') return await run(connection.db)
  if (access === 'read') return await connection.read(run)
  return await connection.write(async (db) => {
    if (call.audit) await refuseOwned(db, call.audit)
    // Looked up before as well: what is removed belongs to no project any more.
    const project = call.audit === null ? null : await projectOf(db, call.audit)
    const output = await run(db)
    if (call.audit) {
      await appendAudit(db, call.audit, project)
      await forgetOwned(db, call.audit)
    }
    return output
  })
}

function accessOf(call: TableCall): string {
  const methods: Record<string, Record<string, string>> = storeAccess
  const known = Object.hasOwn(methods, call.table) ? methods[call.table] : undefined
  const access = known && Object.hasOwn(known, call.method) ? known[call.method] : undefined
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
