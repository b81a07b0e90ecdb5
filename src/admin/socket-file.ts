import { lstatSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { socketHost } from './contract/socket-host.ts'

/** The admin socket cannot be taken. Nothing was removed. `hint` says what to do. */
class AdminSocketRefused extends Error {
  override readonly name = 'AdminSocketRefused'
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
 * Makes room for a socket: removes one that nobody listens on any more. Throws `AdminSocketRefused` when somebody does,
 * or when the path is no socket. Two gateways starting in the same instant can both pass; the store's lock stops one.
 */
export async function clearSocketPath(path: string): Promise<void> {
  const standing = lstatSync(path, { throwIfNoEntry: false })
  if (standing === undefined) return
  if (!standing.isSocket())
    throw new AdminSocketRefused(
      `${path} exists and is not a socket.`,
      'Move it away, or set admin.socket to another path.',
    )
  const peer = await probePeer(path)
  if (peer === null) return rmSync(path, { force: true })
  const who = peer.processId === null ? 'Another process' : `A gateway (process ${peer.processId})`
  throw new AdminSocketRefused(
    `${who} listens on ${path}.`,
    'Stop it first, or use another --data-dir.',
    peer.processId,
  )
}

/** Every answer on the socket names the process that gave it, also while it is still starting. */
export const processHeader = 'x-spgw-process'

/** null: nobody listens. Whoever accepts the connection is alive, whatever it answers. */
function probePeer(path: string): Promise<{ processId: number | null } | null> {
  return new Promise((resolve) => {
    const probe = request({ socketPath: path, path: '/', headers: { host: socketHost } }, (answer) => {
      const id = Number(answer.headers[processHeader])
      resolve({ processId: Number.isInteger(id) ? id : null })
      answer.destroy()
    })
    probe.setTimeout(probeMs, () => probe.destroy(new Error('no answer')))
    probe.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? null : { processId: null }),
    )
    probe.end()
  })
}

/** The number of a group of this machine. */
export function findGroup(name: string): number {
  if (/^\d+$/.test(name)) return Number(name)
  const lines = readFileSync('/etc/group', { encoding: 'utf8' }).split('\n')
  const id = lines.map((line) => line.split(':')).find(([own]) => own === name)?.[2]
  if (id !== undefined) return Number(id)
  throw new AdminSocketRefused(
    `There is no group ${name} on this machine.`,
    "Fix admin.socket_group, or give the group's number.",
  )
}
