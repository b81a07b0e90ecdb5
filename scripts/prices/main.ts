import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readLitellm } from '../../src/admin/handlers/prices/read-litellm.ts'
import type { ModelPrice } from '../../src/core/cost/model-price.ts'
import { identity } from '../../src/policy/prices/find-price.ts'
import { listPrices } from '../../src/policy/prices/list-prices.ts'
import { readFlags } from '../read-flags.ts'
import { compareWithGenaiPrices, differencesPage } from './compare.ts'

const help = `npm run prices -- FILE YYYY-MM-DD
npm run prices -- --check MODULE

Writes the price table that ships (src/policy/prices/table.json) from LiteLLM's price file.

  FILE YYYY-MM-DD   the file, which LiteLLM's Python wheel contains as litellm/model_prices_and_context_window_backup.json
                    (MIT), and the day on which it was published: the version that records show
  --check MODULE    write docs/price-check.md instead: how the table differs from the other maintained source, which is
                    package/dist/index.js after \`npm pack @pydantic/genai-prices\` outside of this repository
`
const root = join(import.meta.dirname, '../..')
const { values, positionals } = readFlags(help, { options: { check: { type: 'string' } }, allowPositionals: true })
const [file, date = ''] = positionals
if (values.check !== undefined) await checkTable(values.check)
else if (file !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(date)) writeTable(file, date)
else {
  process.stderr.write(help)
  process.exit(2)
}

function writeTable(file: string, version: string): void {
  const prices = readLitellm(JSON.parse(readFileSync(file, 'utf8')), version)
  const rows = prices.sort((a, b) => identity(a).localeCompare(identity(b), 'en')).map(withoutNulls)
  const lines = rows.map((row) => JSON.stringify(row)).join(',\n')
  const target = join(root, 'src/policy/prices/table.json')
  writeFileSync(target, `{"version":"${version}","prices":[\n${lines}\n]}\n`)
  process.stdout.write(`${rows.length} prices of ${version} in ${target}\n`)
}

/** The table says only what is known, so that a difference between two of them can be read. */
function withoutNulls({ source: _source, version: _version, ...price }: ModelPrice): Partial<ModelPrice> {
  const { model, vendor, ...rest } = price
  return Object.fromEntries(Object.entries({ model, vendor, ...rest }).filter(([, value]) => value !== null))
}

async function checkTable(module: string): Promise<void> {
  const prices = await listPrices({ table: async () => null, list: async () => [] }, [])
  const version = prices[0]?.version ?? ''
  const about = JSON.parse(readFileSync(join(dirname(module), '../package.json'), 'utf8')) as Record<string, string>
  const found = await compareWithGenaiPrices(prices, module, version)
  const target = join(root, 'docs/price-check.md')
  writeFileSync(target, differencesPage(found, version, `\`${about.name}\` ${about.version}`))
  process.stdout.write(`${found.differences.length} differences in ${found.compared} models, listed in ${target}\n`)
}
