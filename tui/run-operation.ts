import { reportFault } from '../cli/fault.ts'
import { nameFile } from '../cli/file-name.ts'
import type { Field, Operation } from '../cli/operation.ts'
import { hasBudget, reportsBudgets, sayWritten } from '../cli/print/written.ts'
import { fillIn } from '../src/admin/contract/fill-in.ts'
import { describeMissing } from '../src/admin/contract/show-reach.ts'
import { escapeControls, valueAt } from '../src/admin/contract/show-value.ts'
import { nameOfRow, titleOf, verbOf } from './areas.ts'
import { askedFields, isSwitch } from './form-fields.ts'
import type { Host, OperationRequest } from './host.ts'
import { planLines, readPlan, rejectUnset } from './result-lines.ts'
import { RowActions } from './row-actions.ts'
import { scopeInput } from './scope.ts'
import type { TextTheme } from './screen.ts'
import { ConfirmScreen } from './screens/confirm.ts'
import { FormScreen } from './screens/form.ts'
import { ListScreen } from './screens/list.ts'
import { LiveScreen } from './screens/live.ts'
import { RecordScreen } from './screens/record.ts'
import { SecretScreen } from './screens/secret.ts'
import { StreamScreen } from './screens/stream.ts'

/** From an operation that somebody wants to its result: asks what is missing, asks again before what is dangerous. */
export function runOperation(host: Host, request: OperationRequest): void {
  const { operation } = request
  // A row says itself where it stands.
  const scoped = isRead(operation) && request.subject === undefined
  const given = scoped ? { ...scopeInput(operation, host.scope), ...request.given } : request.given
  const known = { ...request, given }
  if (operation.meta.show.as === 'file') return askForFile(host, known)
  const hidden = request.subject === undefined ? [] : addressFields(host, operation)
  const asked = askedFields(operation, given, hidden)
  const onlySwitches = asked.every(isSwitch)
  const isPlain = request.subject !== undefined && onlySwitches
  if (isRead(operation) && (isPlain || !needsAnswers(operation, asked))) return showAnswer(host, known)
  if (operation.meta.effect === 'danger' && onlySwitches) return askForName(host, known, given, asked)
  // What has no question but switches is done, and asked about only when it is refused.
  if (asked.length === 0 || isPlain) {
    const ask = () => askInForm(host, known, hidden, (input, form) => go(host, known, input, form))
    const carry = () => void carryOut(host, known, given, asked.length === 0 ? null : ask)
    const undo = request.subject === undefined ? undefined : undoOf[verbOf(operation)]
    if (undo === undefined) return carry()
    const list = listOf(host, operation)
    return host.push(new ConfirmScreen({ ...known, input: given, list, switches: [], undo, go: carry }))
  }
  askInForm(host, known, hidden, (input, form) => go(host, known, input, form))
}

/** What takes traffic away is asked about; how it is undone. */
const undoOf: Readonly<Record<string, string>> = {
  deactivate: 'Undo with o, or activate in the menu.',
  disable: 'Undo with o, or enable in the menu.',
}

function isRead({ meta }: Operation): boolean {
  return meta.effect === 'read'
}

function takesFiles({ fields }: Operation): boolean {
  return fields.some(({ syntax }) => syntax === 'files')
}

/** A list and a record are shown at once, with their defaults; any other question is worth a look at what can be asked. */
function needsAnswers(operation: Operation, asked: readonly Field[]): boolean {
  if (asked.length === 0) return false
  if (asked.some(({ required }) => required)) return true
  const { show } = operation.meta
  return show.as !== 'live' && !['list', 'show'].includes(verbOf(operation)) && operation.path.length > 1
}

/** What says which thing is meant: the fields that `show` of the same noun has. */
function addressFields(host: Host, operation: Operation): string[] {
  const show = host.operations.find(
    ({ path }) => verbOf({ path }) === 'show' && path.slice(0, -1).join('.') === operation.path.slice(0, -1).join('.'),
  )
  return operation.name === show?.name ? [] : (show?.fields.map(({ name }) => name) ?? [])
}

type Answered = (input: object, form: FormScreen) => Promise<void> | void

