import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadSettings } from '../../src/config/load.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'

function load(oidc: string, environment: Record<string, string> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'settings-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'config.yaml')
  writeFileSync(file, `console:\n  oidc: ${oidc}\n`)
  return loadSettings({ file, environment, flags: { dataDir: directory } }).console.oidc
}

function problems(oidc: string, environment: Record<string, string> = {}): string {
  try {
    return JSON.stringify(load(oidc, environment))
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return error.problems.map(({ message }) => message).join('\n')
  }
}

const provider = 'issuer: "https://login.example.com/o/spgw/", client_id: spgw'

it('a secret is read from a file, without its line end', () => {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'login')
  writeFileSync(path, 'a secret canary\n')
  const oidc = load(`{ ${provider}, client_secret: "\${file:${path}}", roles: { platform: owner } }`)
  expect(oidc?.clientSecret?.reveal()).toBe('a secret canary')
  writeFileSync(path, '\n')
  expect(problems(`{ ${provider}, client_secret: "\${file:${path}}", roles: { a: owner } }`)).toBe(
    `the file ${path} cannot be read, or is empty`,
  )
})

it('an identity provider is read with its roles, and its secret from the environment', () => {
  const oidc = load(
    `{ ${provider}, client_secret: "\${LOGIN_SECRET}", roles: { platform: owner, a: admin@alpha viewer, "*": viewer } }`,
    { LOGIN_SECRET: 'a secret canary' },
  )
  expect(oidc).toMatchObject({
    issuer: 'https://login.example.com/o/spgw/',
    clientId: 'spgw',
    name: 'login.example.com',
    scopes: ['openid', 'profile', 'email'],
    roleClaim: 'groups',
    roles: {
      platform: [{ role: 'owner', project: null }],
      a: [
        { role: 'admin', project: 'alpha' },
        { role: 'viewer', project: null },
      ],
      '*': [{ role: 'viewer', project: null }],
    },
  })
  expect(oidc?.clientSecret?.reveal()).toBe('a secret canary')
  expect(JSON.stringify(oidc)).not.toContain('canary')
})

it('an identity provider can stand in the environment alone', () => {
  const oidc = load('', {
    SPGW_CONSOLE_OIDC_ISSUER: 'https://login.example.com',
    SPGW_CONSOLE_OIDC_CLIENT_ID: 'spgw',
    SPGW_CONSOLE_OIDC_SCOPES: 'openid, groups',
    SPGW_CONSOLE_OIDC_ROLES: 'cn=admins=owner, team=viewer@alpha',
  })
  expect(oidc).toMatchObject({
    clientSecret: null,
    scopes: ['openid', 'groups'],
    roles: { 'cn=admins': [{ role: 'owner', project: null }], team: [{ role: 'viewer', project: 'alpha' }] },
  })
})

it('without an issuer there is none', () => {
  expect(load('')).toBeNull()
})

it.each([
  ['{ issuer: "https://login.example.com", roles: { a: owner } }', 'issuer and client_id go together'],
  ['{ client_id: spgw }', 'issuer and client_id go together'],
  [`{ ${provider} }`, 'without a role nobody can sign in'],
  [`{ ${provider}, roles: { a: root } }`, 'expected roles by value'],
  [`{ ${provider}, roles: [owner] }`, 'expected roles by value'],
  [`{ ${provider}, roles: { a: owner }, client_secret: "\${NO_SUCH}" }`, 'the variable NO_SUCH is not set'],
  [
    `{ ${provider}, roles: { a: owner }, client_secret: "\${file:/none}" }`,
    'the file /none cannot be read, or is empty',
  ],
  [`{ ${provider}, roles: { a: owner }, issuers: x }`, 'did you mean console.oidc.issuer?'],
])('%s is refused', (oidc, reason) => {
  expect(problems(oidc)).toContain(reason)
})
