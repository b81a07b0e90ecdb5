import { join } from 'node:path'
import { bundle } from './bundle.ts'

await bundle(join(import.meta.dirname, '../.build/bundle'))
