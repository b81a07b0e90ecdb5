import type { Results } from './results.ts'

export interface Aim {
  title: string
  must: number
  aim: number
  unit: string
  /** The figure must be at least so much; otherwise at most. */
  atLeast?: boolean
  /** NaN where this run cannot tell. */
  value(results: Results): number
}

/** spgw's figure over that of another. */
function over(figure: string, other: 'nginx' | 'portkey') {
  return (results: Results) => results.median('spgw', figure) / results.median(other, figure)
}

/** How many times the peer costs what spgw costs. */
function peerOver(figure: string) {
  return (results: Results) => results.median('portkey', figure) / results.median('spgw', figure)
}

function own(...figures: string[]) {
  return (results: Results) => Math.max(...figures.map((figure) => results.median('spgw', figure)))
}

/** What translation costs, over what the same costs without. */
function translated(figure: string, plain = figure) {
  return (results: Results) => results.median('spgw', `translated-${figure}`) / results.median('spgw', plain)
}

const translatedWork: Readonly<Record<string, string>> = {
  cpu: 'a small request',
  'chunk-cpu': 'a chunk',
  'image-cpu': 'a 1 MB image body',
  'chat-cpu': 'a 1 MB chat body',
}

/** What spgw holds itself to. */
export const aims: readonly Aim[] = [
  { title: 'CPU of a small request ÷ nginx’s', must: 6, aim: 4, unit: '×', value: over('small-cpu-32', 'nginx') },
  {
    title: 'requests/s ÷ Portkey’s',
    must: 6,
    aim: 8,
    unit: '×',
    atLeast: true,
    value: over('small-rate-32', 'portkey'),
  },
  {
    title: 'Portkey’s CPU of a small request ÷ ours',
    must: 6,
    aim: 8,
    unit: '×',
    atLeast: true,
    value: peerOver('small-cpu-32'),
  },
  { title: 'added p50 ÷ nginx’s', must: 2.2, aim: 1.6, unit: '×', value: over('added-p50', 'nginx') },
  { title: 'CPU of a chunk ÷ Portkey’s', must: 0.7, aim: 0.5, unit: '×', value: over('chunk-cpu', 'portkey') },
  { title: 'CPU of a chunk ÷ nginx’s', must: 3.5, aim: 2.5, unit: '×', value: over('chunk-cpu', 'nginx') },
  { title: 'an open stream, of 2,000', must: 65, aim: 50, unit: 'KB', value: own('stream-kb-2000') },
  {
    title: 'Portkey’s CPU of a 1 MB image body ÷ ours',
    must: 8,
    aim: 11,
    unit: '×',
    atLeast: true,
    value: peerOver('image-cpu'),
  },
  {
    title: 'Portkey’s CPU of a 1 MB chat body ÷ ours',
    must: 8,
    aim: 11,
    unit: '×',
    atLeast: true,
    value: peerOver('chat-cpu'),
  },
  { title: 'a translated chunk ÷ one that passes', must: 1.25, aim: 1.1, unit: '×', value: translated('chunk-cpu') },
  {
    title: 'a translated small request ÷ one that passes',
    must: 1.6,
    aim: 1.4,
    unit: '×',
    value: translated('cpu', 'small-cpu-32'),
  },
  { title: 'a translated 1 MB image ÷ one that passes', must: 2, aim: 1.5, unit: '×', value: translated('image-cpu') },
  { title: 'a translated 1 MB chat ÷ one that passes', must: 4, aim: 3, unit: '×', value: translated('chat-cpu') },
  ...['cpu', 'chunk-cpu', 'image-cpu', 'chat-cpu'].map((figure) => ({
    title: `Portkey’s CPU of ${translatedWork[figure]}, translated, ÷ ours`,
    must: 2,
    aim: 4,
    unit: '×',
    atLeast: true,
    value: peerOver(`translated-${figure}`),
  })),
  { title: 'idle memory', must: 160, aim: 110, unit: 'MB', value: own('idle-mb') },
  { title: 'start to /readyz', must: 1000, aim: 400, unit: 'ms', value: own('ready-ms') },
  {
    title: 'disconnect → provider’s connection closed, p99',
    must: 100,
    aim: 100,
    unit: 'ms',
    value: own('abort-before-head-p99', 'abort-before-content-p99', 'abort-mid-stream-p99'),
  },
  { title: 'calls for a client that has left', must: 0, aim: 0, unit: '', value: own('abort-late-calls') },
]

export type Verdict = 'aim met' | 'must met' | 'MISSED'

/** Null where this run cannot tell. */
export function evaluate({ must, aim, atLeast, value }: Aim, results: Results): Verdict | null {
  const found = value(results)
  if (Number.isNaN(found)) return null
  const reaches = (limit: number) => (atLeast ? found >= limit : found <= limit)
  return reaches(aim) ? 'aim met' : reaches(must) ? 'must met' : 'MISSED'
}
