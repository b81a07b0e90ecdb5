import { parseArgs } from 'node:util'
import { loads } from './loads.ts'

export interface Order {
  form: Form
  /** Of `cpu` and `profile`. */
  load: string
  rounds: number
  seconds: number
  part: RegExp | null
  executable: string | null
  beside: string | null
  node: string | null
  write: boolean
}

export type Form = 'full' | 'quick' | 'cpu' | 'profile'

const usage = `npm run bench                 all targets, three rounds
npm run bench -- quick        the main parts without Portkey, one short round
npm run bench -- cpu [LOAD]   one load on the gateway and nginx in turns, and what each thread uses; under 40 seconds
npm run bench -- profile      the functions on which the gateway's threads spend their time
  LOAD               ${Object.keys(loads).join(', ')}; small where none is named
  --rounds N         rounds
  --seconds N        length of one load
  --part PATTERN     only parts whose name matches: 'streams|latency'
  --executable FILE  measure this one instead of packaging the tree
  --beside FILE      measure this executable too, in the same rounds
  --node FILE        also the bundle, under that Node
  --write            put the result into docs/performance.md
`

const forms: Record<Form, { rounds: number; seconds: number }> = {
  full: { rounds: 3, seconds: 4 },
  quick: { rounds: 1, seconds: 2 },
  cpu: { rounds: 3, seconds: 3 },
  profile: { rounds: 1, seconds: 6 },
}

/** What the bench is asked for; ends the process where that is unclear. */
export function readOrder(): Order {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      part: { type: 'string' },
      executable: { type: 'string' },
      beside: { type: 'string' },
      node: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [form = 'full', load = 'small', ...more] = positionals
  if (values.help || !isForm(form) || !(load in loads) || more.length > 0) {
    process.stderr.write(usage)
    process.exit(values.help ? 0 : 2)
  }
  return {
    form,
    load,
    rounds: Number(values.rounds ?? forms[form].rounds),
    seconds: Number(values.seconds ?? forms[form].seconds),
    part: values.part === undefined ? null : new RegExp(values.part),
    executable: values.executable ?? null,
    beside: values.beside ?? null,
    node: values.node ?? null,
    write: values.write,
  }
}

function isForm(word: string): word is Form {
  return word in forms
}
