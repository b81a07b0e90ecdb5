import { inSlices } from '../../core/threads/slices.ts'
import { alertsTable } from '../alerts/alerts.ts'
import type { ConfigurationWrite, StoredConfiguration, Tables } from '../api.ts'
import { withAudit } from '../operators/audit.ts'
import type { Database } from '../schema.ts'
import { StoreMoved } from '../store-error.ts'
import { environmentsTable } from './environments.ts'
import { keysTable } from './keys.ts'
import { listOwned, releaseOwned, setOwned } from './ownership.ts'
import { policiesTable } from './policies.ts'
import { projectsTable } from './projects.ts'
import { providersTable } from './providers.ts'
import { routesTable } from './routes.ts'
import { readSnapshot } from './snapshot-read.ts'

/** What a configuration file describes, read and written as one. */
export function configurationTable(db: Database): Tables['configuration'] {
  return {
    async read(): Promise<StoredConfiguration> {
      const alerts = await alertsTable(db).list()
      return { stored: await readSnapshot(db, 0), alerts, owned: await listOwned(db), head: await auditHead(db) }
    },
    async write({ head, steps, own, release }: ConfigurationWrite): Promise<void> {
      if ((await auditHead(db)) !== head) throw new StoreMoved('the configuration was changed in the meantime')
      const tables = openTables(db)
      // In slices: thousands of steps take seconds; other writers wait for the database meanwhile, but nobody waits for
      // the thread.
      await inSlices(steps, async ({ table, method, input, audit }) => {
        const methods: object = tables[table]
        const run = (methods as Record<string, (...input: unknown[]) => Promise<unknown>>)[method]
        if (run !== undefined) await withAudit(db, audit, () => run(...input))
      })
      await releaseOwned(db, release)
      await setOwned(db, own)
    },
  }
}

function openTables(db: Database) {
  return {
    projects: projectsTable(db),
    environments: environmentsTable(db),
    providers: providersTable(db),
    policies: policiesTable(db),
    keys: keysTable(db),
    routes: routesTable(db),
    alerts: alertsTable(db),
  }
}

/** Every change of the configuration leaves an audit line: without a new line nothing has changed. */
async function auditHead(db: Database): Promise<string | null> {
  const last = await db.selectFrom('audit').select('id').orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  return last?.id ?? null
}
