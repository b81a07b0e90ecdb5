import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelPrice } from '../../src/core/model-price.ts'
import { identity } from '../../src/policy/prices/find-price.ts'
import { type LitellmEntry, readLitellmEntry } from './read-litellm.ts'

/**
 * Writes the price table that ships (`src/policy/prices/table.json`) from LiteLLM's price file, which its Python wheel
 * contains as `litellm/model_prices_and_context_window_backup.json` (MIT):
 *
 *     node scripts/prices/main.ts FILE DATE
 *
 * DATE (YYYY-MM-DD) is the day on which the file was published: the version that records show.
 */
const [file, version] = process.argv.slice(2)
if (file === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(version ?? '')) {
  process.stderr.write('Usage: node scripts/prices/main.ts FILE YYYY-MM-DD\n')
  process.exit(2)
}

const entries = JSON.parse(readFileSync(file, 'utf8')) as Record<string, LitellmEntry>
const prices = new Map<string, ModelPrice>()
for (const [key, entry] of Object.entries(entries)) {
  const price = readLitellmEntry(key, entry, version ?? '')
  if (price !== null && !prices.has(identity(price))) prices.set(identity(price), price)
}

const rows = [...prices.values()].sort((a, b) => identity(a).localeCompare(identity(b), 'en')).map(withoutNulls)
const lines = rows.map((row) => JSON.stringify(row)).join(',\n')
const target = join(import.meta.dirname, '../../src/policy/prices/table.json')
writeFileSync(target, `{"version":"${version}","prices":[\n${lines}\n]}\n`)
process.stdout.write(`${rows.length} prices of ${version} in ${target}\n`)

/** The table says only what is known, so that a difference between two of them can be read. */
function withoutNulls({ source: _source, version: _version, ...price }: ModelPrice): Partial<ModelPrice> {
  const { model, vendor, ...rest } = price
  return Object.fromEntries(Object.entries({ model, vendor, ...rest }).filter(([, value]) => value !== null))
}