function askInForm(host: Host, request: OperationRequest, hidden: readonly string[], answered: Answered): FormScreen {
  const { operation, given, subject } = request
  const form: FormScreen = new FormScreen(
    {
      operation,
      given,
      hidden,
      // A question about a thing starts empty; a change of it starts from what it is.
      subject: verbOf(operation) === 'edit' ? subject : undefined,
      about: subject,
      start: Object.fromEntries(
        Object.entries(scopeInput(operation, host.scope)).map(([name, value]) => [name, String(value)]),
      ),
      button: titleOf(verbOf(operation)),
      namesFor: (field, scope) => host.namesFor(field, scope),
      changed: () => host.changed(),
      complete: (input) => readNamedFiles(host, operation, input),
      submit: (input) => answered(input, form),
    },
    titleFor(host, request),
  )
  host.push(form)
  return form
}

/** Its noun stands in the trail, unless the command line led here from elsewhere. */
function titleFor({ screen }: Pick<Host, 'screen'>, { operation, subject }: OperationRequest): string {
  const [noun = '', ...words] = operation.path
  const name = nameOfRow(subject)
  const isClear = name !== '' || screen.title.toLowerCase() === noun
  const said = isClear ? words.join(' ') || operation.name : operation.path.join(' ')
  return escapeControls([said, name].filter((part) => part !== '').join(' '))
}

function go(host: Host, request: OperationRequest, input: object, form: FormScreen): Promise<void> | void {
  const { operation } = request
  const diff = takesFiles(operation) ? host.operations.find(({ name }) => name === 'diff') : undefined
  if (operation.meta.effect === 'danger' && diff !== undefined) {
    return askForPlan(host, request, input, diff)
  }
  if (operation.meta.effect === 'danger') return askForName(host, request, input, [])
  return carryOut(host, request, input, () => form)
}

function askForName(host: Host, request: OperationRequest, input: object, switches: readonly Field[]): void {
  const { operation, subject } = request
  const list = listOf(host, operation)
  const carry = (switched: object) => carryOut(host, request, { ...input, ...switched }, null)
  host.push(new ConfirmScreen({ operation, input, subject, list, switches, go: (switched) => void carry(switched) }))
}

function listOf(host: Host, operation: Operation): Operation | null {
  return host.areas.find(({ operations }) => operations.includes(operation))?.list ?? null
}

/** Files are read here, for the gateway may be elsewhere. */
async function readNamedFiles(
  host: Host,
  { fields }: Operation,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  let read = input
  for (const { name, syntax } of fields) {
    const paths = input[name]
    if (syntax !== 'files' || !Array.isArray(paths)) continue
    const { files, ...others } = await host.readFiles(paths.map(String))
    read = { ...read, ...others, [name]: files }
  }
  return read
}

/** The plan is shown first, and only that one is carried out: the gateway refuses any other. */
async function askForPlan(host: Host, request: OperationRequest, input: object, diff: Operation): Promise<void> {
  const { operation } = request
  const known = Object.entries(input).filter(([name]) => diff.fields.some((field) => field.name === name))
  const plan = readPlan(await host.link.call(diff, Object.fromEntries(known)))
  rejectUnset(plan)
  const carry = () => carryOut(host, request, { ...input, expect: plan.expect }, null)
  const shown = { owner: plan.owner, draw: (theme: TextTheme) => [...planLines(plan, theme), ''] }
  host.push(
    new ConfirmScreen({
      operation,
      input,
      subject: undefined,
      list: null,
      switches: [],
      plan: shown,
      go: () => void carry(),
    }),
  )
}

/** `refused` gives the form that says why; null: a line does. */
async function carryOut(
  host: Host,
  request: OperationRequest,
  input: object,
  refused: (() => FormScreen) | null,
): Promise<void> {
  const { operation } = request
  const { show } = operation.meta
  if (isRead(operation) && show.as !== 'once' && !takesFiles(operation))
    return showAnswer(host, { ...request, given: input })
  if (show.as === 'live') {
    host.closeDialogs()
    host.push(new StreamScreen(host, operation, input, titleFor(host, request)))
    return
  }
  // Whoever has gone on to something else meanwhile is told, and not taken away from it.
  const from = host.screen
  host.notify('quiet', `${operation.path.join(' ')}…`)
  try {
    const output = await host.link.call(operation, input)
    host.notify('quiet', '')
    if (host.screen === from) host.closeDialogs()
    await showOutcome(host, request, output)
  } catch (error) {
    host.notify('quiet', '')
    const { cause, hint } = reportFault(error)
    if (refused === null || host.screen !== from) host.notify('bad', `${cause} ${hint}`)
    else refused().fail(error)
  }
}

