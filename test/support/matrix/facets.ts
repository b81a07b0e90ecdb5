import type { Facet } from './clients/client.ts'
import { piecesOf, type Scene, type SceneTurn, textOf } from './scene.ts'

/** By what a name in `x-sp-lossy` is known to speak of a facet. */
const lossNames: Readonly<Record<Facet, RegExp>> = {
  texts: /^(?:messages|input|contents)\[\d+\]$/,
  placed: /^(?:messages|input|contents)\[\d+\]$/,
  images: /content|parts|input/,
  imageUrls: /content|parts|input/,
  files: /content|parts|input/,
  fileNames: /filename$|title$/,
  calls: /^(?:messages|input|contents)/,
  results: /^(?:messages|input|contents)/,
  failures: /is_error$|functionResponse\.response$/,
  resultImages: /content|parts|output/,
  seals: /^(?:messages|input|contents)/,
  marks: /cache_control$|prompt_cache_breakpoint$/,
  tools: /^tools/,
  choice: /tool_choice|toolConfig/,
  parallel: /parallel/,
  schema: /response_format|text\.format|output_config|response(?:Json)?Schema/,
  effort: /reasoning|thinking|output_config|effort/,
  maxOutput: /max/,
  temperature: /temperature$/,
  topP: /top_?p$/i,
  topK: /top_?k$/i,
  seed: /seed$/,
  stop: /stop/,
}

export function isNamed(facet: Facet, losses: readonly string[]): boolean {
  return losses.some((name) => lossNames[facet].test(name))
}

/** What a scene says, so that two of them can be compared one by one. What it does not say is undefined. */
export function facetsOf(scene: Scene): Record<Facet, unknown> {
  const { turns } = scene
  const { choice, parallel, schema, effort, maxOutput, temperature, topP, topK, seed, stop } = scene
  const results = piecesOf(turns, 'result')
  const files = piecesOf(turns, 'file')
  const list = <T>(values: readonly T[]) => (values.length === 0 ? undefined : values)
  return {
    texts: textsOf(turns),
    placed: list(placedOf(turns)),
    images: list(piecesOf(turns, 'image').map(({ data }) => data)),
    imageUrls: list(piecesOf(turns, 'image-url').map(({ url }) => url)),
    files: list(files.map(({ data }) => data)),
    fileNames: list(files.map(({ name }) => name)),
    calls: list(piecesOf(turns, 'call').map(({ name, input }) => ({ name, input }))),
    results: list(results.map(({ text }) => text)),
    failures: results.some(({ failed }) => failed) ? results.map(({ failed }) => failed) : undefined,
    resultImages: list(results.flatMap(({ image }) => image ?? [])),
    seals: list(piecesOf(turns, 'thought').flatMap(({ seal }) => seal || [])),
    marks: list(piecesOf(turns, 'text').flatMap(({ text, mark }) => (mark ? [text] : []))),
    tools: scene.tools,
    choice,
    parallel,
    schema,
    effort,
    maxOutput,
    temperature,
    topP,
    topK,
    seed,
    stop,
  }
}

/** Turns of one role after another are one; texts that follow each other are read as one. */
function textsOf(turns: readonly SceneTurn[]): string[] {
  const said: { role: string; text: string }[] = []
  for (const { role, pieces } of turns) {
    const text = pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])).join('\n\n')
    const last = said.at(-1)
    if (text === '') continue
    if (last?.role === role) last.text += `\n\n${text}`
    else said.push({ role, text })
  }
  return said.map(({ role, text }) => `${role}: ${text}`)
}

function placedOf(turns: readonly SceneTurn[]): string[] {
  const first = turns.findIndex(({ role }) => role !== 'system')
  return turns.slice(first).flatMap(({ role, pieces }) => (role === 'system' ? [textOf(pieces)] : []))
}
