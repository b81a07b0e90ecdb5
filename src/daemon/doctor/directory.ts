import { accessSync, constants, lstatSync, readdirSync, type Stats, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { formatBytes } from '../../admin/contract/show-value.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { ok, problem, warning } from '../../core/diagnostic.ts'
import { databaseFile } from '../places.ts'

/** Below the first, what arrives may not fit any more; below the second it is time to look. */
const fullBytes = 200e6
const scarceBytes = 2e9
const scarceFiles = 10_000
/** Files from the future by more than this mean that the clock went back. */
const clockSlackMs = 5 * 60_000
/** Nothing of ours is older. */
const earliest = Date.parse('2026-01-01')

export function checkDirectory(directory: string, now: number): Diagnostic[] {
  const there = look(directory)
  if (there instanceof Error)
    return [
      problem(
        'data directory',
        `${directory} cannot be read: ${there.message}`,
        'Run the check as the user that owns the data or as root: sudo spgw doctor.',
      ),
    ]
  if (there === undefined) {
    return [
      problem(
        'data directory',
        `not found at ${directory}`,
        'Create it with spgw init, or choose another with --data-dir.',
      ),
    ]
  }
  if (!there.isDirectory()) {
    return [
      problem(
        'data directory',
        `${directory} is not a directory`,
        'Move the file away, or choose another directory with --data-dir.',
      ),
    ]
  }
  const { uid, gid } = there
  const self = process.getuid?.() ?? uid
  const access = comesByGroup(there, self) ? ok('data directory', `${directory}, by its group (${gid})`) : null
  return [
    access ?? checkAccess(directory, there.mode, uid),
    ...checkOwners(directory, access === null ? uid : self, gid),
    ...checkSpace(directory),
    checkClock(directory, now),
  ]
}

/** undefined: there is none; an error: nobody knows, such as behind a directory that is closed to this user. */
function look(directory: string): Stats | Error | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** As volumes of Kubernetes are (`fsGroup`): they belong to root, and to a group of the gateway's own user. */
function comesByGroup({ mode, uid, gid }: Stats, self: number): boolean {
  const groups = [process.getgid?.(), ...(process.getgroups?.() ?? [])]
  return self !== 0 && self !== uid && groups.includes(gid) && (mode & 0o072) === 0o070
}

function checkAccess(directory: string, mode: number, owner: number): Diagnostic {
  const check = 'data directory'
  const self = process.getuid?.()
  if (self !== undefined && self !== 0 && owner !== self) {
    return problem(check, `${directory} belongs to another user (${owner})`, 'Run spgw as the user that owns the data.')
  }
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return problem(check, `${directory} cannot be written`, `Give the user of spgw access: chmod u+rwx ${directory}`)
  }
  // Whom `admin.socket_group` lets use the socket passes through the directory (0710), and reads nothing there.
  if (process.platform !== 'win32' && (mode & 0o077 & ~0o010) !== 0) {
    const shown = (mode & 0o777).toString(8)
    return warning(
      check,
      `other users can ${(mode & 0o022) === 0 ? 'read' : 'read and change'} ${directory} (mode 0${shown})`,
      `Remove their access: chmod 700 ${directory}`,
    )
  }
  return ok(check, directory)
}

/** What somebody else made there, root most often, the gateway's own user may not open. */
function checkOwners(directory: string, uid: number, gid: number): Diagnostic[] {
  const strange = process.platform === 'win32' ? [] : listStrange(directory, uid)
  const [first] = strange
  if (first === undefined) return []
  const them = strange.length === 1 ? `${first} belongs` : `${first} and ${strange.length - 1} more belong`
  const message = `${them} to another user than the directory (${uid})`
  return [warning('owner', message, `Change their owner: chown -R ${uid}:${gid} ${directory}`)]
}

function listStrange(directory: string, uid: number): string[] {
  // Where the data have a volume to themselves: ext4's.
  const own = join(directory, 'lost+found')
  try {
    return readdirSync(directory, { withFileTypes: true, recursive: true })
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => path !== own)
      .filter((path) => (lstatSync(path, { throwIfNoEntry: false })?.uid ?? uid) !== uid)
  } catch {
    // That it cannot be read is told already.
    return []
  }
}

function checkSpace(directory: string): Diagnostic[] {
  const { bavail, bsize, files, ffree } = statfsSync(directory)
  const free = bavail * bsize
  const message = `${formatBytes(free)} free`
  const remedy = 'Free some space, or keep records for a shorter time: records.retention in config.yaml.'
  const space =
    free < fullBytes
      ? problem('disk', `only ${message}; when it is full, records wait in memory`, remedy)
      : free < scarceBytes
        ? warning('disk', `only ${message}`, remedy)
        : ok('disk', message)
  // Some file systems do not count their files.
  if (files === 0 || ffree >= scarceFiles) return [space]
  return [space, warning('disk', `space for only ${ffree} more files`, 'Delete unneeded files from that disk.')]
}

function checkClock(directory: string, now: number): Diagnostic {
  const remedy = 'Set it and keep it correct with NTP: limits, budgets and records depend on it.'
  if (now < earliest) return problem('clock', `it says ${new Date(now).toISOString()}`, remedy)
  const written = statSync(join(directory, databaseFile), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (written <= now + clockSlackMs) return ok('clock', new Date(now).toISOString())
  return problem('clock', `it says ${new Date(now).toISOString()}, but the database was written later`, remedy)
}
