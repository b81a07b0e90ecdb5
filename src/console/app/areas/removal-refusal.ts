interface Named {
  name: string
}
interface UsingRoute {
  model: string
  project: string
  environment: string | null
  targets: readonly { provider: string }[]
  /** `PROVIDER[:MODEL]` */
  shadow: string | null
}
interface UsingEnvironment extends Named {
  project: string
  default_providers: Readonly<Record<string, string | null>>
}
interface UsingKey extends Named {
  project: string
  environment: string
  policy: string | null
  state: string
}
interface SeenOperator extends Named {
  state: string
  grants: readonly { project: string | null; role: string }[]
}

/** What may keep something else from being removed, as far as the reader may see it. */
export interface Users {
  routes: readonly UsingRoute[]
  environments: readonly UsingEnvironment[]
  keys: readonly UsingKey[]
  operators: readonly SeenOperator[]
}

/** As a target, or as the shadow. */
export function usesProvider({ targets, shadow }: Pick<UsingRoute, 'targets' | 'shadow'>, provider: string): boolean {
  return targets.some((target) => target.provider === provider) || shadow?.split(':', 1)[0] === provider
}

export function isDefaultOf({ default_providers }: UsingEnvironment, provider: string): boolean {
  return Object.values(default_providers).includes(provider)
}

/** A gateway without an owner could not be administered any more. */
export function isLastOwner(name: string, operators: readonly SeenOperator[]): boolean {
  const isOwner = ({ state, grants }: SeenOperator) =>
    state === 'active' && grants.some(({ project, role }) => project === null && role === 'owner')
  const owners = operators.filter(isOwner)
  return owners.length === 1 && owners[0]?.name === name
}

export const lastOwner = (name: string): string =>
  `${name} is the last owner, and a gateway must have one. Make somebody else an owner first.`

/**
 * Why the gateway would refuse the operation, said before anybody is asked to type a name; null: nothing is known that
 * would keep it.
 */
export function refusalOf(operation: string, input: Record<string, unknown>, users: Users): string | null {
  const name = String(input.name ?? '')
  const { routes, environments, keys, operators } = users
  const inUse = keys.filter(({ state }) => state !== 'revoked')
  switch (operation) {
    case 'providers.remove':
      return describeUsers(`The provider ${name}`, [
        ...routes.filter((route) => usesProvider(route, name)).map(nameRoute),
        ...environments
          .filter((environment) => isDefaultOf(environment, name))
          .map((one) => `the defaults of ${one.project}/${one.name}`),
      ])
    case 'policies.remove':
      return describeUsers(`The policy ${name}`, inUse.filter(({ policy }) => policy === name).map(nameKey))
    case 'projects.remove':
      return describeUsers(`The project ${name}`, [
        ...routes.filter(({ project }) => project === name).map(nameRoute),
        ...inUse.filter(({ project }) => project === name).map(nameKey),
      ])
    case 'environments.remove': {
      const isHere = (row: { project: string; environment: string | null }) =>
        row.project === input.project && row.environment === name
      return describeUsers(`The environment ${name}`, [
        ...routes.filter(isHere).map(nameRoute),
        ...inUse.filter(isHere).map(nameKey),
      ])
    }
    case 'operators.remove':
    case 'operators.disable':
      return isLastOwner(name, operators) ? lastOwner(name) : null
    default:
      return null
  }
}

const nameRoute = ({ model, project, environment }: UsingRoute): string =>
  `route ${model} (${project}/${environment ?? 'all'})`
const nameKey = ({ name, project, environment }: UsingKey): string => `key ${name} (${project}/${environment})`

const most = 8

function describeUsers(subject: string, users: readonly string[]): string | null {
  if (users.length === 0) return null
  const more = users.length > most ? ` and ${users.length - most} more` : ''
  return `${subject} cannot be removed while it is used by ${users.slice(0, most).join(', ')}${more}. Change or remove what uses it first.`
}
