import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { FormatName } from '../../../../src/core/format.ts'
import type { JsonObject } from '../../mock-format.ts'
import type { WireWatch } from '../wire-watch.ts'
import type { Dialect, SceneClient } from './client.ts'

const python = join(import.meta.dirname, '../../../../.build/python/bin/python')

/** `.ci/run` installs the SDKs; elsewhere they may be missing. */
export const hasPython = existsSync(python)

interface Said {
  answer?: unknown
  error?: { message: string; status: number | null }
  last: { status: number; headers: Record<string, string>; body: string }
}

/** The official SDKs in Python: they send what the ones in JavaScript are given, in their own way. */
export class PythonClients {
  readonly #child: ChildProcess
  readonly #waiting: PromiseWithResolvers<Said>[] = []
  readonly #wire: WireWatch

  constructor(place: { baseUrl: string; key: string }, wire: WireWatch) {
    this.#wire = wire
    const script = join(import.meta.dirname, 'python_clients.py')
    this.#child = spawn(python, [script, place.baseUrl, place.key], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: this.#child.stdout ?? process.stdin })
    lines.on('line', (line) => this.#waiting.shift()?.resolve(JSON.parse(line)))
    this.#child.once('exit', (code) => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(`Python ended with ${code}`))
    })
  }

  client(format: FormatName, { cannot, paramsOf, read }: Dialect): SceneClient {
    return {
      cannot,
      ask: async (asked) => {
        const { error, answer, last } = await this.#send({
          client: format,
          params: paramsOf(asked),
          streamed: asked.streamed,
        })
        this.#wire.note({ ...last, headers: new Headers(last.headers) })
        if (error !== undefined) throw Object.assign(new Error(error.message), { status: error.status })
        return read(answer)
      },
    }
  }

  close(): void {
    this.#child.kill()
  }

  #send(request: JsonObject): Promise<Said> {
    if (this.#child.exitCode !== null) throw new Error(`Python ended with ${this.#child.exitCode}`)
    const waiting = Promise.withResolvers<Said>()
    this.#waiting.push(waiting)
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`)
    return waiting.promise
  }
}
