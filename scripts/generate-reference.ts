import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { laneReference } from './lane-reference.ts'
import { referencePages } from './reference.ts'

const directory = join(import.meta.dirname, '../docs/reference')
await mkdir(directory, { recursive: true })
for (const [name, text] of Object.entries(await referencePages())) await writeFile(join(directory, name), text)
await writeFile(join(directory, '../lanes.md'), laneReference())
