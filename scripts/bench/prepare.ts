import { join, resolve } from 'node:path'
import { bundle } from '../bundle.ts'
import { packageExecutable } from '../package.ts'
import type { Order } from './command-line.ts'
import type { Machine } from './machine.ts'
import { startMock } from './mock.ts'
import { compile } from './native.ts'
import { startNginx, startTlsFront } from './nginx.ts'
import { findNode } from './other-node.ts'
import { preparePortkey } from './portkey.ts'
import { prepareSpgw } from './spgw.ts'
import { type Bench, directTarget } from './target.ts'

/** Everything that takes part, ready to be started. `place` outlives the run, `directory` does not. */
export async function prepare(order: Order, machine: Machine, place: string, directory: string): Promise<Bench> {
  const mock = await startMock(machine, directory)
  const common = { machine, mock, directory }
  const tls = machine.has.nginx && machine.has.openssl ? await startTlsFront(common) : null
  const bench: Bench = {
    ...common,
    tls,
    loadProgram: await compile(machine, directory, 'load'),
    direct: directTarget(mock),
    executable: '',
    starters: {},
    seconds: order.seconds,
    warmUpSeconds: order.warmUpSeconds,
  }
  // It is profiled from source.
  if (order.form === 'profile') return bench
  const { starters } = bench
  // Not into dist: who measures a tree that is being worked on would leave that there.
  bench.executable = resolve(order.executable ?? (await packageExecutable(join(place, 'spgw-measured'))))
  const commands = await chooseCommands(order, machine, place, directory, bench.executable)
  for (const [name, command] of commands) starters[name] = await prepareSpgw({ ...common, tls, name, command })
  if (machine.has.nginx) starters.nginx = () => startNginx(common, tls)
  if (order.form === 'full') {
    const node = order.peerNode === 'ours' ? process.execPath : await findNode(machine, order.peerNode, place)
    starters.portkey = await preparePortkey(machine, mock, tls, place, node)
  }
  return bench
}

/** The executable, and what was asked for beside it. Two Nodes are compared on the bundle, both of them. */
async function chooseCommands(
  { beside, node }: Order,
  machine: Machine,
  place: string,
  directory: string,
  executable: string,
): Promise<['spgw' | 'beside', string[]][]> {
  if (node === null) {
    const own: ['spgw', string[]] = ['spgw', [executable]]
    return beside === null ? [own] : [own, ['beside', [resolve(beside)]]]
  }
  const output = join(directory, 'bundle')
  await bundle(output)
  const main = join(output, 'main.js')
  return [
    ['spgw', [process.execPath, main]],
    ['beside', [await findNode(machine, node, place), main]],
  ]
}
