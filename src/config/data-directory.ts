import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { SettingsRefused } from './settings-refused.ts'

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>

/**
 * The data directory, absolute: `--data-dir`, `$SPGW_DATA_DIR`, systemd's `$STATE_DIRECTORY`, `$XDG_STATE_HOME/spgw`,
 * `~/.local/state/spgw`. It need not exist yet. Throws `SettingsRefused` for a user without a home.
 */
export function findDataDirectory(flag: string | undefined, environment: ProcessEnvironment): string {
  const chosen = flag || environment.SPGW_DATA_DIR
  if (chosen) return resolve(chosen)
  // systemd may list several, separated by colons; the unit's first is ours.
  const state = environment.STATE_DIRECTORY?.split(':')[0]
  if (state) return resolve(state)
  const { XDG_STATE_HOME, HOME } = environment
  // A relative path is to be ignored, says the XDG base directory specification.
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'spgw')
  if (HOME && isAbsolute(HOME) && existsSync(HOME)) return join(HOME, '.local/state/spgw')
  throw new SettingsRefused([
    { place: '--data-dir', message: 'this user has no home, so say where the data goes: --data-dir or SPGW_DATA_DIR' },
  ])
}
