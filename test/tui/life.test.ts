import { afterEach, describe, expect, it } from 'vitest'
import { sampleRecord } from '../support/sample-record.ts'
import { type Answers, type Driven, drive, provider, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

const status = { traffic: null, degraded: [], gateway_url: 'http://127.0.0.1:8787', console_url: null }
const absent = Object.assign(new Error('No gateway is running at /x/admin.sock.'), { hint: 'Start it: spgw serve' })
const refused = (message: string, hint = '') =>
  Object.assign(new Error(message), { code: 'refused', status: 403, data: { hint } })

/** Answers that a gateway gives while it is there. */
function gatewayThatStops(answers: Answers): { answers: Answers; stop(): void; start(): void } {
  let isThere = true
  const asked = Object.entries(answers).map(([name, answer]) => [
    name,
    (input: object) => {
      if (!isThere) return Promise.reject(absent)
      return typeof answer === 'function' ? answer(input) : answer
    },
  ])
  return {
    answers: Object.fromEntries(asked),
    stop: () => {
      isThere = false
    },
    start: () => {
      isThere = true
    },
  }
}

describe('a gateway that goes away', () => {
  it('leaves what was read in sight, below what to do, and is found again', async () => {
    const gateway = gatewayThatStops({
      'providers.list': [provider],
      watch: () => streamOf([{ configuration: 1, status }]),
    })
    driven = drive(gateway.answers)
    await driven.press('2')
    await driven.see('openai')
    gateway.stop()
    await driven.press('r')
    const shown = await driven.see('Start it: spgw serve')
    expect(shown).toContain('○ not connected, retrying')
    expect(shown).toContain('▸ openai')
    gateway.start()
    await driven.press('r')
    await driven.until(() => !driven.text().includes('Start it'))
    expect(driven.text()).toContain('▸ openai')
  })

  it.each([
    [40, 10],
    [80, 12],
    [80, 24],
  ])('says so in %i×%i too', async (columns, rows) => {
    const gateway = gatewayThatStops({
      'providers.list': Array.from({ length: 50 }, (_, index) => ({ ...provider, id: `prv_${index}` })),
      watch: () => streamOf([{ configuration: 1, status }]),
    })
    driven = drive(gateway.answers)
    await driven.press('2')
    await driven.see('openai')
    gateway.stop()
    await driven.press('r')
    await driven.see('Start it: spgw serve')
    const lines = driven.text(columns, rows).split('\n')
    expect(lines).toHaveLength(rows)
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain('Start it: spgw serve')
  })

  it('does not lose what was being written', async () => {
    const gateway = gatewayThatStops({ 'keys.list': [], 'keys.create': {} })
    driven = drive(gateway.answers)
    await driven.press('4', 'a', '=half-written')
    gateway.stop()
    await driven.press('ctrl-s')
    await driven.see('not connected')
    gateway.start()
    await driven.press('escape', 'escape', 'r')
    await driven.until(() => driven.session.link.state.kind === 'live')
    expect(driven.text()).toContain('No keys yet.')
  })
})

describe('a stream that was started', () => {
  function replay() {
    const { promise, resolve } = Promise.withResolvers<void>()
    let wasEnded = false
    async function* rows() {
      try {
        yield { kind: 'part', text: 'first ' }
        await promise
        yield { kind: 'part', text: 'second' }
      } finally {
        wasEnded = true
      }
    }
    return { rows, resolve, wasEnded: () => wasEnded }
  }

  async function startReplay(rows: () => AsyncIterable<unknown>): Promise<void> {
    driven = drive({
      'requests.list': [sampleRecord({ model: 'kept' })],
      'requests.tail': () => streamOf([]),
      'requests.replay': rows,
    })
    await driven.press('5')
    await driven.see('kept')
    await driven.press('R', 'ctrl-s')
    await driven.see('first')
  }

  it('goes on while help is read', async () => {
    const { rows, resolve } = replay()
    await startReplay(rows)
    await driven.press('?')
    await driven.see('In a form')
    await driven.press('escape')
    resolve()
    const shown = await driven.see('first second')
    expect(shown).toContain('Finished.')
  })

  it('says that it runs, and what went wrong', async () => {
    const fail = Promise.withResolvers<void>()
    async function* rows() {
      yield { kind: 'part', text: 'first' }
      await fail.promise
    }
    await startReplay(rows)
    expect(driven.text()).toContain('Running…')
    fail.reject(refused('The provider broke off.', 'Try again.'))
    await driven.see('The provider broke off. Try again.')
  })

  it.each([
    ['escape', ['escape']],
    ['another tab', ['2']],
    ['a command', [':', '=keys', 'enter']],
  ])('ends when it is left by %s', async (_how, keys) => {
    let signal: AbortSignal | undefined
    driven = drive({
      'requests.list': [sampleRecord({ model: 'kept' })],
      'requests.tail': () => streamOf([]),
    })
    const call = driven.session.link.call.bind(driven.session.link)
    driven.session.link.call = (operation, input, given) => {
      if (operation.path.join('.') === 'requests.replay') signal = given
      return call(operation, input, given)
    }
    await driven.press('5')
    await driven.see('kept')
    await driven.press('R', 'ctrl-s')
    await driven.see('Running…')
    await driven.press(...keys)
    expect(signal?.aborted).toBe(true)
  })
})

describe('a thing that is looked at', () => {
  it('is left when it was removed elsewhere', async () => {
    let rows = [provider, { ...provider, id: 'prv_2', name: 'azure' }]
    driven = drive({ 'providers.list': () => rows, 'providers.show': provider })
    await driven.press('2')
    await driven.see('▸ openai')
    await driven.press('enter')
    await driven.see('https://api.openai.com')
    rows = rows.slice(1)
    driven.session.refresh()
    await driven.until(() => !driven.text().includes('https://api.openai.com'))
    expect(driven.text()).toContain('▸ azure')
  })

  it('says that it is old when it cannot be read any more', async () => {
    let mayRead = true
    const show = () => (mayRead ? provider : Promise.reject(refused('You may not read this any more.')))
    driven = drive({ 'providers.list': [provider], 'providers.show': show })
    await driven.press('2')
    await driven.see('▸ openai')
    await driven.press('enter')
    await driven.see('https://api.openai.com')
    mayRead = false
    driven.session.refresh()
    const shown = await driven.see('Out of date: You may not read this any more.')
    expect(shown).toContain('https://api.openai.com')
  })
})

describe('what is said at the foot', () => {
  const long = 'The provider is a target of the routes gpt-4o, gpt-4o-mini and claude-sonnet in default/production.'

  it('is whole where the terminal is narrow, and goes with the next press', async () => {
    driven = drive({
      'providers.list': [provider],
      'providers.activate': () => Promise.reject(refused(long, 'Remove them first.')),
      'providers.check': () => Promise.reject(refused(long, 'Remove them first.')),
    })
    await driven.press('2')
    await driven.see('▸ openai')
    await driven.press('c')
    await driven.see('Remove them first.')
    const lines = driven.text(60, 20).split('\n')
    expect(lines).toHaveLength(20)
    expect(lines.slice(-3).join(' ').replace(/\s+/g, ' ')).toContain(`${long} Remove them first.`)
    await driven.press('k')
    expect(driven.text(60, 20)).not.toContain('Remove them')
  })

  it('takes no more than three lines', async () => {
    driven = drive({
      'providers.list': [provider],
      'providers.check': () => Promise.reject(refused('word '.repeat(500))),
    })
    await driven.press('2')
    await driven.see('▸ openai')
    await driven.press('c')
    await driven.see('word word')
    const lines = driven.text(60, 20).split('\n')
    expect(lines).toHaveLength(20)
    expect(lines.filter((line) => line.includes('word'))).toHaveLength(3)
  })

  it('names the key that quits, and no letter where letters are text', async () => {
    driven = drive()
    await driven.press('4')
    expect(driven.text().split('\n').at(-1)).toContain('q quit')
    await driven.press('a')
    expect(driven.text().split('\n').at(-1)).not.toContain('q quit')
  })
})

describe('a secret', () => {
  const created = { id: 'key_1', name: 'ci', key: 'sp_live_abc', project: 'default', environment: 'production' }

  async function makeKey(): Promise<void> {
    driven = drive({ 'keys.create': created, status })
    await driven.press('4', 'a', '=ci', 'ctrl-s')
    await driven.see('sp_live_abc')
  }

  it('needs two presses to be left, unless it was copied', async () => {
    await makeKey()
    await driven.press('escape')
    expect(await driven.see('Press esc again to close.')).toContain('sp_live_abc')
    await driven.press('escape')
    expect(driven.text()).not.toContain('sp_live_abc')
  })

  it('is not left by letters that are commands elsewhere', async () => {
    await makeKey()
    await driven.press('2', 's', ':', '?', '/')
    expect(driven.text()).toContain('sp_live_abc')
  })

  it('is gone for good: nothing leads back to it', async () => {
    await makeKey()
    await driven.press('c', 'escape')
    for (const tab of ['1', '2', '3', '4', '5', '6']) {
      await driven.press(tab)
      expect(driven.text(200, 60)).not.toContain('sp_live_abc')
    }
  })

  it('is cut over lines, never cut off, where the terminal is narrow', async () => {
    const key = `sp_live_${'x'.repeat(90)}END`
    driven = drive({ 'keys.create': { ...created, key }, status })
    await driven.press('4', 'a', '=ci', 'ctrl-s')
    await driven.see('END')
    const lines = driven
      .text(40, 20)
      .split('\n')
      .map((line) => line.trim())
    const start = lines.findIndex((line) => line.startsWith('sp_live_'))
    expect(lines.slice(start, start + 3).join('')).toBe(key)
  })
})

describe('a file that the gateway sends', () => {
  async function goToExport(answers: Answers): Promise<void> {
    driven = drive(answers)
    await driven.press(':', '=requests export', 'enter')
    await driven.see('▸ File')
  }

  it('is written where the form says, and what was written is shown', async () => {
    await goToExport({})
    expect(driven.text()).toContain('Path on this machine')
    await driven.press('=/tmp/out.jsonl', 'ctrl-s')
    await driven.see('/tmp/file')
  })

  it('is kept to the scope', async () => {
    driven = drive({}, { project: 'search', environment: 'staging' })
    await driven.press(':', '=requests export', 'enter')
    const form = await driven.see('▸ File')
    expect(form).not.toMatch(/Project/)
  })
})
