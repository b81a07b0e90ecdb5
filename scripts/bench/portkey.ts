import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, start, stop } from './children.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import { freePort, type Starter, untilReady } from './target.ts'

/**
 * The peer: @portkey-ai/gateway, with the two versions of its web framework without which it answers 500 to every
 * streamed request. Too heavy for our own installation, so it is installed here, once, from a lock file of its own.
 */
export async function preparePortkey(machine: Machine, mock: Mock, directory: string): Promise<Starter> {
  const place = join(directory, 'portkey')
  const source = join(import.meta.dirname, 'portkey')
  if (!(await isInstalled(place, source))) {
    process.stderr.write('Installing the peer gateway …\n')
    await cp(source, place, { recursive: true })
    await run(machine, ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], { place: 'all', directory: place })
    await cp(join(place, 'package-lock.json'), join(place, 'node_modules/installed.json'))
  }
  const program = join(place, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  return async () => {
    const port = await freePort()
    const child = start(machine, [process.execPath, program, `--port=${port}`, '--headless'], {
      place: 'measured',
      environment: { NODE_ENV: 'production' },
    })
    child.stdout?.resume()
    const readyMs = await untilReady(child, `http://127.0.0.1:${port}/`)
    const headers = {
      authorization: 'Bearer sk-bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${mock.port}/v1`,
    }
    return { name: 'portkey', port, headers, pid: child.pid ?? 0, readyMs, stop: () => stop(child, 1000) }
  }
}

async function isInstalled(place: string, source: string): Promise<boolean> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => null)
  const installed = await read(join(place, 'node_modules/installed.json'))
  return installed !== null && installed === (await read(join(source, 'package-lock.json')))
}
