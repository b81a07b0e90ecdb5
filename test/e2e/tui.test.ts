import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasProgram } from '../support/executable.ts'
import { gatewayCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { Pane, type PaneOptions } from '../support/pane.ts'

/** The packaged executable in a terminal, driven by keys alone. */
const spgw = gatewayCommand().command
let gateway: TestGateway
let pane: Pane | undefined
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tui-'))
  gateway = await startGateway()
  await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
  await gateway.addRoute('demo', ['demo'])
})
afterAll(async () => {
  await gateway.stop()
  await rm(directory, { recursive: true, force: true })
})
afterEach(async () => {
  await pane?.close()
  pane = undefined
})

async function openTui(options: PaneOptions = {}, dataDirectory = gateway.dataDirectory): Promise<Pane> {
  pane = await Pane.open(options)
  await pane.run(`echo BEFORE; ${spgw} tui --data-dir ${dataDirectory}; echo LEFT $?`)
  await pane.see('[1 Overview]')
  return pane
}

async function request(key: string, model: string): Promise<string> {
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })
  await answer.text()
  return answer.headers.get('x-sp-request-id') ?? ''
}

describe.skipIf(!hasProgram('tmux'))('spgw tui (needs tmux)', () => {
  it('has an overview, four areas, and everything else behind one more tab', async () => {
    const tui = await openTui()
    await tui.see('Gateway', '● healthy', gateway.baseUrl, 'Last hour')
    await tui.press('2')
    await tui.see('[2 Providers]', /▸ demo +demo +ready/)
    await tui.press('3')
    await tui.see('[3 Routing]', /▸ demo +demo +priority/)
    await tui.press('4')
    await tui.see('[4 Keys]', 'No keys yet.')
    await tui.press('Tab')
    await tui.see('[5 Requests]', '● live')
    await tui.press('6')
    await tui.see('[6 More]', 'Projects', 'Audit', 'Seal')
    await tui.press('?')
    await tui.see('More › Help', 'menu of all actions')
    await tui.press('G')
    await tui.see('suspend; fg resumes')
  })

  it('adds, changes and removes a route', async () => {
    const tui = await openTui()
    await tui.press('3', 'a')
    await tui.see('Add a route from a model name or pattern to providers.')
    await tui.type('gpt-*')
    await tui.press('Down', 'Down', 'Down')
    // The arrows choose among names once they are known.
    await tui.see(/▸ Provider +‹ not set ›/)
    await tui.press('Right', 'C-s')
    await tui.see('Added route gpt-*', /gpt-\* +demo/)
    expect(await gateway.admin.routes.list({})).toMatchObject([{ model: 'demo' }, { model: 'gpt-*', retries: 1 }])
    await tui.press('G', 'e')
    await tui.see('Change a route.')
    for (let field = 0; field < 4; field++) await tui.press('Down')
    // Ctrl-U and what follows in one piece, as a quick hand or a slow line sends them.
    await tui.type('\u00153')
    await tui.see(/▸ Retries +3/)
    await tui.press('C-s')
    await tui.see('Changed route gpt-*')
    expect(await gateway.admin.routes.show({ model: 'gpt-*' })).toMatchObject({ retries: 3 })
    await tui.press('x')
    await tui.see(
      'Remove the route for gpt-*? Requests for it will fail with model_not_found.',
      'Type gpt-* to confirm:',
    )
    await tui.type('gpt-')
    await tui.press('Enter')
    await tui.see('That does not match gpt-*. Nothing was changed.')
    await tui.type('*')
    await tui.press('Enter')
    await tui.see('Removed route gpt-*')
    await tui.seeNoMore(/gpt-\* +demo/)
    expect(await gateway.admin.routes.list({})).toMatchObject([{ model: 'demo' }])
    expect(await gateway.admin.audit.list({ limit: 1 })).toMatchObject([{ operation: 'routes.remove', surface: 'tui' }])
  })

  it('makes a key that is shown once, and ends it', async () => {
    const tui = await openTui()
    await tui.press('4', 'a')
    await tui.see('▸ Name *')
    await tui.type('tui-key')
    await tui.press('C-s')
    const shown = await tui.see('Shown only once. Project default, environment production.', /curl http/)
    const key = /sp_live_\w+/.exec(shown)?.[0] ?? ''
    await request(key, 'demo')
    await tui.press('c')
    await tui.see('Copied it, if the terminal supports that (OSC 52).')
    await tui.press('Escape')
    await tui.see(/▸ tui-key +\w{4} +active/)
    expect(await tui.text()).not.toContain(key)
    await tui.press('m')
    await tui.see('revoke', 'Revoke a key')
    await choose(tui, 'revoke')
    await tui.see(
      'Revoke key tui-key? Applications that use it are rejected from now on.',
      '[ ] Also stop requests in progress',
    )
    await tui.type('tui-key')
    await tui.press('Enter')
    await tui.see('Revoked key tui-key', /tui-key +\w{4} +revoked/)
    await tui.press('x')
    await tui.see('Remove key tui-key?')
    await tui.type('tui-key')
    await tui.press('Enter')
    await tui.see('No keys yet.')
  })

  it('shows requests as they end, filters them, and tells what happened to one', async () => {
    const { key } = await gateway.createKey('requests')
    const tui = await openTui()
    await tui.press('5')
    await tui.see('● live')
    const good = await request(key, 'demo')
    await tui.see(/▸ .* 200 +demo +demo +requests/)
    // A model may be called anything; what moves a cursor or clears a screen is shown, not obeyed.
    const bad = await request(key, '\u001b[2J\u001b[31mevil')
    await tui.see(/▸ .* 404 model_not_found +\\u001b\[2J\\u001b/)
    await tui.press('/')
    await tui.type('evil')
    await tui.see('/ evil', '1 of ')
    await tui.press('Enter', 'Enter')
    await tui.see(bad, 'Timeline', 'What happened', 'Ended with 404 model_not_found')
    await tui.press('Escape')
    await tui.see('1 of ')
    await tui.press('Escape')
    await tui.seeNoMore('1 of ')
    await tui.press('/')
    await tui.type(good)
    await tui.press('Enter')
    await tui.see(good, 'Tried demo, which responded after')
    await tui.press('G')
    await tui.see('Tokens and cost')
    await gateway.admin.keys.remove({ key: 'requests' })
  })

  it('keeps its lines where the terminal takes signs for wider than they are', async () => {
    const { key } = await gateway.createKey('wide')
    // tmux gives a skin tone two columns of its own.
    for (let count = 0; count < 3; count++) await request(key, '👍🏽'.repeat(8))
    const tui = await openTui()
    await tui.press('5')
    await tui.see(/404 .*👍/)
    await tui.press('Down')
    await tui.press('6')
    const shown = await tui.see('[6 More]', 'Projects')
    expect(shown.split('\n')[0]).toContain('? help')
    expect(shown).not.toContain('live')
    await gateway.admin.keys.remove({ key: 'wide' })
  })

  it('covers everything at first, and only the scope that is chosen on every screen', async () => {
    await gateway.admin.projects.add({ name: 'search' })
    await gateway.admin.environments.add({ name: 'staging', project: 'search' })
    await gateway.addRoute('demo', ['demo'], { project: 'search', environment: 'staging' })
    const ours = await gateway.createKey('ours', { project: 'search', environment: 'staging' })
    const theirs = await gateway.createKey('theirs')
    await request(ours.key, 'demo')
    await request(theirs.key, 'demo')
    const tui = await openTui()
    await tui.see('spgw  all projects')
    await tui.press('5')
    await tui.see(/200 .* ours/, /200 .* theirs/)
    await tui.type(':scope search/staging')
    await tui.press('Enter')
    await tui.see('spgw  search/staging', '[5 Requests]', /200 .* ours/)
    await tui.seeNoMore('theirs')
    for (const [key, covered] of [
      ['1', 'Last hour, search/staging'],
      ['2', 'usable in search'],
      ['3', 'search/staging  ·  1 route'],
      ['4', 'search/staging  ·  1 key'],
    ] as const) {
      await tui.press(key)
      await tui.see(covered)
      expect(await tui.text()).not.toContain('theirs')
    }
    for (const project of [{ project: 'search', environment: 'staging' }, {}])
      await gateway.admin.keys.remove({ key: 'project' in project ? 'ours' : 'theirs', ...project })
    await gateway.admin.routes.remove({ model: 'demo', project: 'search', environment: 'staging' })
  })

  it('goes anywhere by name, and acts on a row with one key', async () => {
    const tui = await openTui()
    await tui.type(':providers sh')
    await tui.press('Tab')
    await tui.type('demo')
    await tui.press('Enter')
    await tui.see(/^demo {2}● /m, 'Last hour', 'Used by routes', /demo +default\/production +its only target/)
    await tui.press('c')
    await tui.see(/OK +yes/i)
    await tui.type(':routes')
    await tui.press('Enter')
    await tui.see('[3 Routing]', '▸ demo')
    await tui.press('Enter')
    await tui.see('● enabled', /└─ 1 {2}demo/)
    await tui.press('o')
    await tui.see('Disable demo?', 'Enter to confirm.')
    await tui.press('Enter')
    await tui.see('Disabled route demo')
    await tui.press('Down')
    await tui.see('○ disabled')
    await tui.press('o')
    await tui.see('Enabled route demo')
    await tui.type(':keyz')
    await tui.press('Enter')
    await tui.see('There is no command keyz. Did you mean keys?')
    await tui.type(':q')
    await tui.press('Enter')
    await expectRestored(tui, 'LEFT 0')
  })

  it('follows the size of the terminal', async () => {
    const tui = await openTui()
    await tui.press('2')
    await tui.see('▸ demo')
    await tui.press('Enter')
    await tui.see('Used by routes')
    await tui.resize(200, 50)
    await tui.see(/▸ demo +demo +ready .* │/, '│ Used by routes')
    await tui.resize(60, 20)
    const narrow = await tui.see('[2 Providers]', 'Used by routes')
    expect(narrow).not.toContain('│')
    await tui.resize(30, 8)
    await tui.see('The terminal is too small:')
    await tui.resize(80, 24)
    const whole = await tui.see('Used by routes', '? help')
    expect(whole.trimEnd().split('\n')).toHaveLength(24)
  })

  it.each([
    ['q', async (tui: Pane) => tui.press('q'), 'LEFT 0'],
    ['Ctrl-C', async (tui: Pane) => tui.press('C-c'), 'LEFT 0'],
  ])('leaves the terminal as it was: %s', async (_how, leave, left) => {
    const tui = await openTui()
    expect(await tui.hasOtherScreen()).toBe(true)
    await leave(tui)
    await expectRestored(tui, left)
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ])('leaves the terminal as it was: %s', async (signal, status) => {
    const tui = await openTui()
    await tui.signal(signal)
    await expectRestored(tui, `LEFT ${status}`)
  })

  it('leaves the terminal as it was on a fault that nobody caught, and says it', async () => {
    const planted = join(directory, 'planted.cjs')
    await writeFile(planted, "process.on('SIGUSR2', () => { throw new Error('planted fault') })\n")
    const tui = await openTui({ environment: { NODE_OPTIONS: `--require=${planted}` } })
    await tui.signal('SIGUSR2')
    await expectRestored(tui, 'LEFT 1')
    expect(await tui.text()).toContain('spgw: planted fault')
  })

  it('stops for the shell and comes back', async () => {
    const tui = await openTui()
    await tui.press('4')
    await tui.see('[4 Keys]')
    await tui.press('C-z')
    await tui.see('Stopped')
    expect(await tui.hasOtherScreen()).toBe(false)
    expect(await tui.wraps()).toBe(true)
    await tui.run('echo in the shell')
    await tui.see(/^in the shell/m)
    await tui.run('fg; echo BACK $?')
    await tui.see('[4 Keys]', '? help')
    expect(await tui.wraps()).toBe(false)
    await tui.press('q')
    await expectRestored(tui, 'BACK 0')
  })

  it('says what to do when no gateway runs, and goes on when one comes', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tui-later-'))
    const tui = await openTui({}, dataDirectory)
    await tui.see('○ not connected, retrying', 'No gateway is running', 'Start it: spgw serve')
    const later = await startGateway({ dataDirectory })
    await tui.see('● healthy', later.baseUrl)
    await later.stop()
    await tui.see('Start it: spgw serve', later.baseUrl)
    await rm(dataDirectory, { recursive: true, force: true })
  })

  it('shows a gateway elsewhere, and what the token may not', async () => {
    const { token } = await gateway.admin.tokens.create({ name: 'tui-viewer', role: 'viewer' })
    pane = await Pane.open({ environment: { SPGW_TOKEN: token } })
    await pane.run(`${spgw} tui --remote ${gateway.consoleUrl}`)
    await pane.see('● healthy', gateway.baseUrl)
    await pane.press('2')
    await pane.see(/▸ demo +demo +ready/)
    await pane.press('x')
    await pane.see('Remove provider demo')
    await pane.type('demo')
    await pane.press('Enter')
    await pane.see(/viewer|role/)
    expect(await gateway.admin.providers.list({})).toHaveLength(1)
  })

  it('does without colour, and without anything but ASCII', async () => {
    const tui = await openTui({ environment: { NO_COLOR: '1', TERM: 'linux', LANG: 'C' } })
    await tui.press('2')
    await tui.see(/> demo +demo +ready/)
    expect(await tui.painted()).toMatch(/^[ -~\n]*$/)
    await tui.close()
    const coloured = await openTui()
    await coloured.press('2')
    await coloured.see(/▸ demo/)
    expect(await coloured.painted()).toContain('\u001b[1m')
  })

  it('is refused where there is no terminal', async () => {
    const { code, stderr } = await gateway.spgw(['tui'])
    expect(stderr).toContain('spgw tui needs a terminal.')
    expect(code).toBe(2)
  })
})

