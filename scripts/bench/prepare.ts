import { join, resolve } from 'node:path'
import { bundle } from '../bundle.ts'
import { packageExecutable } from '../package.ts'
import type { Order } from './command-line.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import { startNginx, startTlsFront } from './nginx.ts'
import { preparePortkey } from './portkey.ts'
import { prepareSpgw } from './spgw.ts'
import type { Bench } from './target.ts'

/** Everything that takes part, ready to be started. `place` outlives the run, `directory` does not. */
export async function prepare(
  order: Order,
  machine: Machine,
  mock: Mock,
  place: string,
  directory: string,
): Promise<Bench> {
  const common = { machine, mock, directory }
  const tls = machine.has.nginx && machine.has.openssl ? await startTlsFront(common) : null
  const executable = resolve(order.executable ?? (await packageExecutable()))
  const starters: Bench['starters'] = {
    spgw: await prepareSpgw({ ...common, tls, name: 'spgw', command: [executable] }),
  }
  const beside = await commandBeside(order, directory)
  if (beside !== null) starters.beside = await prepareSpgw({ ...common, tls, name: 'beside', command: beside })
  if (machine.has.nginx) starters.nginx = () => startNginx(common)
  if (order.form === 'full') starters.portkey = await preparePortkey(machine, mock, place)
  const direct = { name: 'direct' as const, port: mock.port, headers: {}, pid: 0, readyMs: 0, stop: async () => {} }
  return { ...common, tlsPort: tls?.port ?? null, direct, starters, seconds: order.seconds }
}

async function commandBeside({ beside, node }: Order, directory: string): Promise<string[] | null> {
  if (beside !== null) return [resolve(beside)]
  if (node === null) return null
  const output = join(directory, 'bundle')
  await bundle(output)
  return [resolve(node), join(output, 'main.js')]
}
