import { rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { measureBodies } from './bodies.ts'
import { endChildrenWithUs } from './children.ts'
import { type Order, readOrder } from './command-line.ts'
import { measureCpu } from './cpu.ts'
import { writeDocument } from './document.ts'
import { continueFrom, hashFile, keep } from './last.ts'
import { listMissing, readMachine } from './machine.ts'
import { measureRound } from './measure.ts'
import { measureNodes } from './nodes.ts'
import { parts } from './parts/index.ts'
import { peerNode } from './portkey.ts'
import { prepare } from './prepare.ts'
import { profile } from './profile.ts'
import { missesMust, renderAims, renderFigures } from './report.ts'
import { type Circumstances, Results } from './results.ts'
import { measureSockets } from './sockets.ts'
import type { Bench } from './target.ts'

const place = join(import.meta.dirname, '../../.build/bench')
const last = join(place, 'last.json')

async function main(): Promise<number> {
  const order = readOrder()
  endChildrenWithUs()
  const machine = readMachine()
  for (const line of listMissing(machine)) process.stderr.write(`${line}\n`)
  await mkdir(place, { recursive: true })
  const directory = await mkdtemp(join(place, 'run-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  if (order.form === 'bodies' || order.form === 'sockets' || order.form === 'nodes') {
    const measureThem = { bodies: measureBodies, sockets: measureSockets, nodes: measureNodes }[order.form]
    process.stdout.write(`\n${machine.description}\n\n${await measureThem(order, machine, place, directory)}\n`)
    return 0
  }
  const bench = await prepare(order, machine, place, directory)
  if (order.form === 'profile') return await profile(bench, order.loads)
  if (order.form === 'cpu') {
    for (const name of order.loads) process.stdout.write(`\n${await measureCpu(bench, name, order.rounds)}\n`)
    return 0
  }
  return await measure(bench, order)
}

async function measure(bench: Bench, order: Order): Promise<number> {
  const circumstances: Circumstances = {
    machine: bench.machine.description,
    node: process.version.slice(1),
    peerNode,
    executable: await hashFile(bench.executable),
  }
  const results = order.continues ? await continueFrom(last, circumstances) : new Results()
  const before = results.troubles.length
  const chosen = parts.filter(({ name, fullOnly }) => order.part?.test(name) ?? (order.form === 'full' || !fullOnly))
  for (let round = 0; round < order.rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${order.rounds}\n`)
    await measureRound(bench, chosen, results)
    // After each round, so that a run which is broken off can be continued.
    await keep(last, results, circumstances)
  }
  const title = describe(results, circumstances, order)
  const tables = [renderFigures(results), renderAims(results)]
  process.stdout.write(`\n${title}\n\n${tables.join('\n\n')}\n`)
  for (const { target, part, reason } of results.troubles.slice(before))
    process.stdout.write(`\nno figure for ${part} of ${target}: ${reason}\n`)
  if (order.write) await writeDocument('bench', title, tables)
  return results.troubles.length > before || missesMust(results) ? 1 : 0
}

function describe(results: Results, { machine, node, peerNode: peer }: Circumstances, { form, beside }: Order): string {
  const [fewest, most] = results.rounds
  const rounds = fewest === most ? `${most}` : `${fewest} to ${most}`
  const date = new Date().toISOString().slice(0, 10)
  const what = beside === null ? '' : `; beside: ${beside}`
  return `${date}, ${machine}, Node ${node}${peer === node ? '' : ` (portkey-image: ${peer})`}; ${form} form, medians of ${rounds} round(s)${what}`
}

process.exit(await main())
