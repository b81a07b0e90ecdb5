import { describe, expect, it } from 'vitest'
import {
  checkBrowserSafe,
  checkCluster,
  checkDatabase,
  checkEncryption,
  checkEnvironment,
  checkNetwork,
} from './checks/confinement.ts'
import { parseModule, readModules } from './checks/modules.ts'
import { checkImportTable, findCycle } from './checks/rooms.ts'

/** Each rule is first seen to fail on a planted violation: a rule that sees nothing would pass for ever. */
const modules = readModules('src', 'cli', 'tui')
const planted = (path: string, text: string) => [parseModule(path, text)]

it('sees the whole program', () => {
  expect(modules.length).toBeGreaterThan(100)
  expect(modules.flatMap((module) => module.imports).length).toBeGreaterThan(modules.length)
})

describe('who may import whom', () => {
  it.each([
    ['src/core/a.ts', "import { x } from '../config/load.ts'", 'core may not import config'],
    ['src/core/a.ts', "import type { X } from '../store/api.ts'", 'core may not import store'],
    ['src/routing/a.ts', "import { type X } from '../store/api.ts'", 'routing may not import store'],
    ['src/gateway/a.ts', "export { x } from '../store/client.ts'", 'gateway may not import store'],
    ['src/policy/a.ts', "export * from '../routing/plan.ts'", 'policy may not import routing'],
    ['src/gateway/a.ts', "type X = import('../sealing/keyring.ts').Keyring", 'gateway may not import sealing'],
    ['src/gateway/a.ts', "const x = await import('../config/load.ts')", 'gateway may not import config'],
    ['src/lanes/openai/a.ts', "import { x } from '../gemini/lane.ts'", 'openai may not import its sibling gemini'],
    ['src/lanes/openai/a.ts', "import { x } from '../../providers/http.ts'", 'lanes may not import providers'],
    ['src/admin/client.ts', "import { x } from './handlers/index.ts'", 'admin/client may not import admin/handlers'],
    ['src/admin/contract/a.ts', "import type { X } from '../../store/api.ts'", 'admin/contract may not import store'],
    ['cli/a.ts', "import { x } from '../src/store/client.ts'", 'cli may not import store'],
    ['cli/a.ts', "import { x } from '../src/admin/server.ts'", 'cli may not import admin/server'],
    ['cli/a.ts', "import { x } from '../src/daemon/serve.ts'", 'only main imports the daemon'],
    ['src/daemon/a.ts', "import { x } from '../../cli/run.ts'", 'daemon may not import cli'],
    ['src/gateway/a.ts', "import { x } from '../main.ts'", 'nobody imports main'],
    ['src/new-room/a.ts', "import { x } from '../core/ids.ts'", 'new-room may not import core'],
  ])('refuses %s: %s', (path, text, reason) => {
    expect(checkImportTable(planted(path, text))).toEqual([expect.stringContaining(`${path}:1: ${reason}`)])
  })

  it.each([
    ['src/routing/a.ts', "import type { X } from '../store/configuration/snapshot.ts'"],
    ['src/lanes/openai/a.ts', "import { x } from '../contract.ts'"],
    ['src/daemon/a.ts', "import { x } from '../store/client.ts'"],
    ['src/main.ts', "import { x } from '../cli/run.ts'"],
  ])('allows %s: %s', (path, text) => {
    expect(checkImportTable(planted(path, text))).toEqual([])
  })

  it('holds everywhere', () => {
    expect(checkImportTable(modules)).toEqual([])
  })
})

describe('cycles', () => {
  it('finds one, of types too', () => {
    const circle = [
      parseModule('src/core/a.ts', "import type { B } from './b.ts'"),
      parseModule('src/core/b.ts', "import { c } from './c.ts'"),
      parseModule('src/core/c.ts', "export type { A } from './a.ts'"),
    ]
    expect(findCycle(circle)).toEqual(['src/core/a.ts', 'src/core/b.ts', 'src/core/c.ts', 'src/core/a.ts'])
  })

  it('are nowhere', () => {
    expect(findCycle(modules)).toBeNull()
  })
})

describe('who may touch what', () => {
  it.each([
    [checkNetwork, 'src/routing/a.ts', "import { request } from 'undici'"],
    [checkNetwork, 'src/gateway/a.ts', "import http from 'node:http'"],
    [checkNetwork, 'src/gateway/a.ts', "import { isIP, connect } from 'node:net'"],
    [checkNetwork, 'cli/a.ts', "await fetch('http://127.0.0.1')"],
    [checkNetwork, 'cli/a.ts', "new WebSocket('ws://127.0.0.1')"],
    [checkDatabase, 'src/admin/handlers/a.ts', "import type { Kysely } from 'kysely'"],
    [checkCluster, 'src/store/a.ts', "import pg from 'pg'"],
    [checkCluster, 'src/daemon/a.ts', "import Redis from 'iovalkey'"],
    [checkDatabase, 'src/daemon/a.ts', "import Database from 'better-sqlite3'"],
    [checkEnvironment, 'cli/a.ts', 'export const home = process.env.HOME'],
    [checkEnvironment, 'src/gateway/a.ts', "import { env } from 'node:process'"],
    [checkEncryption, 'src/store/a.ts', "import { createCipheriv } from 'node:crypto'"],
    [checkEncryption, 'src/store/a.ts', 'await crypto.subtle.encrypt(a, b, c)'],
    [checkBrowserSafe, 'src/core/a.ts', "import { z } from 'zod'"],
    [checkBrowserSafe, 'src/admin/contract/a.ts', "import { join } from 'node:path'"],
    [checkBrowserSafe, 'src/admin/client.ts', "import { Agent } from 'undici'"],
  ])('%o refuses %s: %s', (check, path, text) => {
    expect(check(planted(path, text))).toEqual([expect.stringContaining(`${path}:1: `)])
  })

  it('leaves types and what only looks at text alone', () => {
    expect(checkNetwork(planted('src/gateway/a.ts', "import type { IncomingMessage } from 'node:http'"))).toEqual([])
    expect(checkNetwork(planted('src/config/a.ts', "import { isIP } from 'node:net'"))).toEqual([])
  })

  it.each([checkNetwork, checkCluster, checkDatabase, checkEnvironment, checkEncryption, checkBrowserSafe])(
    '%o holds everywhere',
    (check) => {
      expect(check(modules)).toEqual([])
    },
  )
})
