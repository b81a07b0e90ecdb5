import { exitStatus } from '../fault.ts'
import type { OutputForm } from '../global-options.ts'
import { canAsk, type Io, wantsColour } from '../io.ts'
import { makePaint, type Paint } from '../print/view.ts'
import type { Client, FileChange } from './clients.ts'
import { diffLines } from './line-diff.ts'
import { readSettings, replaceFile } from './write-file.ts'

/** Where nobody has said which key. */
export const placeholder = 'YOUR_GATEWAY_KEY'

/** What would stand in each file if nothing else did. */
export async function printFiles(
  files: readonly FileChange[],
  { asShell }: Client,
  form: OutputForm,
  io: Io,
): Promise<void> {
  if (form !== 'table') {
    const { renderDocument } = await import('../operation-bundle.ts')
    const plain = files.map(({ path, edit }) => ({ path, text: edit(null, path) }))
    return io.stdout.write(await renderDocument(form, undefined, plain))
  }
  const parts = files.map(({ path, edit }) => {
    const text = edit(null, path)
    return asShell === true ? text.replace(/^(?=\S)/gm, 'export ') : `# ${path}\n${text}`
  })
  await io.stdout.write(parts.join('\n'))
}

/** Stands for the key in what is shown before it is made. */
const maskedNewKey = 'sp_live_…new'

export interface SettingsChange {
  filesWith(key: string): readonly FileChange[]
  /** null: a key is made once it is certain that it will be used. */
  given: string | null
  makeKey(): Promise<string>
  client: Pick<Client, 'note' | 'asksForKey'>
  yes: boolean
}

/** Shows what will change, asks on a terminal, and changes it. Resolves to the exit status. */
export async function changeFiles({ filesWith, given, makeKey, client, yes }: SettingsChange, io: Io): Promise<number> {
  const paint = makePaint(wantsColour(io.stderr, io.environment))
  const planned = await Promise.all(filesWith(given ?? maskedNewKey).map(planFile))
  const changed = planned.filter(({ before, after }) => before !== after)
  if (changed.length === 0) {
    await io.stderr.write('Nothing to change.\n')
    return exitStatus.done
  }
  for (const { path, before, after } of changed) {
    await io.stderr.write(`${showDiff(path, before ?? '', after, given, paint)}\n`)
  }
  if (!yes && canAsk(io) && !(await io.prompter.confirm('Write these changes?'))) {
    await io.stderr.write('Nothing was changed.\n')
    return exitStatus.failed
  }
  const key = await makeKey()
  const files = filesWith(key)
  for (const { path } of changed) {
    const file = files.find((one) => one.path === path)
    if (file !== undefined) await writeOne(file, io)
  }
  if (client.asksForKey && given === null) await io.stderr.write(`The new key, shown only once: ${key}\n`)
  await io.stderr.write(`${client.note}\n`)
  return exitStatus.done
}

interface PlannedFile {
  path: string
  before: string | null
  after: string
}

async function planFile({ path, edit }: FileChange): Promise<PlannedFile> {
  const before = await readSettings(path)
  return { path, before, after: edit(before, path) }
}

async function writeOne({ path, edit, holdsKey }: FileChange, io: Io): Promise<void> {
  const text = edit(await readSettings(path), path)
  const stamp = new Date(io.now()).toISOString().replace(/[-:]/g, '').slice(0, 15)
  const kept = await replaceFile(path, text, { secret: holdsKey, stamp })
  const more = kept === null ? '' : `; the old settings are in ${kept}`
  await io.stderr.write(`Wrote ${path}${more}.\n`)
}

/** As providers write their keys; a file of keys names them by whatever a person likes. */
const providerKeys = /\b(?:sk|pk|gsk|xai|csk|pplx|AIza|ghp|hf)[-_]?[\w-]{14,}/g

/** Keys of every kind are made unreadable: what is replaced may be somebody's own. */
function showDiff(path: string, before: string, after: string, key: string | null, paint: Paint): string {
  const mask = (text: string) =>
    (key === null ? text : text.replaceAll(key, `sp_live_…${key.slice(-4)}`))
      .replace(/((?:KEY|TOKEN|SECRET)\w*["']?\s*[:=]\s*["']?)(?!sp_live_…)[^"'\s,]{16,}/gi, '$1***')
      .replace(providerKeys, '***')
  const lines = diffLines(before, after).map((line) => {
    const tone = line.startsWith('+') ? 'good' : line.startsWith('-') ? 'bad' : 'quiet'
    return paint(tone, mask(line))
  })
  return [paint('strong', path), ...lines].join('\n')
}
