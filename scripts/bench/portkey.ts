import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { installAside } from './aside.ts'
import type { Call } from './calls.ts'
import { start, stop } from './children.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import type { TlsFront } from './nginx.ts'
import { type Address, freePort, type Starter, untilReady } from './target.ts'

/** The major version of Node in Portkey's own image (its Dockerfile: `FROM node:20-alpine`), which is what its users have. */
export const peerNode = '20'

/**
 * The peer: @portkey-ai/gateway, with the two versions of its web framework without which it answers 500 to every
 * streamed request. Under the Node that spgw runs on, and under that of its own image. Too heavy for our own installation, so it is installed here, once, from a lock file of its own.
 */
export async function preparePortkey(
  machine: Machine,
  mock: Mock,
  tls: TlsFront | null,
  place: string,
  name: 'portkey' | 'portkey-image',
): Promise<Starter> {
  const node = name === 'portkey' ? process.execPath : await installPeerNode(machine, place)
  const program = join(await installAside(machine, 'portkey', place), '@portkey-ai/gateway/build/start-server.js')
  return async () => {
    const port = await freePort()
    const begun = performance.now()
    const child = start(machine, [node, program, `--port=${port}`, '--headless'], {
      place: 'measured',
      environment: { NODE_ENV: 'production', ...(tls && { NODE_EXTRA_CA_CERTS: tls.certificate }) },
    })
    child.stdout?.resume()
    const readyMs = await untilReady(child, `http://127.0.0.1:${port}/`, begun)
    const reach = ({ way, path }: Call): Address => {
      if (way === 'gemini') throw new Error('the peer has no Gemini lane')
      const origin = way === 'tls' ? `https://127.0.0.1:${tls?.port}` : `http://127.0.0.1:${mock.port}`
      const headers = {
        authorization: 'Bearer sk-bench',
        'x-portkey-provider': way === 'anthropic' || way === 'translated' ? 'anthropic' : 'openai',
        'x-portkey-custom-host': `${origin}/v1`,
      }
      return { port, path: path.replace('/anthropic/v1', ''), headers }
    }
    return { name, reach, pid: child.pid ?? 0, readyMs, stop: () => stop(child, 1000) }
  }
}

async function installPeerNode(machine: Machine, place: string): Promise<string> {
  const modules = await installAside(machine, `node-${peerNode}`, place)
  const found = (await readdir(modules)).find((name) => name.startsWith('node-'))
  if (found === undefined) throw new Error(`no npm package of Node ${peerNode} runs on this machine`)
  return join(modules, found, 'bin/node')
}
