import { scanObject } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import { readToolsOf } from '../asked-tools.ts'
import type { InputLine } from '../earlier-work.ts'
import { readOutputLimit, rejectMisspelled } from '../request-body.ts'
import { generateLimits } from './inspection.ts'
import { modelName } from './names.ts'
import { namedIn } from './references.ts'

/** A line of a batch's input file: `{key, request}`. Source: wire/lanes.md, section 3.3. */
export function readLine(line: Buffer): InputLine | string {
  const scan = scanObject(line, ['request', 'model'])
  if (!scan.ok) return 'it is not a JSON object'
  const requests = scan.members.filter(({ name }) => name === 'request')
  if (requests.length !== 1) return 'it must have one `request`'
  const [request] = requests
  const inner = scanObject(line, ['model', ...generateLimits.within], request)
  if (!inner.ok || request === undefined) return 'its `request` is not a JSON object'
  const odd = rejectMisspelled(line, scan) ?? rejectMisspelled(line, inner)
  if (odd !== null) return odd.message.replace(/\.$/, '')
  const named = [...scan.members, ...inner.members].filter(({ name }) => name === 'model')
  const models = named
    .map((member) => readValue(line, member))
    .map((value) => (typeof value === 'string' ? modelName(value) : null))
  if (models.some((model) => model === null)) return 'its `model` is not the name of a model'
  const objects = namedIn(line, false)
  if ('code' in objects) return 'it holds too many values'
  const output = readOutputLimit(line, inner.members, generateLimits)
  const tools = readToolsOf(line.subarray(request.start, request.end))
  const ask = { model: models[0] ?? null, bytes: request.end - request.start, output, tools }
  return { models: models.filter((model) => model !== null), objects, ask }
}
