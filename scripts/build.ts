import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { readFlags } from './read-flags.ts'

readFlags('npm run build\n\nPuts the gateway together in .build/bundle, to be run with Node.\n', {})
process.stderr.write('Building the gateway and its console …\n')
await bundle(join(import.meta.dirname, '../.build/bundle'))
