import { describeMissing } from '../../src/admin/contract/show-reach.ts'
import { escapeControls, formatMoney, formatValue, groupDigits, valueAt } from '../../src/admin/contract/show-value.ts'
import type { GatewayClient, Operation } from '../operation.ts'
import { describeClusterWrite } from './cluster.ts'
import type { View } from './view.ts'

/** What a write came to: one line, and what is usually done next. */
export interface WriteSummary {
  line: string
  next: string | null
}

const pastTense: Readonly<Record<string, string>> = {
  add: 'Added',
  create: 'Created',
  edit: 'Changed',
  rename: 'Changed',
  remove: 'Removed',
  revoke: 'Revoked',
  activate: 'Activated',
  deactivate: 'Deactivated',
  enable: 'Enabled',
  disable: 'Disabled',
  rollback: 'Rolled back',
  grant: 'Raised the budgets of',
  set: 'Set',
}

const nouns: Readonly<Record<string, string>> = {
  workspace: 'workspace',
  providers: 'provider',
  'providers.credentials': 'credential of provider',
  routes: 'route',
  keys: 'key',
  policies: 'policy',
  projects: 'project',
  environments: 'environment',
  operators: 'operator',
  tokens: 'API token',
  alerts: 'alert',
  prices: 'price of',
}

/** null: the answer of this operation is more than that it was done. */
export async function describeWritten(
  { path, meta }: Pick<Operation, 'path' | 'meta'>,
  output: unknown,
  gateway: GatewayClient,
  view: View,
): Promise<WriteSummary | null> {
  const ofCluster = path[0] === 'cluster' ? describeClusterWrite(path.join('.'), output) : null
  if (ofCluster !== null) return { line: writeDone(ofCluster.text, view), next: ofCluster.next }
  const operation = path.join('.')
  if (operation === 'sessions.revoke') {
    const ended = Number(valueAt(output, 'revoked'))
    const line = writeDone(`Ended ${groupDigits(ended)} ${ended === 1 ? 'session' : 'sessions'}`, view)
    return { line, next: describeMissing(operation, output) }
  }
  const name = nameOf(output)
  const done = sayWritten({ path, meta }, name, output)
  if (done === null || name === null) return null
  const facts = await factsOf(operation, output, gateway, view).catch(() => null)
  return {
    line: writeDone(`${done}${facts === null ? '' : `: ${facts}`}`, view),
    next:
      describeMissing(operation, output) ??
      nextStep(operation, name, output) ??
      (await nextOf(operation, name, output, gateway)),
  }
}

/** `Added provider openai`; null: no such words fit the operation. */
export function sayWritten(
  { path, meta }: Pick<Operation, 'path' | 'meta'>,
  name: string | null,
  output: unknown,
): string | null {
  const verb = pastTense[path.at(-1) ?? '']
  const noun = nouns[path.slice(0, -1).join('.')]
  if (meta.effect === 'read' || verb === undefined || noun === undefined || name === null) return null
  const where = scopeOf(output)
  return `${verb} ${noun} ${name}${where === '' ? '' : ` in ${where}`}`
}

function writeDone(text: string, view: View): string {
  return `${view.paint('good', '✓')} ${escapeControls(text)}`
}

function nameOf(output: unknown): string | null {
  const name = ['name', 'model', 'provider']
    .map((field) => valueAt(output, field))
    .find((value) => typeof value === 'string')
  return typeof name === 'string' ? name : null
}

/** `default/production`; only what has one of both. */
function scopeOf(output: unknown): string {
  const project = valueAt(output, 'project')
  const environment = valueAt(output, 'environment')
  if (typeof project !== 'string') return ''
  return typeof environment === 'string' ? `${project}/${environment}` : project
}

/** What the change means: asked of the gateway where the answer does not say it. */
async function factsOf(operation: string, output: unknown, gateway: GatewayClient, view: View): Promise<string | null> {
  switch (operation) {
    case 'keys.revoke':
    case 'keys.remove':
      return describeUse(valueAt(output, 'id'), gateway)
    case 'providers.add':
    case 'providers.edit':
    case 'providers.activate': {
      const reason = valueAt(output, 'state_reason')
      return `${valueAt(output, 'state')}${typeof reason === 'string' ? `, ${reason}` : ''}`
    }
    case 'providers.deactivate':
      return describeLoss(String(valueAt(output, 'name')), gateway)
    case 'policies.grant':
      return describeGrant(valueAt(output, 'grants'), view)
    case 'routes.add':
    case 'routes.edit':
      return formatValue(valueAt(output, 'targets'), 'targets', view)
    default:
      return null
  }
}

