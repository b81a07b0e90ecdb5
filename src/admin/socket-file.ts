import { lstatSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { socketHost } from './contract/socket-host.ts'

/** The admin socket cannot be taken. Nothing was removed. `hint` says what to do. */
export class AdminSocketTaken extends Error {
  override readonly name = 'AdminSocketTaken'
  readonly hint: string
  /** Of the gateway that listens there; null when it did not say, or nobody listens. */
  readonly processId: number | null

  constructor(message: string, hint: string, processId: number | null = null) {
    super(message)
    this.hint = hint
    this.processId = processId
  }
}

const probeMs = 1000

/**
 * Makes room for a socket: removes one that nobody listens on any more. Throws `AdminSocketTaken` when somebody does,
 * or when the path is no socket. Two gateways starting in the same instant can both pass; the store's lock stops one.
 */
export async function clearSocketPath(path: string): Promise<void> {
  const standing = lstatSync(path, { throwIfNoEntry: false })
  if (standing === undefined) return
  if (!standing.isSocket())
    throw new AdminSocketTaken(
      `${path} is there and is no socket.`,
      'Move it away, or set admin.socket to another path.',
    )
  const peer = await probePeer(path)
  if (peer === null) return rmSync(path, { force: true })
  const who = peer.processId === null ? 'Another process' : `A gateway (process ${peer.processId})`
  throw new AdminSocketTaken(`${who} listens on ${path}.`, 'Stop it first, or use another --data-dir.', peer.processId)
}

/** null: nobody listens. Whoever accepts the connection is alive, whatever it answers. */
function probePeer(path: string): Promise<{ processId: number | null } | null> {
  return new Promise((resolve) => {
    const headers = { host: socketHost, 'content-type': 'application/json' }
    const probe = request({ socketPath: path, method: 'POST', path: '/api/status', headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve({ processId: readProcessId(text) }))
      answer.on('error', () => resolve({ processId: null }))
    })
    probe.setTimeout(probeMs, () => probe.destroy(new Error('no answer')))
    probe.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? null : { processId: null }),
    )
    probe.end('{}')
  })
}

function readProcessId(text: string): number | null {
  try {
    const answer: unknown = JSON.parse(text)
    const id = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'process_id') : null
    return typeof id === 'number' ? id : null
  } catch {
    return null
  }
}