describe.skipIf(!hasProgram('tmux'))('a command on a terminal that tells no size (needs tmux)', () => {
  it('shows its table as on one of 80 columns', async () => {
    pane = await Pane.open()
    await pane.run(`stty cols 0 rows 0; ${spgw} routes list --data-dir ${gateway.dataDirectory}; stty cols 80 rows 24`)
    await pane.see(/^demo +demo +priority/m)
  })
})

/** Goes down a menu to the entry. */
async function choose(tui: Pane, label: string): Promise<void> {
  const lines = (await tui.see(`  ${label} `)).split('\n')
  const marked = lines.findIndex((line) => line.startsWith('▸ '))
  const wanted = lines.findIndex((line) => line.startsWith(`  ${label} `))
  for (let step = marked; step < wanted; step++) await tui.press('Down')
  await tui.see(`▸ ${label} `)
  await tui.press('Enter')
}

async function expectRestored(tui: Pane, left: string): Promise<void> {
  await tui.see('BEFORE', left)
  expect(await tui.hasOtherScreen()).toBe(false)
  expect(await tui.wraps()).toBe(true)
  await tui.run('stty -a | grep -oE " -?(icanon|echo) "; echo CHECKED')
  const text = await tui.see(/^CHECKED/m)
  expect(text).toMatch(/^ icanon/m)
  expect(text).toMatch(/^ echo/m)
}
