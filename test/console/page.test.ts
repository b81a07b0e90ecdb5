import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppFiles, replyFile } from '../../src/console/app-files.ts'

function makeFiles(): AppFiles {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-page-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const app = join(directory, 'console')
  mkdirSync(join(app, 'assets'), { recursive: true })
  writeFileSync(join(directory, 'secret.js'), 'secret')
  writeFileSync(join(app, 'assets/notes'), 'no type')
  for (const [name, text] of Object.entries({ 'index.html': 'page', 'assets/app-3F2K.js': 'script' })) {
    writeFileSync(join(app, name), text)
    writeFileSync(join(app, `${name}.br`), `${text} in brotli`)
    writeFileSync(join(app, `${name}.gz`), `${text} in gzip`)
  }
  return new AppFiles(app)
}

function get(path: string, accepted = '', method = 'GET') {
  const request = { method, headers: { 'accept-encoding': accepted } } as unknown as IncomingMessage
  return replyFile(request, path, makeFiles())
}

describe('the page', () => {
  it.each(['/', '/requests', '/requests/req_1', '/link/token', '/routing/gpt-4.1', '//', '/..%2f..%2fsecret.js'])(
    'answers at %s',
    (path) => {
      const { status, type, body, headers } = get(path)
      expect([status, type, String(body)]).toEqual([200, 'text/html; charset=utf-8', 'page'])
      expect(headers).toEqual({ 'cache-control': 'no-cache', vary: 'accept-encoding' })
    },
  )

  it.each(['/favicon.ico', '/robots.txt', '/.well-known/security.txt'])('is not what %s asks for', (path) => {
    expect(get(path).status).toBe(404)
  })

  it('can only be read', () => {
    expect(get('/', '', 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('says how it is built, where it was not', () => {
    const request = { method: 'GET', headers: {} } as unknown as IncomingMessage
    expect(replyFile(request, '/', new AppFiles('/nowhere'))).toMatchObject({
      status: 503,
      body: expect.stringContaining('npm run build'),
    })
  })
})

describe('a file of it', () => {
  it('is kept for ever', () => {
    expect(get('/assets/app-3F2K.js')).toMatchObject({
      status: 200,
      type: 'text/javascript; charset=utf-8',
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    })
  })

  it.each([
    ['gzip, deflate, br, zstd', 'br', 'script in brotli'],
    ['gzip', 'gzip', 'script in gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip', 'script in gzip'],
    ['', undefined, 'script'],
    ['brr', undefined, 'script'],
  ])('for %j is sent as %s', (accepted, encoding, text) => {
    const { headers, body } = get('/assets/app-3F2K.js', accepted)
    expect([headers?.['content-encoding'], String(body)]).toEqual([encoding, text])
  })

  it.each([
    '/assets/',
    '/assets/../index.html',
    '/assets/../../secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/assets/..%252f..%252fsecret.js',
    '/assets/..\\..\\secret.js',
    '/assets/app-3F2K.js%00',
    '/assets/app-3F2K.js\0.html',
    '/assets/app-3F2K.js.br',
    '/assets/notes',
    '/assets//app-3F2K.js',
    '/assets/constructor',
  ])('is not %j', (path) => {
    const { status, headers, body } = get(path, 'br')
    expect([status, headers]).toEqual([404, undefined])
    expect(String(body)).not.toMatch(/secret|script|page/)
  })
})
