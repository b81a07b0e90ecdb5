import { once } from 'node:events'
import { join } from 'node:path'
import { run, start } from './children.ts'
import type { Bench } from './target.ts'

const samplesPerSecond = 997
/** So that the code which V8 makes at run time has names. */
export const nameCode = '--perf-basic-prof'

/** One look at a processor: which thread ran what. */
export interface Sample {
  thread: string
  /** Of the innermost function. */
  symbol: string
  inKernel: boolean
  /** `writev, socket`, `page fault`; '' where that does not show. */
  kernelCall: string
}

/** How the kernel was entered, by the functions on the way; the first that fits. */
const systemCall = /^(?:__(?:x64|arm64)_sys_|ksys_|do_(?=writev|readv|epoll_wait|futex|pwrite|pread))(\w+)/
const entries: readonly [name: string, pattern: RegExp][] = [
  ['page fault', /page_fault/],
  ['interrupt', /sysvec|irq/],
]

/**
 * Looks at all threads of the process until `work` is done, by Linux' perf. Unlike V8's profiler it sees the kernel, the
 * engine and the libraries in C, and counts only time on the processor.
 */
export async function sampleThreads<T>(
  bench: Bench,
  pid: number,
  work: () => Promise<T>,
): Promise<{ samples: Sample[]; result: T }> {
  const file = join(bench.directory, `perf-${pid}.data`)
  const options = [
    '-e',
    'cpu-clock',
    '-F',
    String(samplesPerSecond),
    '--call-graph',
    'fp',
    '-p',
    String(pid),
    '-o',
    file,
  ]
  const recorder = start(bench.machine, ['perf', 'record', ...options], { place: 'load' })
  recorder.stdout?.resume()
  recorder.stderr?.resume()
  const ended = once(recorder, 'exit')
  const result = await work()
  recorder.kill('SIGINT')
  await ended
  const text = await run(bench.machine, ['perf', 'script', '-i', file, '-F', 'comm,tid,ip,sym,dso'], { place: 'all' })
  return { samples: readScript(text), result }
}

/** A head line for each sample, then its frames from the innermost on, then an empty line. */
export function readScript(text: string): Sample[] {
  return text.split('\n\n').flatMap((block): Sample[] => {
    const [head = '', ...frames] = block.trimStart().split('\n')
    const thread = /^(.*?)\s+\d+\s*$/.exec(head)?.[1]?.replace(/^node-/, '')
    const parsed = frames.flatMap((line) => {
      const [, symbol = '', object = ''] = /^\s*[0-9a-f]+\s+(.*)\s+\((.*)\)$/.exec(line) ?? []
      return symbol === '' ? [] : [{ symbol: symbol.replace(/\+0x[0-9a-f]+$/, ''), object }]
    })
    const [innermost] = parsed
    if (thread === undefined || innermost === undefined) return []
    const inKernel = innermost.object.startsWith('[kernel')
    const names = parsed.filter(({ object }) => object.startsWith('[kernel')).map(({ symbol }) => symbol)
    return [{ thread, symbol: innermost.symbol, inKernel, kernelCall: nameEntry(names) }]
  })
}

function nameEntry(functions: readonly string[]): string {
  const call = functions.map((name) => systemCall.exec(name)?.[1]).find((name) => name !== undefined)
  if (call !== undefined) return functions.some((name) => /^sock_|^tcp_/.test(name)) ? `${call}, socket` : call
  return entries.find(([, pattern]) => functions.some((name) => pattern.test(name)))?.[0] ?? ''
}
