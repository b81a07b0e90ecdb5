import { posix, win32 } from 'node:path'
import type { EnvironmentVariables } from './io.ts'

/** Where the machine keeps things, handed in. */
export interface HostContext {
  environment: EnvironmentVariables
  /** The person's home; null for a user without one. */
  home: string | null
  platform: NodeJS.Platform
}

/** How the file system is asked; both answer for what may not be read as for what is not there. */
export interface Files {
  exists(path: string): boolean
  /** The text of a small file, null where there is none. */
  read(path: string): string | null
}

export interface SocketLocation {
  dataDirectory: string
  socketPath: string
  /** The data directory is there, so a gateway that does not answer yet may be starting: worth a wait. */
  exists: boolean
}

/** Of a gateway that runs as a service. */
const systemDirectory = '/var/lib/spgw'

/** Data directories in the order in which the gateway is looked for (contract.md, `admin.socket`). What was named is not guessed around. */
export function listDataDirectories(named: string | null, surroundings: HostContext): string[] {
  const chosen = named ?? surroundings.environment.SPGW_DATA_DIR
  if (chosen) return [chosen]
  const state = stateDirectory(surroundings)
  const system = surroundings.platform === 'win32' ? [] : [systemDirectory]
  return state === null ? system : [...system, state]
}

function stateDirectory({ environment, home, platform }: HostContext): string | null {
  if (platform === 'win32') return environment.LOCALAPPDATA ? win32.join(environment.LOCALAPPDATA, 'spgw') : null
  if (environment.XDG_STATE_HOME) return posix.join(environment.XDG_STATE_HOME, 'spgw')
  return home === null ? null : posix.join(home, '.local/state/spgw')
}

/** The gateway that answers: the first directory with a socket, else the first that is there at all, else the last looked at. */
export function findSocket(named: string | null, surroundings: HostContext, files: Files): SocketLocation | null {
  const places = listDataDirectories(named, surroundings).map((directory) => locationOf(directory, surroundings, files))
  return (
    places.find((place) => files.exists(place.socketPath)) ??
    places.find((place) => place.exists) ??
    places.at(-1) ??
    null
  )
}

/** A socket that had to stand elsewhere (its path was too long, or it is a named pipe) is named by the file `admin.path`. */
function locationOf(dataDirectory: string, { platform }: HostContext, files: Files): SocketLocation {
  const { join } = platform === 'win32' ? win32 : posix
  const noted = files.read(join(dataDirectory, 'admin.path'))?.trim()
  return {
    dataDirectory,
    socketPath: noted || join(dataDirectory, 'admin.sock'),
    exists: files.exists(dataDirectory),
  }
}

/** What to do where no gateway runs: `named` is the data directory of the command line, `found` where it was looked for. */
export function startHint(named: string | null, found: string | null, environment: EnvironmentVariables): string {
  if (named !== null) return `Start it: spgw serve --data-dir ${quoted(named)}`
  // Without a name `serve` would make another gateway below the person's home.
  if (found === systemDirectory && !environment.SPGW_DATA_DIR)
    return `Start it: sudo systemctl start spgw, or spgw serve --data-dir ${systemDirectory}`
  return 'Start it: spgw serve'
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./~:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
