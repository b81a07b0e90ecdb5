import { type AnyContractRouter, isContractProcedure } from '@orpc/contract'
import { z } from 'zod'
import type { Contract } from './index.ts'

/** Every area by itself: a command that loaded them all would need half of its time for schemas that it does not ask. */
const areas: { [Area in keyof Contract]: () => Promise<Contract[Area]> } = {
  status: async () => (await import('./status.ts')).status,
  watch: async () => (await import('./watch.ts')).watch,
  workspace: async () => (await import('./projects/workspace.ts')).workspace,
  projects: async () => (await import('./projects/projects.ts')).projects,
  environments: async () => (await import('./projects/environments.ts')).environments,
  providers: async () => (await import('./providers/providers.ts')).providers,
  routes: async () => (await import('./routes/routes.ts')).routes,
  keys: async () => (await import('./keys/keys.ts')).keys,
  requests: async () => (await import('./requests/requests.ts')).requests,
  objects: async () => (await import('./objects.ts')).objects,
  policies: async () => (await import('./policies/policies.ts')).policies,
  prices: async () => (await import('./prices/prices.ts')).prices,
  cost: async () => (await import('./cost.ts')).cost,
  operators: async () => (await import('./operators/operators.ts')).operators,
  sessions: async () => (await import('./operators/sessions.ts')).sessions,
  tokens: async () => (await import('./operators/tokens.ts')).tokens,
  alerts: async () => (await import('./alerts/alerts.ts')).alerts,
  audit: async () => (await import('./audit.ts')).audit,
  diff: async () => (await import('./configuration.ts')).diff,
  apply: async () => (await import('./configuration.ts')).apply,
  export: async () => (await import('./configuration.ts')).exportConfiguration,
  backup: async () => (await import('./backup.ts')).backup,
  seal: async () => (await import('./seal.ts')).seal,
  cluster: async () => (await import('./cluster.ts')).cluster,
  console: async () => (await import('./console.ts')).console,
}

/** The schema of an operation's input, by the operation's name. */
export async function loadInput(name: string): Promise<z.ZodObject> {
  const [area = '', ...rest] = name.split('.')
  if (!isArea(area)) throw new TypeError(`there is no operation ${name}`)
  let part: AnyContractRouter | undefined = await areas[area]()
  for (const word of rest) part = part === undefined || isContractProcedure(part) ? undefined : part[word]
  const schema = isContractProcedure(part) ? part['~orpc'].inputSchema : undefined
  if (!(schema instanceof z.ZodObject)) throw new TypeError(`there is no operation ${name}`)
  return schema
}

function isArea(name: string): name is keyof Contract {
  return Object.hasOwn(areas, name)
}
