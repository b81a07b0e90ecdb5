import { join, resolve } from 'node:path'
import { packageExecutable } from '../package.ts'
import type { Order } from './command-line.ts'
import { prepareLitellm } from './litellm.ts'
import type { Machine } from './machine.ts'
import { startMock } from './mock.ts'
import { compile } from './native.ts'
import { startNginx, startTlsFront } from './nginx.ts'
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
  // From source, where no other is named: the same code, and every function has its file and line.
  if (order.form === 'profile')
    return order.executable === null ? bench : { ...bench, executable: resolve(order.executable) }
  const { starters } = bench
  // Not into dist: who measures a tree that is being worked on would leave that there.
  bench.executable = resolve(order.executable ?? (await packageExecutable(join(place, 'spgw-measured'))))
  starters.spgw = await prepareSpgw({ ...common, tls, name: 'spgw', command: [bench.executable] })
  if (order.beside !== null)
    starters.beside = await prepareSpgw({ ...common, tls, name: 'beside', command: [resolve(order.beside)] })
  if (machine.has.nginx) starters.nginx = () => startNginx(common, tls)
  if (order.form !== 'full') return bench
  starters.portkey = await preparePortkey(machine, mock, tls, place, 'portkey')
  starters['portkey-image'] = await preparePortkey(machine, mock, tls, place, 'portkey-image')
  if (machine.has.python3) starters.litellm = await prepareLitellm(machine, mock, place)
  return bench
}
