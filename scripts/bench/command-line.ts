import { readFlags } from '../read-flags.ts'
import { loads } from './loads.ts'

export interface Order {
  form: Form
  /** Of `cpu` and `profile`. */
  loads: string[]
  rounds: number
  seconds: number
  warmUpSeconds: number
  part: RegExp | null
  executable: string | null
  beside: string | null
  continues: boolean
  write: boolean
}

export type Form = 'full' | 'quick' | 'cpu' | 'profile' | 'bodies' | 'sockets' | 'nodes'

const usage = `npm run bench                    all targets, three rounds
npm run bench -- quick           the main parts without Portkey, one short round
npm run bench -- cpu [LOAD…]     the gateway and nginx in turns, and what each thread uses; under a minute
npm run bench -- profile [LOAD…] the functions on which the gateway's threads spend their time
npm run bench -- bodies          what the gateway grows by while files of gigabytes, and many at once, pass; under two minutes
npm run bench -- sockets         what the gateway holds for a thousand silent WebSockets; under a minute
npm run bench -- nodes           a gateway alone and nodes of a cluster: what a request costs, and how much more nodes answer; four minutes
  LOAD               ${Object.keys(loads).join(', ')}; small where none is named
  --rounds N         rounds
  --seconds N        length of one load
  --part PATTERN     only parts whose name matches: 'streams|latency'
  --continue         add the rounds to the last result, which must be of the same executable
  --executable FILE  measure this one instead of packaging the tree
  --beside FILE      measure this executable too, in the same rounds
  --write            put the result into docs/performance.md
`

const forms: Record<Form, { rounds: number; seconds: number; warmUpSeconds: number }> = {
  full: { rounds: 3, seconds: 4, warmUpSeconds: 8 },
  quick: { rounds: 1, seconds: 2, warmUpSeconds: 2 },
  cpu: { rounds: 3, seconds: 3, warmUpSeconds: 8 },
  profile: { rounds: 1, seconds: 6, warmUpSeconds: 5 },
  bodies: { rounds: 1, seconds: 0, warmUpSeconds: 0 },
  sockets: { rounds: 1, seconds: 0, warmUpSeconds: 0 },
  nodes: { rounds: 5, seconds: 5, warmUpSeconds: 15 },
}

/** What the bench is asked for; ends the process where that is unclear. */
export function readOrder(): Order {
  const { values, positionals } = readFlags(usage, {
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      part: { type: 'string' },
      executable: { type: 'string' },
      beside: { type: 'string' },
      continue: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  })
  const [form = 'full', ...named] = positionals
  const takesLoads = form === 'cpu' || form === 'profile'
  if (!isForm(form) || named.some((each) => !takesLoads || !(each in loads))) {
    process.stderr.write(usage)
    process.exit(2)
  }
  return {
    form,
    loads: named.length > 0 ? named : form === 'profile' ? ['small', 'streams'] : ['small'],
    rounds: Number(values.rounds ?? forms[form].rounds),
    seconds: Number(values.seconds ?? forms[form].seconds),
    warmUpSeconds: forms[form].warmUpSeconds,
    part: values.part === undefined ? null : new RegExp(values.part),
    executable: values.executable ?? null,
    beside: values.beside ?? null,
    continues: values.continue,
    write: values.write,
  }
}

function isForm(word: string): word is Form {
  return word in forms
}
