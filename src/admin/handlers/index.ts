import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { operations } from './base.ts'
import { apply, diff, exportConfiguration } from './configuration/operations.ts'
import { console } from './console.ts'
import { environments } from './environments.ts'
import { keys } from './keys.ts'
import { objects } from './objects.ts'
import { operators } from './operators.ts'
import { policies } from './policies.ts'
import { projects } from './projects.ts'
import { providers } from './providers.ts'
import { requests } from './requests.ts'
import { routes } from './routes.ts'
import { seal } from './seal.ts'
import { sessions } from './sessions.ts'
import { status } from './status.ts'
import { tokens } from './tokens.ts'
import { watch } from './watch.ts'
import { workspace } from './workspace.ts'

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
  operators,
  sessions,
  tokens,
  audit,
  diff,
  apply,
  export: exportConfiguration,
  backup,
  seal,
  console,
})
