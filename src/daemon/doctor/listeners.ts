import { existsSync, statSync } from 'node:fs'
import type { Settings } from '../../config/settings.ts'
import { errorText } from '../../core/caught.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { ok, problem, warning } from '../../core/diagnostic.ts'

/** The addresses are free while no gateway has them, and the socket is nobody else's to open. */
export async function checkListeners(settings: Settings, isRunning: boolean): Promise<Diagnostic[]> {
  const socket = checkSocket(settings.admin.socket, settings.admin.socketGroup !== null, isRunning)
  if (isRunning) return socket
  const { gateway, console } = settings
  const both = [
    await checkAddress('gateway', gateway.host, gateway.port),
    await checkAddress('console', console.host, console.port),
  ]
  return [...socket, ...both]
}

async function checkAddress(name: 'gateway' | 'console', host: string, port: number): Promise<Diagnostic> {
  const { AddressTaken, claimPort } = await import('../../gateway/thread/server-address.ts')
  const address = `${host}:${port}`
  try {
    await claimPort(host, port)
    return ok(`${name} address`, `${address} is free`)
  } catch (error) {
    const remedy = error instanceof AddressTaken ? error.remedy : 'Choose another address'
    return problem(`${name} address`, errorText(error), `${remedy}: ${name}.listen in config.yaml.`)
  }
}

function checkSocket(path: string, hasGroup: boolean, isRunning: boolean): Diagnostic[] {
  if (process.platform === 'win32' || !existsSync(path)) return []
  if (!isRunning) {
    return [warning('admin socket', `${path} exists, but no gateway answers`, 'The next spgw serve replaces it.')]
  }
  const mode = statSync(path).mode & 0o777
  if ((mode & (hasGroup ? 0o007 : 0o077)) === 0) return [ok('admin socket', path)]
  const remedy = `Remove their access, and check who has used it (spgw audit list): chmod ${hasGroup ? '660' : '600'} ${path}`
  return [
    problem(
      'admin socket',
      `other users can open ${path}, which gives them the role owner (mode 0${mode.toString(8)})`,
      remedy,
    ),
  ]
}
