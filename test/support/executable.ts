import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The packaged gateway, which `package-once.ts` has made. */
export const executable = join(import.meta.dirname, '../../dist/spgw')

/**
 * Whether a program that the tests may not count on (jq, curl, tmux, a browser) is on this machine. A test that needs
 * one names it: `it.skipIf(!hasProgram('jq'))('… (needs jq)', …)`; `.ci/run` installs it and fails on any skip.
 */
export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status === 0
}
