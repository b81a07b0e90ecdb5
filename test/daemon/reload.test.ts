import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { loadSettings } from '../../src/config/load.ts'
import type { Settings } from '../../src/config/settings.ts'
import { Reloader } from '../../src/daemon/reload.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reload-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
})

function read(yaml: string): Settings {
  const file = join(directory, 'config.yaml')
  writeFileSync(file, yaml)
  return loadSettings({ file, environment: {}, flags: { dataDir: directory } })
}

const dayMs = 86_400_000

/** A gateway whose parts write down what they are told, in order. */
function stage(first: string) {
  const heard: string[] = []
  /** What the data plane does with the next change. */
  let accept: () => Promise<void> = async () => {}
  const line = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void heard.push([level, message, ...Object.values(fields ?? {})].join(' | '))
  const reloader = new Reloader(
    {
      control: {
        async change({ gateway }) {
          const act = accept
          accept = async () => {}
          await act()
          heard.push(`threads: ${gateway.bodyLimit} bytes, ${gateway.workers} workers`)
        },
        reportConfiguration: (reason) => void heard.push(`degraded: ${reason ?? 'no'}`),
      },
      consoleListener: {
        change: ({ metricsToken }) => void heard.push(`console: ${metricsToken === null ? 'no' : 'a'} token`),
      },
      cluster: {
        keep: ({ keepMs, keepBodiesMs }) =>
          void heard.push(`cluster: ${keepMs / dayMs} and ${keepBodiesMs / dayMs} days`),
      },
      log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
      changeLog: ({ log }) => void heard.push(`log: ${log.level}`),
    },
    read(first),
    { gateway: null, console: null },
  )
  return {
    heard,
    next: (act: () => Promise<void>) => (accept = act),
    reload: (yaml: string) => reloader.reload(async () => read(yaml)),
    reloader,
  }
}

const megabyte = (count: number, more = '') => `gateway: { body_limit: ${count}MB, workers: 1 }\n${more}`

it('changes every part in one order, says what it did, and what waits for a restart', async () => {
  const { heard, reload } = stage(megabyte(1))
  await reload('gateway: { body_limit: 2MB, workers: 7 }\nconsole: { metrics_token: a-long-token-for-metrics }')
  expect(heard).toEqual([
    // It goes on with the workers that it was started with.
    'threads: 2000000 bytes, 1 workers',
    'console: a token',
    'cluster: 90 and 7 days',
    'degraded: no',
    'info | configuration reloaded | gateway.body_limit, console.metrics_token | gateway.workers',
    'log: info',
  ])
})

it.each<[string, string, string[]]>([
  ['is louder', 'debug', ['log: debug', 'info | configuration reloaded | log.level | nothing', 'log: debug']],
  ['is quieter', 'error', ['info | configuration reloaded | log.level | nothing', 'log: error']],
])('is seen in the log where the log %s afterwards', async (_how, level, lines) => {
  const { heard, reload } = stage(megabyte(1))
  await reload(megabyte(1, `log: { level: ${level} }`))
  expect(heard.filter((line) => /^(?:log|info)/.test(line))).toEqual(lines)
})

it.each<[string, string | null, string]>([
  ['a setting that is none', 'gateway: { body_limt: 2MB }', 'body_limt'],
  ['a value that is none', 'gateway: { body_limit: many }', 'body_limit'],
  ['a file that is no YAML', 'gateway: [', 'config.yaml'],
  ['a certificate for the next start that is not there', 'gateway: { tls: { cert: gone.pem, key: gone.key } }', 'gone'],
  ['a data plane that refuses', null, 'no thread answers'],
])('leaves all as it was for %s, says so, and reloads the next time', async (_what, yaml, reason) => {
  const { heard, reload, next } = stage(megabyte(1))
  if (yaml === null) next(() => Promise.reject(new Error('no thread answers')))
  await reload(yaml ?? megabyte(2))
  expect(heard).toEqual([
    expect.stringMatching(/^error \| configuration not reloaded: the previous one stays in use \| /),
    expect.stringMatching(/^degraded: the new settings are invalid; the previous ones stay in use: /),
  ])
  for (const line of heard) expect(line).toContain(reason)
  heard.length = 0
  await reload(megabyte(2))
  // Against what is in use, and not against what was refused.
  expect(heard).toContain('info | configuration reloaded | gateway.body_limit | nothing')
})

it('says all that is wrong on one line where a part is degraded', async () => {
  const { heard, reload } = stage(megabyte(1))
  await reload('gateway: { body_limt: 2MB, workers: many }')
  const [said = ''] = heard.filter((line) => line.startsWith('degraded'))
  expect(said).toMatch(/workers: .*; .*body_limt/)
  expect(said).not.toContain('\n')
})

it('reloads one after the other, in the order asked, the last of which holds', async () => {
  const { heard, reload, next } = stage(megabyte(1))
  const { promise, resolve } = Promise.withResolvers<void>()
  next(() => promise)
  const all = [2, 3, 4].map((count) => reload(megabyte(count)))
  await Promise.resolve()
  expect(heard).toEqual([])
  resolve()
  await Promise.all(all)
  expect(heard.filter((line) => line.startsWith('threads'))).toEqual(
    [2, 3, 4].map((count) => `threads: ${count}000000 bytes, 1 workers`),
  )
})
