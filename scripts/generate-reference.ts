import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { providerKinds } from '../src/providers/index.ts'
import { writeKindSettings } from './kind-settings.ts'
import { laneReference } from './lane-reference.ts'
import { readFlags } from './read-flags.ts'
import { referencePages } from './reference.ts'

const help = `npm run reference

Writes the pages that are made from the sources: docs/reference, docs/lanes.md, and the settings of the provider kinds for forms.
`
readFlags(help, {})
const kindSettings = join(import.meta.dirname, '../src/admin/contract/providers/kind-settings.json')
const settings = writeKindSettings(providerKinds)
if ((await readFile(kindSettings, 'utf8')) === settings) await writePages()
else {
  await writeFile(kindSettings, settings)
  // The pages are made from the contract, which has the former settings loaded.
  process.exitCode = spawnSync(process.execPath, [import.meta.filename], { stdio: 'inherit' }).status ?? 1
}

async function writePages(): Promise<void> {
  const directory = join(import.meta.dirname, '../docs/reference')
  await mkdir(directory, { recursive: true })
  for (const [name, text] of Object.entries(await referencePages())) await writeFile(join(directory, name), text)
  await writeFile(join(directory, '../lanes.md'), laneReference())
}