/** What was granted last. */
function describeGrant(grants: unknown, view: View): string | null {
  const grant: unknown = Array.isArray(grants) ? grants.at(-1) : null
  const [usd, until] = [valueAt(grant, 'usd'), valueAt(grant, 'until')]
  return typeof usd === 'number' ? `${formatMoney(usd)} more, until ${formatValue(until, 'time', view)}` : null
}

async function describeUse(key: unknown, gateway: GatewayClient): Promise<string> {
  const [sum] = (await gateway.call(['requests', 'stats'], { key, since: '24h' })) as { requests: number }[]
  if (sum === undefined || sum.requests === 0) return 'no request used it in the last day'
  return `${groupDigits(sum.requests)} ${sum.requests === 1 ? 'request' : 'requests'} in the last day used it`
}

interface RouteTargets {
  model: string
  project: string
  environment: string | null
  enabled: boolean
  targets: { provider: string }[]
}

/** `smart in default/production loses its first target`. */
async function describeLoss(provider: string, gateway: GatewayClient): Promise<string> {
  const routes = (await gateway.call(['routes', 'list'], { all: true })) as RouteTargets[]
  const losing = routes.filter(
    ({ enabled, targets }) => enabled && targets.some((target) => target.provider === provider),
  )
  if (losing.length === 0) return 'no route uses it'
  const losses = losing.slice(0, 5).map(({ model, project, environment, targets }) => {
    const route = `${model} in ${environment === null ? `all of ${project}` : `${project}/${environment}`}`
    if (targets.every((target) => target.provider === provider)) return `${route} has no other target`
    return `${route} loses ${targets[0]?.provider === provider ? 'its first target' : 'a fallback'}`
  })
  return losses.join(', ') + (losing.length > 5 ? `, and ${losing.length - 5} more routes` : '')
}

function nextStep(operation: string, name: string, output: unknown): string | null {
  const [project, environment] = [valueAt(output, 'project'), valueAt(output, 'environment')]
  const scope = [
    typeof project === 'string' && project !== 'default' ? ` -p ${project}` : '',
    typeof environment === 'string' && environment !== 'production' ? ` -e ${environment}` : '',
  ].join('')
  const steps: Readonly<Record<string, string | null>> = {
    'providers.add': `Next, a route to it: spgw routes add MODEL --provider ${name}`,
    'providers.deactivate': `To undo: spgw providers activate ${name}`,
    'routes.add': `Next, try it: spgw routes test '${name}'${scope}`,
    'routes.disable': `To undo: spgw routes enable '${name}'${scope}`,
    'policies.add': isAttached(output)
      ? null
      : `It applies to nothing yet. Next: spgw policies edit ${name} --attach workspace|project:P|key:NAME`,
    'prices.set': 'Earlier requests keep their cost. To change it: spgw cost recompute --since 30d',
    'policies.grant': `To end it now: spgw policies edit ${name} --clear grants`,
    'projects.add': `Next, an environment in it: spgw environments add production -p ${name}`,
    'environments.add': `Next, a key in it: spgw keys create --name NAME${scope} -e ${name}`,
    'keys.revoke': `It stays listed. To remove it: spgw keys remove ${name}${scope}`,
  }
  return steps[operation] ?? null
}

/** Where only the gateway knows what is next. */
async function nextOf(
  operation: string,
  name: string,
  output: unknown,
  gateway: GatewayClient,
): Promise<string | null> {
  if (operation !== 'policies.add') return null
  const isBudget = hasBudget(output)
  if (!isBudget && !hasAmount(output, ['rpm', 'tpm', 'concurrency'])) return null
  const hint = isBudget && !(await isReported(gateway)) ? alertHint : ''
  return `To see what is used of it: spgw policies usage ${name}${hint}`
}

const alertHint = '. To be told at 50, 80 and 100%: spgw alerts add NAME --url URL --on budget'

/** Whether an alert tells somebody of budgets. */
async function isReported(gateway: GatewayClient): Promise<boolean> {
  return reportsBudgets(await gateway.call(['alerts', 'list'], {}).catch(() => []))
}

export function reportsBudgets(alerts: unknown): boolean {
  return (
    Array.isArray(alerts) &&
    alerts.some((alert) => valueAt(alert, 'active') === true && [valueAt(alert, 'on')].flat().includes('budget'))
  )
}

export function hasBudget(policy: unknown): boolean {
  return hasAmount(policy, ['budget_usd_day', 'budget_usd_month', 'budget_tokens_day', 'budget_tokens_month'])
}

function hasAmount(policy: unknown, fields: readonly string[]): boolean {
  return fields.some((field) => typeof valueAt(policy, field) === 'number')
}

/** Whether a policy applies to anything. */
function isAttached(policy: unknown): boolean {
  const places = valueAt(policy, 'attached_to')
  return Array.isArray(places) && places.length > 0
}
