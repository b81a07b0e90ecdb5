import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContentSide } from '../../../src/core/policies/content-rules.ts'
import type { Endpoint, Lane } from '../../../src/lanes/contract.ts'
import { lanes } from '../../../src/lanes/index.ts'
import { ContentPlane, contentRule, keyPolicy } from '../../support/content-plane.ts'
import { callRow, replyTo, walkedCalls } from '../../support/shows/limits-walk.ts'

/** Every row of docs/lanes.md under a policy that denies what its content rules cannot check: nothing that is denied is paid for. */

let stage: ContentPlane
let row: Endpoint
let calls = 0

beforeAll(async () => {
  const policy = (name: string, on: ContentSide[]) =>
    keyPolicy(name, {
      contentRules: [contentRule('keys', on, { detector: 'secrets', action: 'flag' })],
      denyUnseen: true,
    })
  stage = await ContentPlane.start(
    (request, response) => {
      calls++
      request.resume().on('end', () => replyTo(response, { fate: 'answered', row, streamed: false }))
    },
    {
      policies: [policy('prompts', ['prompt']), policy('answers', ['answer'])],
      defaults: true,
      webrtc: true,
    },
  )
})
afterAll(async () => await stage.stop())

/** What costs something, and answers with images, videos, sound or a file, or goes past the gateway. */
const media = new Set([
  ...['images.generations', 'images.edits', 'images.variations', 'audio.speech'],
  ...['videos.create', 'videos.edits', 'videos.extensions', 'videos.remix'],
  ...['realtime.calls.create', 'realtime.calls.accept', 'live.create', 'live.accept', 'live.fork'],
  ...['predict', 'predict.start'],
])
/** Their results come in a file. Gemini's come in words, where its requests do. */
const hasResults = (lane: string, { operation }: Endpoint) => operation === 'batches.create' && lane !== 'gemini'
/** Each item of a list costs nothing, and a file that is there has been paid for. */
const isShown = ({ object, responseForm }: Endpoint) =>
  object?.effect === 'list' || responseForm === 'bytes' || responseForm === 'lines'

/** The events of another operation, which the provider's streams hold too, say nothing of a row. */
const rowsOf = (lane: Lane) =>
  walkedCalls(lane).filter(({ endpoint, stream }) => endpoint.served === 'provider' && !stream)

for (const lane of lanes) {
  describe(`a call of the ${lane.name} lane`, () => {
    beforeAll(() => stage.plane.ownAll(lane.name))

    async function call(name: string, endpoint: Endpoint) {
      await stage.plane.changeKey({ policyId: `pol_${name}` })
      row = endpoint
      calls = 0
      stage.plane.heal(lanes.indexOf(lane))
      const { requestId, status } = await callRow(stage.plane, lane, { row: endpoint, streamed: false })
      const { error } = await stage.plane.record(requestId)
      return { status, denied: error?.code === 'policy_denied', called: calls > 0, error }
    }

    it.each(rowsOf(lane))('$name: what comes is text, or it is denied before it is paid for', async ({ endpoint }) => {
      const { denied, called, error } = await call('answers', endpoint)
      const unseen = media.has(endpoint.operation) || hasResults(lane.name, endpoint) || isShown(endpoint)
      expect({ denied, called }, JSON.stringify(error)).toEqual({ denied: unseen, called: !unseen })
    })

    it.each(rowsOf(lane))('$name: what goes is text, or it is denied before it is paid for', async ({ endpoint }) => {
      const { denied, called, error } = await call('prompts', endpoint)
      const [form] = endpoint.requestForms
      const isUpload = form === 'multipart' || form === 'bytes'
      const isSound = endpoint.media === 'webrtc' || endpoint.media === 'sip'
      const unseen = isUpload || isSound
      expect({ denied, called }, JSON.stringify(error)).toEqual({ denied: unseen, called: !unseen })
    })
  })
}
