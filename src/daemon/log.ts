import { styleText } from 'node:util'
import type { LogFormat, LogLevel } from '../config/settings.ts'
import { logLevels } from '../config/settings.ts'

export type Log = Record<LogLevel, (message: string, fields?: Record<string, string | number | boolean | null>) => void>

/** Lines on standard error: JSON for machines, text for a terminal. Whoever calls it passes no secret: those are `Secret`. */
export function createLog(level: LogLevel, format: LogFormat, write: (line: string) => void): Log {
  const render = format === 'json' ? renderJson : renderText
  const from = logLevels.indexOf(level)
  const line =
    (at: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (logLevels.indexOf(at) >= from) write(`${render(at, message, fields)}\n`)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

function renderJson(level: LogLevel, message: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })
}

const colours = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const

function renderText(level: LogLevel, message: string, fields: Record<string, unknown>): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${styleText('dim', `${name}=`)}${String(value)}`)
  return `${styleText(colours[level], level.padEnd(5))} ${message}${rest.join('')}`
}
