import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../bundle.ts'
import { packageExecutable } from '../package.ts'
import { endChildrenWithUs } from './children.ts'
import { writeDocument } from './document.ts'
import { listMissing, type Machine, readMachine } from './machine.ts'
import { measureRound } from './measure.ts'
import { type Mock, startMock } from './mock.ts'
import { startNginx, startTlsFront } from './nginx.ts'
import { parts } from './parts/index.ts'
import { preparePortkey } from './portkey.ts'
import { profile } from './profile.ts'
import { missesMust, renderAims, renderFigures } from './report.ts'
import { Results } from './results.ts'
import { prepareSpgw } from './spgw.ts'
import type { Bench } from './target.ts'

const place = join(import.meta.dirname, '../../.build/bench')

const usage = `npm run bench                 all targets, three rounds
npm run bench -- quick        the main parts without Portkey, one short round
npm run bench -- profile      the functions on which the gateway's threads spend their time
  --rounds N     rounds
  --part PATTERN only parts whose name matches: 'streams|latency'
  --node FILE    also the bundle, under that Node
  --write        put the result into docs/performance.md
`

const forms = { full: { rounds: 3, seconds: 4 }, quick: { rounds: 1, seconds: 2 }, profile: { rounds: 0, seconds: 6 } }
type Form = keyof typeof forms

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      part: { type: 'string' },
      node: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [form = 'full', ...more] = positionals as [Form?, ...string[]]
  if (values.help || !(form in forms) || more.length > 0) {
    process.stderr.write(usage)
    return values.help ? 0 : 2
  }
  endChildrenWithUs()
  const rounds = Number(values.rounds ?? forms[form].rounds)
  const machine = readMachine()
  for (const line of listMissing(machine)) process.stderr.write(`${line}\n`)
  await mkdir(place, { recursive: true })
  const directory = await mkdtemp(join(place, 'run-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const mock = await startMock(machine, directory)
  if (form === 'profile') return await profile({ machine, mock, directory, seconds: forms.profile.seconds })
  const bench = await prepare(machine, mock, directory, form, values.node)
  const chosen = parts.filter(({ name, fullOnly }) =>
    values.part === undefined ? form === 'full' || !fullOnly : new RegExp(values.part).test(name),
  )
  const results = new Results()
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
    await measureRound(bench, chosen, results, round)
  }
  return await conclude(results, machine, { form, rounds }, values.write)
}

async function prepare(machine: Machine, mock: Mock, directory: string, form: Form, node?: string): Promise<Bench> {
  const common = { machine, mock, directory }
  const tls = machine.has.nginx && machine.has.openssl ? await startTlsFront(common) : null
  const starters: Bench['starters'] = {
    spgw: await prepareSpgw({ ...common, tls, name: 'spgw', command: [await packageExecutable()] }),
  }
  if (node !== undefined) {
    const output = join(directory, 'bundle')
    await bundle(output)
    const command = [node, join(output, 'main.js')]
    starters['spgw-other-node'] = await prepareSpgw({ ...common, tls, name: 'spgw-other-node', command })
  }
  if (machine.has.nginx) starters.nginx = () => startNginx(common)
  if (form === 'full') starters.portkey = await preparePortkey(machine, mock, place)
  const direct = { name: 'direct' as const, port: mock.port, headers: {}, pid: 0, readyMs: 0, stop: async () => {} }
  return { ...common, tlsPort: tls?.port ?? null, direct, starters, seconds: forms[form].seconds }
}

async function conclude(
  results: Results,
  machine: Machine,
  run: { form: string; rounds: number },
  write: boolean,
): Promise<number> {
  const tables = [renderFigures(results), renderAims(results)]
  const title = `${new Date().toISOString().slice(0, 10)}, ${machine.description}, Node ${process.version.slice(1)}; ${run.form} form, medians of ${run.rounds} round(s)`
  process.stdout.write(`\n${title}\n\n${tables.join('\n\n')}\n`)
  for (const { target, part, reason } of results.troubles)
    process.stdout.write(`\nno figure for ${part} of ${target}: ${reason}\n`)
  await writeFile(join(place, 'last.json'), `${JSON.stringify({ title, ...run, ...results.toJSON() }, null, 2)}\n`)
  if (write) await writeDocument(title, tables)
  return results.troubles.length > 0 || missesMust(results) ? 1 : 0
}

process.exit(await main())
