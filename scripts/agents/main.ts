import { join, resolve } from 'node:path'
import type { FormatName } from '../../src/core/format.ts'
import { packageExecutable } from '../package.ts'
import { readFlags } from '../read-flags.ts'
import { type Agent, agents } from './agents.ts'
import { install } from './install.ts'
import { type Outcome, runAgent } from './run.ts'
import { type Upstream, upstreams } from './upstreams.ts'

const help = `npm run agents [-- --on FORMAT] [--verbose] [--directory DIR] [NAME…]

Runs real clients in their current versions, with the settings that \`connect --write\` made, through the packaged gateway: a
question to the demo provider in their own format, and a file that models of other vendors edit with the client's tools.
Installs what is missing, which takes gigabytes and the network: so it is no part of \`npm test\`.

  NAME              only these: ${Object.keys(agents).join(', ')}
  --on FORMAT       only at models of this format; own: only the question in their own format
  --verbose         what each client printed, also where it passed
  --directory DIR   install there (.build/clients)
`

const { values, positionals } = readFlags(help, {
  options: { on: { type: 'string' }, verbose: { type: 'boolean' }, directory: { type: 'string' } },
  allowPositionals: true,
})
const directory = resolve(values.directory ?? '.build/clients')

/** OpenAI has responses itself: it is asked for chat by those that speak neither. */
function isForeign({ on }: Agent, format: FormatName, upstream: Upstream): boolean {
  if (upstream.format === format || on?.includes(upstream.format) === false) return false
  return format !== 'responses' || upstream.kind !== 'openai'
}

function report(what: string, { problems, losses, requests, reasoning, tookMs, output }: Outcome): void {
  const signed = reasoning === '' ? '' : `, reasoning ${reasoning}`
  const lines = [
    `${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${what}  ${(tookMs / 1000).toFixed(1)} s, ${requests} requests${signed}`,
    ...(losses.length === 0 ? [] : [`      lost: ${losses.join(', ')}`]),
    ...problems.map((problem) => `      ${problem}`),
    ...(values.verbose || problems.length > 0 ? [output.slice(-3000)] : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function runAll(name: string, agent: Agent): Promise<boolean> {
  const installed = await install(join(directory, name), agent.packages)
  let all = true
  for (const format of agent.formats) {
    const foreign = upstreams.filter((upstream) => isForeign(agent, format, upstream))
    for (const upstream of [null, ...foreign]) {
      if ((values.on ?? upstream?.format ?? 'own') !== (upstream?.format ?? 'own')) continue
      const outcome = await runAgent({ agent, installed, format, upstream })
      const to = upstream === null ? '(own format)' : `→ ${upstream.format} (${upstream.model})`
      report(`${name} ${installed.version}  ${format} ${to}`, outcome)
      all &&= outcome.problems.length === 0
    }
  }
  return all
}

const unknown = positionals.filter((name) => agents[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`No client is called ${unknown.join(' or ')}.\n\n${help}`)
  process.exit(2)
}
process.env.SPGW_TEST_EXECUTABLE ??= await packageExecutable()
let all = true
for (const [name, agent] of Object.entries(agents)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  // One that cannot be installed today says nothing about the others.
  const passed = await runAll(name, agent).catch((error: Error) => {
    process.stdout.write(`FAIL  ${name}: ${error.message}\n`)
    return false
  })
  all = passed && all
}
process.exitCode = all ? 0 : 1
