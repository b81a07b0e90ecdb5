import type { PromptVerdict } from '../../admin/handlers/context.ts'
import type { LaneName } from '../../core/lane.ts'
import type { Signal } from '../../core/record.ts'
import { inspectPrompt } from '../../gateway/content/inspect-prompt.ts'
import type { ContentPolicy } from '../../policy/content/compile.ts'
import { matchBody } from './inspect-request.ts'

/** What content rules find in a body, as on the data plane. */
export async function inspectContent(
  text: string,
  lane: LaneName,
  model: string,
  policies: readonly ContentPolicy[],
): Promise<PromptVerdict> {
  const signals: Signal[] = []
  const match = matchBody(text, lane, true, model)
  if (match === null) return { fault: null, signals }
  const hasPattern = policies.some(({ rules }) => rules.some(({ pattern }) => pattern !== null))
  const prompt = {
    trace: { policySignals: signals },
    body: { bytes: Buffer.from(text), upload: null },
    match,
    inspection: { query: '' },
    gateway: { patterns: hasPattern ? import('../../policy/content/pattern-seeker.ts') : null },
    abort: { aborted: false },
    content: null,
  }
  return { fault: await inspectPrompt(prompt, policies), signals }
}
