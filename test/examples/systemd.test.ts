import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadSettings } from '../../src/config/load.ts'
import { hasProgram } from '../support/executable.ts'

const root = join(import.meta.dirname, '../..')
const examples = join(root, 'examples/systemd')
const units = ['spgw.service', 'spgw-hardened.service']

type Directive = [section: string, name: string, value: string]

function parse(unit: string): Directive[] {
  let section = ''
  return readFileSync(join(examples, unit), 'utf8')
    .split('\n')
    .flatMap((line): Directive[] => {
      section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
      if (name === '' && !/^(#.*|\[\w+\]|)$/.test(line)) throw new Error(`${unit}: ${line} is no directive`)
      return name === '' ? [] : [[section, name, value]]
    })
}

const valueIn = (unit: string, name: string) => parse(unit).findLast(([, own]) => own === name)?.[2]

/** systemd passes over a name that it does not know, and what it should have done is not done. */
const known: Record<string, string[]> = {
  Unit: ['Description', 'Wants', 'After', 'StartLimitIntervalSec', 'StartLimitBurst'],
  Service: [
    ...['Type', 'User', 'ExecStart', 'ExecReload', 'Restart', 'RestartSec', 'KillMode', 'TimeoutStopSec', 'UMask'],
    ...['DynamicUser', 'StateDirectory', 'StateDirectoryMode', 'LoadCredential', 'LimitNOFILE', 'NoNewPrivileges'],
    ...['CapabilityBoundingSet', 'AmbientCapabilities', 'PrivateDevices', 'PrivateTmp', 'PrivateUsers', 'ProtectClock'],
    ...['ProtectControlGroups', 'ProtectHome', 'ProtectHostname', 'ProtectKernelLogs', 'ProtectKernelModules'],
    ...['ProtectKernelTunables', 'ProtectProc', 'ProtectSystem', 'RemoveIPC', 'RestrictAddressFamilies'],
    ...['RestrictNamespaces', 'RestrictRealtime', 'RestrictSUIDSGID', 'LockPersonality', 'SystemCallArchitectures'],
    ...['SystemCallFilter', 'SystemCallErrorNumber'],
  ],
  Install: ['WantedBy'],
}

describe.each(units)('%s', (unit) => {
  it('has only directives that systemd knows, in the sections where it knows them', () => {
    const unknown = parse(unit).filter(([section, name]) => !known[section]?.includes(name))
    expect(unknown).toEqual([])
  })

  it('reloads by SIGHUP, and waits longer for the end than a drain takes', () => {
    expect(valueIn(unit, 'ExecReload')).toBe('/bin/kill -HUP $MAINPID')
    const { drainMs } = loadSettings({ environment: {}, flags: { dataDir: tmpdir() } }).gateway
    expect(Number(valueIn(unit, 'TimeoutStopSec')) * 1000).toBeGreaterThan(drainMs + 5000)
    expect(valueIn(unit, 'StateDirectory')).toBe('spgw')
  })

  it.skipIf(!hasProgram('systemd-analyze'))('passes systemd-analyze verify (needs systemd-analyze)', () => {
    const directory = mkdtempSync(join(tmpdir(), 'units-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const verify = (text: string) => {
      writeFileSync(join(directory, unit), text)
      const flags = ['--man=no', '--recursive-errors=no']
      return spawnSync('systemd-analyze', ['verify', ...flags, join(directory, unit)], { encoding: 'utf8' })
    }
    // The executable need not be installed where the unit looks for it.
    const text = readFileSync(join(examples, unit), 'utf8').replace('/usr/local/bin/spgw', '/bin/true')
    expect(verify(text)).toMatchObject({ stderr: '', status: 0 })
    expect(verify(text.replace('KillMode', 'KilMode')).stderr).toContain("Unknown key 'KilMode'")
  })
})

it('hands the hardened unit its machine key under the name by which it is looked for', () => {
  const [name = ''] = valueIn('spgw-hardened.service', 'LoadCredential')?.split(':') ?? []
  expect(readFileSync(join(root, 'src/sealing/machine-key.ts'), 'utf8')).toContain(`'${name}'`)
  expect(valueIn('spgw-hardened.service', 'DynamicUser')).toBe('yes')
})
