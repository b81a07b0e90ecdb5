import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorReference } from './error-reference.ts'

const documents = join(import.meta.dirname, '../docs')
await mkdir(documents, { recursive: true })
await writeFile(join(documents, 'errors.md'), errorReference())
