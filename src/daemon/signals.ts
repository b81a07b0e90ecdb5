import { closeSync, openSync } from 'node:fs'

export interface Signals {
  /** Resolves at the first that asks for the end. */
  signalled: Promise<string>
  /** Calls `reload` for each SIGHUP, and at once where one has come before. */
  onHangUp(reload: () => void): void
}

/**
 * Listens from now on. SIGTERM and SIGINT ask for the end, and the second of them ends the process at once. SIGHUP asks to
 * reload; but when the terminal that the gateway was started from is gone, for the end as well: nobody would ever see it again.
 */
export function hearSignals(fromTerminal: boolean): Signals {
  const { promise: signalled, resolve } = Promise.withResolvers<string>()
  let reload: (() => void) | null = null
  let missed = false
  let ending = false
  const end = (signal: string) => {
    if (ending) process.exit(1)
    ending = true
    resolve(signal)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal))
  process.on('SIGHUP', () => {
    if (ending) return
    if (fromTerminal && !hasTerminal()) end('SIGHUP')
    else if (reload === null) missed = true
    else reload()
  })
  return {
    signalled,
    onHangUp(given) {
      reload = given
      if (missed) given()
    },
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
