import { describe, expect, it } from 'vitest'
import { logLevels } from '../../src/config/settings.ts'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { createLog } from '../../src/daemon/log.ts'

function openLog(...settings: Parameters<typeof createLog>[0][]) {
  const lines: string[] = []
  const [first = { level: 'info', format: 'json' } as const] = settings
  return { lines, log: createLog(first, (line) => lines.push(line)) }
}

describe('the log', () => {
  it.each(logLevels)('at the level %s has that and what is graver', (level) => {
    const { lines, log } = openLog({ level, format: 'json' })
    for (const each of logLevels) log[each](each)
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(logLevels.slice(logLevels.indexOf(level)))
  })

  it('is one line of JSON for machines, whatever a value holds', () => {
    const { lines, log } = openLog()
    log.warn('a "quoted"\nmessage', { reason: 'two\nlines\u001b[31m', count: 3, none: null })
    expect(lines).toHaveLength(1)
    expect(lines[0]?.trimEnd()).not.toContain('\n')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      message: 'a "quoted"\nmessage',
      reason: 'two\nlines\u001b[31m',
      count: 3,
      none: null,
    })
  })

  it.each(['json', 'text'] as const)('holds no gateway key, as %s', (format) => {
    const { lines, log } = openLog({ level: 'info', format })
    const key = mintGatewayKey()
    log.info(`with ${key}`, { header: `Bearer ${key}` })
    expect(lines.join()).not.toContain(key)
    expect(lines.join()).toContain('sp_live_')
  })

  it('follows a change of its settings from the next line on', () => {
    const { lines, log } = openLog({ level: 'error', format: 'json' })
    log.info('before')
    log.change({ level: 'debug', format: 'text' })
    log.debug('after', { part: 'store' })
    expect(lines).toHaveLength(1)
    expect(() => JSON.parse(lines[0] ?? '')).toThrow()
    expect(lines[0]).toContain('after')
  })

  it('cannot be made to write a line of somebody else in text form', () => {
    const { lines, log } = openLog({ level: 'info', format: 'text' })
    log.warn('provider is failing', { reason: 'x\nerror forged line\u001b[2J' })
    const [line = ''] = lines
    const [, ...more] = line.trimEnd().split('\n')
    for (const each of more) expect(each).toMatch(/^ {4}/)
    expect(line).not.toContain('\u001b[2J')
  })
})
