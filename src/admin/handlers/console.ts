import { isOwner, mintLink } from '../../sign-in/links.ts'
import type { Operator } from '../../store/operators/operator-tables.ts'
import { audited } from './audited.ts'
import { operations } from './base.ts'
import type { AdminContext } from './context.ts'
import { invalid, notFound, refused } from './fault.ts'

export const console = {
  link: operations.console.link.handler(({ context, input }) => makeLink(context, input.operator)),
  open: operations.console.open.handler(({ context, input }) => makeLink(context, input.operator)),
}

async function makeLink(context: AdminContext, named: string | undefined) {
  const { consoleUrl } = context.runtime
  if (consoleUrl === null) throw refused('This gateway has no console.', 'Start it with spgw serve.')
  const operator = named === undefined ? await findOnlyOwner(context) : await find(context, named)
  const name = operator?.name ?? null
  const tables = audited(context, {
    operation: 'console.link',
    resource: { kind: 'operator', id: operator?.id ?? '', name: name ?? 'owner' },
    before: null,
    after: { operator: name },
  })
  const { path, expiresAt } = await mintLink(tables, operator?.id ?? null)
  return { url: consoleUrl + path, operator: name, expires_at: expiresAt }
}

async function find({ store }: AdminContext, nameOrId: string): Promise<Operator> {
  const operator = await store.operators.find(nameOrId)
  if (operator === null) throw notFound('operator', nameOrId, 'List them: spgw operators list')
  if (operator.state === 'active') return operator
  throw refused(`The operator ${operator.name} is disabled.`, `Enable it first: spgw operators enable ${operator.name}`)
}

/** null: there is no operator at all. */
async function findOnlyOwner({ store }: AdminContext): Promise<Operator | null> {
  const operators = await store.operators.list()
  if (operators.length === 0) return null
  const owners = operators.filter(isOwner)
  const [owner] = owners
  if (owner !== undefined && owners.length === 1) return owner
  const names = (owners.length === 0 ? operators : owners).map(({ name }) => name).join(', ')
  const hint = `Name the operator: spgw console link NAME, one of ${names}`
  if (owners.length > 0) throw invalid('The operator is missing.', hint)
  throw invalid('No active operator is an owner.', `Add one: spgw operators add NAME --role owner. ${hint}`)
}
