import { expect } from 'vitest'
import { bytesOf, type Walk } from './walk.ts'

export const callWalks: readonly Walk[] = [
  {
    family: 'client secrets',
    async walk(client) {
      const session = { type: 'realtime' as const, model: 'gpt-realtime' }
      const { value } = await client.realtime.clientSecrets.create({ session })
      expect(value).not.toContain('ek_mock')
      const { client_secret } = await client.beta.realtime.sessions.create({ model: 'gpt-4o-realtime-preview' })
      expect(client_secret.value).not.toContain('ek_mock')
      await client.beta.realtime.transcriptionSessions.create({})
    },
  },
  {
    family: 'client secrets of translations',
    since: 7,
    async walk(client) {
      const { value } = await client.realtime.translations.clientSecrets.create({ session: { model: 'gpt-realtime' } })
      expect(value).not.toContain('ek_mock')
    },
  },
  {
    family: 'calls by telephone',
    async walk(client, { adopt }) {
      const call = await adopt('call', 'rtc_')
      await client.realtime.calls.accept(call, { type: 'realtime', model: 'gpt-realtime' })
      await client.realtime.calls.refer(call, { target_uri: 'tel:+1' })
      await client.realtime.calls.hangup(call)
      await client.realtime.calls.reject(call, { status_code: 486 })
      await expect(client.realtime.calls.hangup('rtc_of_others')).rejects.toMatchObject({ status: 404 })
    },
  },
  {
    family: 'calls by WebRTC',
    since: 7,
    async walk(client) {
      const session = { type: 'realtime' as const, model: 'gpt-realtime', instructions: 'x'.repeat(9000) }
      const answer = await client.realtime.calls.create({ sdp: 'v=0\r\n', session })
      expect(await answer.text()).toContain('v=0')
      const [, id = ''] = /^\/v1\/realtime\/calls\/(rtc_\w+)$/.exec(answer.headers.get('location') ?? '') ?? []
      await client.realtime.calls.hangup(id)
    },
  },
  {
    family: 'live sessions',
    since: 7,
    async walk(client, { adopt }) {
      const session = await adopt('live_session', 'live_')
      const { sessions } = client.live
      await sessions.accept(session, { session: { type: 'live', model: 'gpt-live-1' } })
      await sessions.refer(session, { target_uri: 'tel:+1' })
      expect((await bytesOf(sessions.downloadRecording(session))).toString()).toBe(`recording of ${session}`)
      await sessions.hangup(session)
      await sessions.reject(session, { status_code: 486 })
      const transport = { type: 'webrtc' as const, sdp: 'v=0' }
      const made = await client.live.create({ session: { model: 'gpt-live-1' }, transport })
      const forked = await sessions.fork(made.session.id, { transport })
      await sessions.hangup(forked.session.id)
      await expect(sessions.fork('live_of_others', { transport })).rejects.toMatchObject({ status: 404 })
    },
  },
]
