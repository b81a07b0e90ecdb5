import type { Show } from '../../src/admin/contract/operation.ts'
import { valueAt } from '../../src/admin/contract/show-value.ts'
import type { Io } from '../io.ts'
import type { Gateway } from '../operation.ts'

/** The secret alone on stdout, so that `KEY=$(spgw keys create --name ci)` works; what to do with it on stderr. */
export async function printOnce(
  { field, note, opens }: Extract<Show, { as: 'once' }>,
  output: unknown,
  gateway: Gateway,
  io: Io,
): Promise<void> {
  const secret = valueAt(output, field)
  if (secret === null) return io.stderr.write('Done. There is no link: the password that was given is the way in.\n')
  if (typeof secret !== 'string') throw new Error(`The answer holds no ${field}.`)
  await io.stdout.write(`${secret}\n`)
  await io.stderr.write(note === undefined ? await renderNote(output, gateway) : `${note}\n`)
  if (opens !== true || !io.stdout.isTerminal) return
  const { openAddress } = await import('../open-address.ts')
  await openAddress(secret, io.environment)
}

async function renderNote(output: unknown, gateway: Gateway): Promise<string> {
  const project = valueAt(output, 'project')
  const environment = valueAt(output, 'environment')
  const scope =
    typeof project === 'string' && typeof environment === 'string'
      ? ` Project ${project}, environment ${environment}.`
      : ''
  const url = await gatewayUrl(gateway)
  if (url === null) return `Shown once.${scope}\n`
  return `Shown once.${scope} Try it:\n  curl ${url}/v1/models -H "Authorization: Bearer $KEY"\n`
}

/** Only for the note: the key is made and printed already, so a failure here must not look like one of the command. */
async function gatewayUrl(gateway: Gateway): Promise<string | null> {
  try {
    const status = await gateway.call(['status'], {})
    const url = valueAt(status, 'gateway_url')
    return typeof url === 'string' ? url : null
  } catch {
    return null
  }
}
