import { render } from 'ink'
import { prepareWidths } from '../cli/print/text-width.ts'
import type { TuiParts } from '../cli/tui-command.ts'
import { App } from './app.tsx'
import { TuiSession } from './session.ts'
import { copySequence, lineWrap, readStyle, suspendJob, type TerminalProcess, watchEnd } from './terminal.ts'

type Process = TerminalProcess & Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>

/** Takes the terminal until the person leaves. Resolves to the exit status; rejects with a fault of its own, the terminal given back. */
export async function runTui(parts: TuiParts & { process: Process }): Promise<number> {
  const { stdin, stdout, stderr } = parts.process
  // Anything may come while it runs.
  await prepareWidths('漢')
  const session = new TuiSession({
    operations: parts.operations,
    connect: parts.connect,
    save: parts.save,
    readFiles: parts.readFiles,
    scope: parts.scope,
    now: Date.now,
    copy: (text) => stdout.write(copySequence(text)),
  })
  let status = 0
  let fault: unknown = null
  const quit = () => screen.unmount()
  const suspend = (release: () => Promise<{ resume(): Promise<void> }>) =>
    void suspendJob(parts.process, async () => {
      const held = await release()
      stdout.write(lineWrap.on)
      return { resume: () => held.resume().then(() => void stdout.write(lineWrap.off)) }
    })
  const style = readStyle(parts.environment, parts.colour, parts.utc)
  // Before anything is drawn: from then on Ctrl-C is a key, and not the end of the process.
  if (stdin.isTTY) stdin.setRawMode(true)
  stdout.write(lineWrap.off)
  const screen = render(<App session={session} style={style} quit={quit} suspend={suspend} />, {
    stdin,
    stdout,
    stderr,
    interactive: true,
    alternateScreen: true,
    incrementalRendering: true,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: 30,
  })
  const unwatch = watchEnd(parts.process, (given, thrown) => {
    status = given
    fault ??= thrown
    screen.unmount()
  })
  try {
    await screen.waitUntilExit()
  } finally {
    unwatch()
    session.stop()
    stdout.write(lineWrap.on)
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.pause()
  }
  if (fault !== null) throw fault
  return status
}
