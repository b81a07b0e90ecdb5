import { valueAt } from '../src/admin/contract/show-value.ts'
import { CommandFault, usageFault } from './fault.ts'
import type { Io } from './io.ts'
import { openAddress } from './open-address.ts'
import type { GatewayClient, Operation } from './operation.ts'

/** `--web`: the console's page of what a command shows, printed, and opened where somebody sits at a screen. */
export async function openPage(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  gateway: GatewayClient,
  io: Io,
): Promise<void> {
  if (operation.meta.effect !== 'read') throw usageFault('--web is for commands that show something.', 'Remove --web.')
  const url = valueAt(await gateway.call(['status'], {}), 'console_url')
  if (typeof url !== 'string') {
    throw new CommandFault('The gateway has no console.', 'Set console.listen and start it again.')
  }
  const address = new URL(pageOf(operation, await withKeyId(operation, input, gateway)), url).href
  await io.stdout.write(`${address}\n`)
  if (io.stdout.isTerminal) await openAddress(address, io.environment)
}

/** A page knows a key by its ID or name. What is pasted may be the whole key, which has no place in an address. */
async function withKeyId(
  { path: [area], meta }: Operation,
  input: Readonly<Record<string, unknown>>,
  gateway: GatewayClient,
): Promise<Readonly<Record<string, unknown>>> {
  const { key, project, environment } = input
  if (area !== 'keys' || meta.positional?.[0] !== 'key' || typeof key !== 'string') return input
  const scope = { ...(project === undefined ? {} : { project }), ...(environment === undefined ? {} : { environment }) }
  return { ...input, key: valueAt(await gateway.call(['keys', 'show'], { key, ...scope }), 'id') }
}

/** The areas with pages of their own; all other operations have one each below the settings. */
const pages: Readonly<Record<string, string>> = {
  requests: '/requests',
  providers: '/providers',
  routes: '/routing',
  keys: '/keys',
  status: '/',
  watch: '/',
}

/** The page of what is named, or of the list that it is in. */
export function pageOf({ name, path, meta }: Operation, input: Readonly<Record<string, unknown>>): string {
  const page = pages[path[0] ?? '']
  if (page === undefined) return `/settings/operations/${name}`
  const subject = input[meta.positional?.[0] ?? '']
  return typeof subject === 'string' ? `${page}/${encodeURIComponent(subject)}` : page
}
