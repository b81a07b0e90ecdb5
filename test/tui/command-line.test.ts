import { afterEach, describe, expect, it } from 'vitest'
import { sampleRecord } from '../support/sample-record.ts'
import { type Driven, drive, provider, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

const key = (project: string, environment: string, name: string) => ({
  id: `key_${project}_${name}`,
  name,
  project,
  environment,
  last_four: 'a1b2',
  state: 'active',
})
const foot = (columns = 100) => driven.text(columns, 30).split('\n').at(-1) ?? ''
const inputOf = (path: string) => driven.calls.findLast((call) => call.path === path)?.input
const command = (text: string) => driven.press(':', `=${text}`, 'enter')

describe('the command line', () => {
  it.each([
    ['keys', '[4 Keys]'],
    ['routing', '[3 Routing]'],
    ['routes', '[3 Routing]'],
    ['over', '[1 Overview]'],
    ['policies', 'More › Policies'],
    ['audit', 'More › Audit'],
    ['help', 'Overview › Help'],
  ])('goes to a place: :%s', async (text, shown) => {
    driven = drive()
    await command(text)
    await driven.see(shown)
  })

  it('leads out of whatever was open', async () => {
    driven = drive({ 'providers.list': [provider] })
    await driven.press('2', 'm')
    await command('keys')
    expect(await driven.see('[4 Keys]')).not.toContain('›')
  })

  it('shows a thing by its name, with what can be done with it', async () => {
    driven = drive({ 'providers.list': [provider], 'providers.show': provider })
    await command('providers show openai')
    await driven.see('https://api.openai.com/v1')
    expect(inputOf('providers.show')).toEqual({ name: provider.id })
    expect(foot(200)).toContain('c check')
  })

  it('runs what needs nothing more, and says what came of it', async () => {
    driven = drive({
      'providers.list': [provider],
      'providers.check': { provider: 'openai', ok: true, message: 'Works.' },
    })
    await command('providers check openai')
    await driven.see('Works.')
    expect(inputOf('providers.check')).toEqual({ name: provider.id })
  })

  it('asks for what is missing', async () => {
    driven = drive()
    await command('routes explain gpt-4o')
    const form = await driven.see('Explain what would happen to a request')
    expect(form).toMatch(/Project +default/)
    await driven.press('ctrl-s')
    await driven.until(() => inputOf('routes.explain') !== undefined)
    expect(inputOf('routes.explain')).toMatchObject({ model: 'gpt-4o' })
  })

  it('heads a form by its whole name where nothing else says what it is about', async () => {
    driven = drive()
    await command('environments add')
    await driven.see('› environments add')
  })

  it('asks before what cannot be undone, with the facts of the thing', async () => {
    driven = drive({ 'keys.list': [key('default', 'production', 'web')], 'keys.revoke': {} })
    await command('keys revoke web')
    const shown = await driven.see('Revoke key web?')
    expect(shown).toContain('Type web to confirm')
    expect(inputOf('keys.revoke')).toBeUndefined()
  })

  it('does not choose between two things of one name', async () => {
    driven = drive({ 'keys.list': [key('default', 'production', 'web'), key('search', 'staging', 'web')] })
    await command('keys revoke web')
    const shown = await driven.see('2 are called web')
    expect(shown).toContain('default/production, search/staging')
    expect(shown).not.toContain('Revoke key')
  })

  it('finds a thing in the scope that is shown', async () => {
    const mine = key('search', 'staging', 'web')
    driven = drive(
      { 'keys.list': [key('default', 'production', 'web'), mine], 'keys.show': mine },
      { project: 'search', environment: null },
    )
    await command('keys show web')
    await driven.until(() => inputOf('keys.show') !== undefined)
    expect(inputOf('keys.show')).toEqual({ key: 'key_search_web', project: 'search', environment: 'staging' })
  })

  it('opens a request by its ID', async () => {
    const record = sampleRecord({ model: 'the-one' })
    driven = drive({ 'requests.show': record })
    await command(`requests show ${record.id}`)
    await driven.see('the-one')
    expect(inputOf('requests.show')).toEqual({ id: record.id })
  })

  it.each([
    ['scope search/staging', 'spgw  search/staging'],
    ['scope search', 'spgw  search'],
    ['scope all', 'spgw  all projects'],
  ])('chooses the scope: :%s', async (text, shown) => {
    driven = drive({}, { project: 'web', environment: 'test' })
    await command(text)
    expect(driven.text()).toContain(shown)
  })

  it.each([
    ['keyz', 'There is no command keyz. Did you mean keys?'],
    ['providers lst', 'There is no command providers lst. Did you mean providers list?'],
    ['xyzzy', 'There is no command xyzzy.'],
    ['import litellm config.yaml', 'import is a command for a shell: spgw import --help'],
    ['keys r', 'keys r may be keys rotate, keys revoke, keys remove.'],
    ['providers check one two', 'providers check takes at most name.'],
    ['requests stats --by key -p search', 'Leave flags out here: a form asks for them.'],
    ['scope a/b/c', 'Write :scope all'],
  ])('says what is wrong with :%s', async (text, said) => {
    driven = drive()
    await command(text)
    expect(foot(160)).toContain(said)
    expect(driven.calls.filter(({ path }) => path.startsWith('keys.r'))).toEqual([])
  })

  it('completes places, commands and names', async () => {
    driven = drive({ 'providers.list': [provider, { ...provider, id: 'prv_2', name: 'azure' }] })
    await driven.press(':', '=prov', 'tab')
    expect(foot()).toMatch(/^:providers/)
    await driven.press('ctrl-u', '=providers che', 'tab')
    expect(foot()).toMatch(/^:providers check /)
    await driven.until(() => foot().includes('openai  azure'))
    await driven.press('=op', 'tab')
    expect(foot()).toMatch(/^:providers check openai/)
  })

  it('says what a command takes while it is written', async () => {
    driven = drive()
    await driven.press(':')
    expect(foot()).toContain('a place, or a command')
    await driven.press('=keys rot')
    expect(foot()).toContain('keys rotate')
    await driven.press('=ate ')
    expect(foot()).toContain('KEY  Give a key a new secret')
    await driven.press('ctrl-u', '=zzz')
    expect(foot()).toContain('no such command')
  })

  it('is left with escape or one backspace too many, and keeps what was written', async () => {
    driven = drive()
    await driven.press(':', '=keys', 'escape')
    expect(foot()).toContain('q quit')
    await driven.press(':', 'backspace')
    expect(foot()).toContain('q quit')
    await command('keys')
    await driven.press(':', 'up')
    expect(foot()).toMatch(/^:keys/)
    await driven.press('down')
    expect(foot()).not.toMatch(/^:keys/)
  })

  it('gives back what was being written after a look at older lines', async () => {
    driven = drive()
    await command('keys')
    await command('routes')
    await driven.press(':', '=prov', 'down')
    expect(foot()).toMatch(/^:prov/)
    await driven.press('up', 'up', 'up')
    expect(foot()).toMatch(/^:keys/)
    await driven.press('down', 'down')
    expect(foot()).toMatch(/^:prov/)
  })

  it('takes a colon as text where text is written', async () => {
    driven = drive()
    await driven.press('3', 'a', '=gpt', 'down', 'down', 'down', 'down', 'down', 'down', '=openai:gpt')
    expect(driven.text()).toContain('openai:gpt')
    expect(foot()).not.toMatch(/^:/)
  })

  it.each([40, 60, 80, 200])('fits into %i columns', async (columns) => {
    driven = drive({ 'providers.list': [provider] })
    for (const text of ['', 'p', 'providers check ', 'x'.repeat(300)]) {
      await driven.press(':', `=${text}`)
      expect([...foot(columns)].length).toBeLessThanOrEqual(columns)
      await driven.press('escape')
    }
  })
})

describe('single keys on a row', () => {
  const route = {
    id: 'rte_1',
    model: 'gpt',
    project: 'default',
    environment: 'production',
    enabled: true,
    targets: [],
    strategy: 'priority',
  }
  const web = key('default', 'production', 'web')
  const answers = { 'providers.list': [provider], 'routes.list': [route], 'keys.list': [web] }

  it.each([
    ['2', 'c', 'providers.check', { name: provider.id }],
    ['2', 'h', 'providers.history', { name: provider.id }],
    ['3', 't', 'routes.test', { model: 'gpt', project: 'default', environment: 'production' }],
  ])('on tab %s, %s asks for %s', async (tab, press, path, input) => {
    driven = drive(answers)
    await driven.press(tab)
    await driven.see('▸')
    await driven.press(press, 'ctrl-s')
    await driven.until(() => inputOf(path) !== undefined)
    expect(inputOf(path)).toMatchObject(input)
  })

  it.each([
    ['4', 'n', 'Give a key a new secret'],
    ['4', 'v', 'Revoke key web?'],
    ['3', 'w', 'Explain what would happen'],
    ['2', 'x', 'Remove provider openai'],
  ])('on tab %s, %s opens "%s"', async (tab, press, shown) => {
    driven = drive(answers)
    await driven.press(tab)
    await driven.see('▸')
    await driven.press(press)
    await driven.see(shown)
  })

  it('show the requests of the row, and give all of them back', async () => {
    driven = drive({
      ...answers,
      'requests.list': [sampleRecord({ model: 'of-web' })],
      'requests.tail': () => streamOf([]),
    })
    await driven.press('4')
    await driven.see('▸ web')
    await driven.press('l')
    const shown = await driven.see('of-web')
    expect(shown).toContain('[5 Requests]')
    expect(shown).toContain('filters: key web')
    expect(inputOf('requests.tail')).toEqual({ key: 'key_default_web' })
    expect(inputOf('requests.list')).toEqual({ key: 'key_default_web', limit: 200 })
    await driven.press('escape')
    await driven.until(() => !driven.text().includes('filters:'))
    expect(inputOf('requests.tail')).toEqual({})
  })

  it('name the route and where it stands', async () => {
    driven = drive(answers)
    await driven.press('3')
    await driven.see('▸ gpt')
    await driven.press('l')
    expect(inputOf('requests.tail')).toEqual({ project: 'default', environment: 'production', route: 'gpt' })
  })

  it('switch off what is on, and on what is off', async () => {
    let active = true
    driven = drive({
      'providers.list': () => [{ ...provider, active }],
      'providers.deactivate': () => {
        active = false
        return { ...provider, active }
      },
      'providers.activate': () => {
        active = true
        return { ...provider, active }
      },
    })
    await driven.press('2')
    await driven.see('▸ openai')
    expect(foot(200)).toContain('o deactivate')
    await driven.press('o')
    const question = await driven.see('Deactivate openai?')
    expect(question).toMatch(/Routes +4/)
    expect(question).toContain('Enter to confirm. Undo with o')
    expect(inputOf('providers.deactivate')).toBeUndefined()
    await driven.press('enter')
    await driven.see('Deactivated provider openai')
    await driven.press('k')
    expect(foot(200)).toContain('o activate')
    await driven.press('o')
    await driven.see('Activated provider openai')
  })

  it('are all in the help of the screen', async () => {
    driven = drive(answers)
    await driven.press('4')
    await driven.see('▸ web')
    await driven.press('?')
    const help = driven.text(100, 60)
    for (const line of [/n +rotate/, /v +revoke/, /u +usage/, /l +requests/, /e +edit/]) expect(help).toMatch(line)
  })

  it('do nothing where there is no row', async () => {
    driven = drive()
    await driven.press('2')
    await driven.see('No providers yet.')
    const before = driven.calls.length
    await driven.press('c', 'o', 'h', 'l', 'x', 'e', 'y')
    expect(driven.text()).toContain('No providers yet.')
    expect(driven.calls.slice(before)).toEqual([])
  })
})
