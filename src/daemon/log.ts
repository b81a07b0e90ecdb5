import { styleText } from 'node:util'
import type { LogFormat, LogLevel } from '../config/settings.ts'
import { logLevels } from '../config/settings.ts'
import { maskKeys } from '../core/secrets/mask-keys.ts'
import { escapeControls } from '../core/text/escape-controls.ts'

export type Log = Record<LogLevel, (message: string, fields?: Record<string, string | number | boolean | null>) => void>

export interface LogSettings {
  level: LogLevel
  format: LogFormat
}

/**
 * Lines on standard error: JSON for machines, text for a terminal. Whoever calls it passes no secret: those are `Secret`.
 * `change` holds for the lines that follow.
 */
export function createLog(
  settings: LogSettings,
  write: (line: string) => void,
): Log & { change(settings: LogSettings): void } {
  let { level: from, format } = settings
  const line =
    (at: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (logLevels.indexOf(at) < logLevels.indexOf(from)) return
      write(`${maskKeys((format === 'json' ? renderJson : renderText)(at, message, fields))}\n`)
    }
  const change = (next: LogSettings) => {
    from = next.level
    format = next.format
  }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), change }
}

function renderJson(level: LogLevel, message: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })
}

const colours = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const

function renderText(level: LogLevel, message: string, fields: Record<string, unknown>): string {
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${styleText('dim', `${name}=`)}${escapeLines(String(value))}`,
  )
  return `${styleText(colours[level], level.padEnd(5))} ${escapeLines(message)}${rest.join('')}`
}

/** A provider's words reach the terminal: they neither control it nor look like a line of their own. Stacks stay readable. */
function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n    ')
}