function showAnswer(host: Host, request: OperationRequest): void {
  const { operation, given } = request
  const { show } = operation.meta
  const title = titleFor(host, request)
  host.closeDialogs()
  if (show.as === 'live') host.push(new LiveScreen(host, operation, title))
  else if (show.as === 'table') host.push(new ListScreen(host, operation, given, title))
  else {
    const list = listOf(host, operation)
    const isRow = list !== null && request.subject !== undefined && verbOf(operation) === 'show'
    const actions = isRow ? new RowActions(host, list, {}) : null
    host.push(new RecordScreen(host, request, { first: isRow ? request.subject : undefined, actions }))
  }
}

/** What is usually done next, and where. */
const nextSteps: Readonly<Record<string, string>> = {
  'providers.add': 'Next, a route to it: a in 3',
  'projects.add': 'Next, an environment in it: a in More, Environments',
  'environments.add': 'Next, a key in it: a in 4',
}

async function nextStep(host: Host, name: string, output: unknown): Promise<string> {
  if (name !== 'policies.add') return nextSteps[name] ?? ''
  const places = valueAt(output, 'attached_to')
  if (Array.isArray(places) && places.length === 0) return 'It applies to nothing yet: e'
  // No alert speaks of a budget by itself.
  if (!hasBudget(output)) return ''
  const list = host.operations.find((operation) => operation.name === 'alerts.list')
  const alerts = list === undefined ? [] : await host.link.call(list, {}).catch(() => [])
  return reportsBudgets(alerts) ? '' : 'To hear of it at 50, 80 and 100%: a in More, Alerts'
}

/** What is done is said in a line where the thing itself came back; an answer of another kind is shown. */
async function showOutcome(host: Host, request: OperationRequest, output: unknown): Promise<void> {
  const { operation } = request
  const { show } = operation.meta
  const missing = describeMissing(operation.name, output)
  if (missing !== null) host.notify('bad', escapeControls(missing))
  if (show.as === 'once' && show.without !== undefined && valueAt(output, show.field) === null)
    host.notify('good', fillIn(show.without, output))
  else if (show.as === 'once') host.push(new SecretScreen(host, titleFor(host, request), output, show))
  else if (typeof valueAt(output, 'id') === 'string') {
    const name = nameOfRow(output) || nameOfRow(request.subject)
    const done = sayWritten(operation, name, output) ?? `Done: ${operation.path.join(' ')} ${name}`
    const next = missing ?? (await nextStep(host, operation.name, output))
    host.notify(missing === null ? 'good' : 'bad', escapeControls(next === '' ? done : `${done}. ${next}`))
  } else host.push(new RecordScreen(host, request, { output }))
  host.refresh()
}

const fileField: Field = {
  name: 'file',
  flag: 'file',
  shape: 'text',
  choices: null,
  required: false,
  nullable: false,
  fallback: undefined,
  description: 'Path on this machine (default: a name with the time, in the current directory)',
  prompt: null,
  secret: false,
  syntax: null,
  takes: 'any',
}

function askForFile(host: Host, request: OperationRequest): void {
  const { operation } = request
  const { show } = operation.meta
  const withFile = { ...operation, fields: [fileField, ...operation.fields] }
  askInForm(host, { ...request, operation: withFile }, [], async (given, form) => {
    const { file, ...input }: Record<string, unknown> = { ...given }
    const start = async (signal: AbortSignal) => {
      const rows = await host.link.call(operation, input, signal)
      if (typeof rows === 'object' && rows !== null && Symbol.asyncIterator in rows)
        return rows as AsyncIterable<unknown>
      throw new TypeError('The gateway did not return a stream.')
    }
    const output = await host.save(
      show.as === 'file' ? nameFile(show, input) : { name: operation.name, ending: 'out' },
      typeof file === 'string' ? file : null,
      start,
    )
    if (host.screen === form) host.closeDialogs()
    await showOutcome(host, request, output)
  })
}
