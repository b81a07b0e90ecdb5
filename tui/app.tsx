import { Box, Text, useApp, useInput, usePaste, useWindowSize } from 'ink'
import { useEffect, useSyncExternalStore } from 'react'
import { drawFrame, type TerminalStyle } from './frame.ts'
import { readPresses } from './keys.ts'
import type { TuiSession } from './session.ts'

interface Props {
  session: TuiSession
  style: TerminalStyle
  quit(): void
  /** Gives the terminal back, stops the process, and resolves when it goes on. */
  suspend(release: () => Promise<{ resume(): Promise<void> }>): void
}

/** The session on a terminal: its lines drawn, presses handed to it. */
export function App({ session, style, quit, suspend }: Props) {
  const { columns, rows } = useWindowSize()
  const { suspendTerminal } = useApp()
  useSyncExternalStore(
    (listener) => session.subscribe(listener),
    () => session.version,
  )
  useEffect(() => {
    session.start(quit)
    // Ages grow while nothing happens.
    const timer = setInterval(() => session.changed(), 1000)
    return () => {
      clearInterval(timer)
      session.stop()
    }
  }, [session, quit])
  useInput((input, key) => {
    for (const press of readPresses(input, key)) {
      if (press.name === 'ctrl-c') return quit()
      if (press.name === 'ctrl-z') return suspend(suspendTerminal)
      session.press(press)
    }
  })
  usePaste((text) => session.paste(text))
  return <Frame lines={drawFrame(session, { columns, rows }, style)} rows={rows} />
}

/** One line of text a row; nothing wraps. */
export function Frame({ lines, rows }: { lines: readonly string[]; rows: number }) {
  return (
    <Box flexDirection="column" height={rows} overflow="hidden">
      {lines.map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row of the terminal is what its number says.
        <Text key={row} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  )
}
