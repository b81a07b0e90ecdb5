import { alerts } from './alerts/alerts.ts'
import { audit } from './audit/audit.ts'
import { backup } from './backup.ts'
import { operations } from './base.ts'
import { cluster } from './cluster.ts'
import { apply, diff, exportConfiguration } from './configuration/operations.ts'
import { console } from './console.ts'
import { cost } from './cost/cost.ts'
import { keys } from './keys/keys.ts'
import { objects } from './objects.ts'
import { operators } from './operators/operators.ts'
import { sessions } from './operators/sessions.ts'
import { tokens } from './operators/tokens.ts'
import { policies } from './policies/policies.ts'
import { prices } from './prices/prices.ts'
import { environments } from './projects/environments.ts'
import { projects } from './projects/projects.ts'
import { workspace } from './projects/workspace.ts'
import { providers } from './providers/providers.ts'
import { requests } from './requests/requests.ts'
import { routes } from './routes/routes.ts'
import { seal } from './seal/seal.ts'
import { status } from './status.ts'
import { watch } from './watch.ts'

/** Every operation of the contract; one that is missing does not compile. */
export const router = operations.router({
  status,
  watch,
  workspace,
  projects,
  environments,
  providers,
  routes,
  keys,
  requests,
  objects,
  policies,
  prices,
  cost,
  operators,
  sessions,
  tokens,
  alerts,
  audit,
  diff,
  apply,
  export: exportConfiguration,
  backup,
  seal,
  cluster,
  console,
})
