import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** In place of the gateway. */
const gateway = `process.on("SIGTERM", () => { console.log("drained"); process.exit(0) }); setInterval(() => {}, 1000); console.log("up " + process.pid)`

it('npm start hands SIGTERM on to the gateway, and ends with its status', async () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  // npm runs the script in a shell, and sends the signals that it gets to that shell alone.
  const inner = `exec node -e '${gateway}'`
  const script = scripts.start.replace(/"[^"]+"$/, '"$INNER"')
  expect(script).toContain('scripts/setup.mjs "$INNER"')
  const child = spawn('sh', ['-c', script], {
    cwd: root,
    env: { ...process.env, INNER: inner },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  onTestFinished(() => {
    const pid = Number(/up (\d+)/.exec(said)?.[1])
    if (!said.includes('drained') && pid > 0) process.kill(pid, 'SIGKILL')
  })
  while (!said.includes('up')) await once(child.stdout, 'data')
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(said).toContain('drained')
})
