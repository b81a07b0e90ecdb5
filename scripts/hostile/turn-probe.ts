import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId, threadName } from 'node:worker_threads'
import { shortestMs, type Turn, turnsVariable } from './turns.ts'

/** Loaded into every thread of the gateway before its own code (`--import`): writes down each turn of its event loop that took long. */
const everyMs = 5
const directory = process.env[turnsVariable]

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function watch(file: string): void {
  let last = performance.now()
  let cpuLast = cpuMs()
  const look = () => {
    const ms = performance.now() - last - everyMs
    if (ms >= shortestMs) {
      const turn: Turn = { thread: threadName ?? 'main', at: Date.now(), ms, cpuMs: cpuMs() - cpuLast }
      appendFileSync(file, `${JSON.stringify(turn)}\n`)
    }
    last = performance.now()
    cpuLast = cpuMs()
  }
  setInterval(look, everyMs).unref()
}

if (directory !== undefined) watch(join(directory, `${process.pid}-${threadId}.jsonl`))
