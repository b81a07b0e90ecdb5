import { alerts } from './alerts/alerts.ts'
import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { cluster } from './cluster.ts'
import { apply, diff, exportConfiguration } from './configuration.ts'
import { console } from './console.ts'
import { cost } from './cost.ts'
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
import { seal } from './seal.ts'
import { status } from './status.ts'
import { watch } from './watch.ts'

/** Every operation, once. An operation's name is its place here: `providers.add`. */
export const contract = {
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
}

export type Contract = typeof contract
