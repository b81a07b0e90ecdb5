import { fillIn } from '../../src/admin/contract/fill-in.ts'
import type { Show } from '../../src/admin/contract/operation.ts'
import { describeMissing } from '../../src/admin/contract/show-reach.ts'
import { escapeControls, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import type { Io } from '../io.ts'
import type { GatewayClient, Operation } from '../operation.ts'

/** The secret alone on stdout, so that `KEY=$(spgw keys create --name ci)` works; what to do with it on stderr. */
export async function printOnce(
  { field, note, opens, without }: Extract<Show, { as: 'once' }>,
  { operation, output, gateway }: { operation: Operation; output: unknown; gateway: GatewayClient },
  io: Io,
): Promise<void> {
  const secret = valueAt(output, field)
  if (secret === null) return io.stderr.write(`${fillIn(without ?? noLink, output)}\n`)
  if (typeof secret !== 'string') throw new Error(`The answer holds no ${field}.`)
  await io.stdout.write(`${secret}\n`)
  await io.stderr.write(
    note === undefined ? await renderNote(output, gateway) : await fillNote(fillIn(note, output), gateway),
  )
  await io.stderr.write(describeGrace(output, io))
  const missing = describeMissing(operation.name, output)
  if (missing !== null) await io.stderr.write(`${escapeControls(missing)}\n`)
  if (opens !== true || !io.stdout.isTerminal) return
  const { openAddress } = await import('../open-address.ts')
  await openAddress(secret, io.environment)
}

const noLink = 'Done. No link was created: sign in with the password that was set.'

/** Of a rotation: until when applications may go on with the secret before. */
function describeGrace(output: unknown, io: Io): string {
  const ends = valueAt(output, 'grace_ends_at')
  if (ends === undefined) return ''
  if (typeof ends !== 'string') return 'The old secret no longer works.\n'
  const left = formatValue(ends, 'age', { now: io.now(), utc: false })
  return `The old secret works until ${ends} (${left}). A rotation with --grace 0s ends it at once.\n`
}

/** The console's own address where the note has a place for it. */
async function fillNote(note: string, gateway: GatewayClient): Promise<string> {
  const url = note.includes(consolePlace) ? await urlOf(gateway, 'console_url') : null
  return `${url === null ? note : note.replaceAll(consolePlace, url)}\n`
}

const consolePlace = '<console URL>'

async function renderNote(output: unknown, gateway: GatewayClient): Promise<string> {
  const project = valueAt(output, 'project')
  const environment = valueAt(output, 'environment')
  const scope =
    typeof project === 'string' && typeof environment === 'string'
      ? ` Project ${project}, environment ${environment}.`
      : ''
  if (scope !== '' && (await hasNoRoute(gateway, { project, environment })))
    return `Shown only once.${scope} No route is there yet, so it can use no model. Add one:\n  spgw routes add MODEL --provider NAME -p ${project} -e ${environment}\n`
  const url = await urlOf(gateway, 'gateway_url')
  if (url === null) return `Shown only once.${scope}\n`
  return `Shown only once.${scope} Try it:\n  curl ${url}/v1/models -H "Authorization: Bearer $KEY"\n`
}

async function hasNoRoute(gateway: GatewayClient, scope: Record<string, unknown>): Promise<boolean> {
  try {
    const routes = await gateway.call(['routes', 'list'], scope)
    return Array.isArray(routes) && routes.length === 0
  } catch {
    return false
  }
}

/** Only for the note: the key is made and printed already, so a failure here must not look like one of the command. */
async function urlOf(gateway: GatewayClient, field: 'gateway_url' | 'console_url'): Promise<string | null> {
  try {
    const status = await gateway.call(['status'], {})
    const url = valueAt(status, field)
    return typeof url === 'string' ? url : null
  } catch {
    return null
  }
}
