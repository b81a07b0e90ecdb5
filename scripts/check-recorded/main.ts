import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { readFlags } from '../read-flags.ts'
import { type Exchange, readExchanges } from './cassettes.ts'
import { type Replayed, replay } from './replay.ts'
import { TranslationCheck } from './translated.ts'
import { findNative } from './vendors.ts'

/** Public archives with recorded traffic of real providers (MIT). They are read and never become part of this project. */
const archives = ['langchain-anthropic==1.7.10', 'langchain-openai==1.7.4']

const help = `npm run check:recorded [-- FOLDER…]

Reads recorded exchanges of real providers as the gateway would, puts each into the other formats, and lists what went wrong.
scripts/check-recorded/README.md says what that means.

  FOLDER   with VCR cassettes (*.yaml, *.yaml.gz); without one, public archives are downloaded with pip:
           ${archives.join(', ')}
`

interface Counts {
  whole: number
  stream: number
  error: number
  reported: number
  estimated: number
  none: number
  wrong: number
}

const byVendor = new Map<string, Counts>()
const unserved = new Map<string, number>()
const translation = new TranslationCheck()
let foreign = 0

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function count(vendor: string, { form, usage, wrong }: Replayed): void {
  const counts = byVendor.get(vendor) ?? {
    ...{ whole: 0, stream: 0, error: 0, reported: 0, estimated: 0, none: 0, wrong: 0 },
  }
  byVendor.set(vendor, counts)
  counts[form]++
  if (form !== 'error') counts[usage]++
  if (wrong.length > 0) counts.wrong++
}

async function check(exchange: Exchange): Promise<void> {
  const { call, known } = findNative(exchange.method, exchange.url)
  if (call === null) {
    if (!known) foreign++
    else {
      const path = `${exchange.method} ${exchange.url.host}${exchange.url.pathname}`
      unserved.set(path, (unserved.get(path) ?? 0) + 1)
    }
    return
  }
  const replayed = attempt(() => replay(call, exchange))
  count(call.vendor, replayed)
  const wrong = [...replayed.wrong, ...(await translation.take(exchange))]
  for (const words of wrong) print(`${exchange.file}: ${exchange.method} ${exchange.url.pathname}: ${words}`)
}

function attempt(run: () => Replayed): Replayed {
  try {
    return run()
  } catch (error) {
    return { form: 'error', usage: 'none', wrong: [`threw ${error instanceof Error ? error.stack : String(error)}`] }
  }
}

/** With pip, which unpacks no source archive by itself. */
function download(folder: string): void {
  for (const archive of archives) {
    const name = archive.split('=')[0] ?? archive
    execFileSync('pip', ['download', '--quiet', '--no-deps', '--no-binary', name, '--dest', folder, archive], {
      stdio: 'inherit',
    })
  }
  for (const file of fs.readdirSync(folder)) execFileSync('tar', ['xzf', file], { cwd: folder })
}

const { positionals: given } = readFlags(help, { allowPositionals: true })
const temporary = given.length === 0 ? fs.mkdtempSync(path.join(os.tmpdir(), 'spgw-recorded-')) : null
try {
  if (temporary !== null) download(temporary)
  for (const folder of temporary === null ? given : [temporary])
    for (const exchange of readExchanges(folder)) await check(exchange)
} finally {
  if (temporary !== null) fs.rmSync(temporary, { recursive: true, force: true })
}

const columns = ['whole', 'stream', 'error', 'reported', 'estimated', 'none', 'wrong'] as const
const line = (cells: readonly (string | number)[]) =>
  cells
    .map((cell) => String(cell).padEnd(16))
    .join('')
    .trimEnd()
print(line(['', ...columns]))
const vendors = [...byVendor].toSorted(([one], [other]) => (one < other ? -1 : 1))
for (const [vendor, counts] of vendors) print(line([vendor, ...columns.map((column) => counts[column])]))
for (const [call, times] of unserved) print(`no endpoint: ${call} (${times})`)
const translated = ['requests', 'refused', 'answers', 'streams', 'wrong'] as const
print(`\n${' '.repeat(24)}${line(translated)}`)
for (const [pair, counts] of translation.counts)
  print(`${pair.padEnd(24)}${line(translated.map((column) => counts[column]))}`)
for (const [member, times] of translation.unknown) print(`no row in the table of losses: ${member} (${times})`)
const sum = vendors.reduce((all, [, { whole, stream, error }]) => all + whole + stream + error, 0)
const misread = vendors.reduce((all, [, counts]) => all + counts.wrong, 0)
const mistranslated = [...translation.counts.values()].reduce((all, counts) => all + counts.wrong, 0)
const wrong = misread + mistranslated
print(
  `${sum} exchanges, ${misread} read wrong, ${mistranslated} translated wrong; ${foreign} with hosts that no lane speaks to natively`,
)
process.exitCode = wrong > 0 || sum === 0 ? 1 : 0
