import { toFile } from 'openai'
import { expect } from 'vitest'
import { spokenText } from '../mock-format.ts'
import { image, sound } from './media.ts'
import { bytesOf, expectNotFound, ids, readAll, textFile, type Walk } from './walk.ts'

const picture = () => toFile(image, 'a.png', { type: 'image/png' })
const recording = () => toFile(sound, 'a.wav', { type: 'audio/wav' })

export const mediaWalks: readonly Walk[] = [
  {
    family: 'images',
    async walk(client) {
      const model = 'gpt-image-2'
      const made = await client.images.generate({ model, prompt: 'a cat' })
      expect(made.data?.[0]?.b64_json).toBe(image.toString('base64'))
      const partly = await readAll(
        await client.images.generate({ model, prompt: 'a cat', stream: true, partial_images: 2 }),
      )
      expect(partly.map(({ type }) => type)).toEqual([
        'image_generation.partial_image',
        'image_generation.partial_image',
        'image_generation.completed',
      ])
      expect((await client.images.edit({ image: await picture(), prompt: 'a dog', model })).created).toBe(made.created)
      const edits = await readAll(
        await client.images.edit({ image: await picture(), prompt: 'a dog', model, stream: true }),
      )
      expect(edits.at(-1)?.type).toBe('image_edit.completed')
      await client.images.createVariation({ image: await picture(), model })
    },
  },
  {
    family: 'audio',
    async walk(client) {
      const said = { model: 'gpt-4o-mini-tts', input: 'hello', voice: 'alloy' }
      expect((await bytesOf(client.audio.speech.create(said))).equals(sound)).toBe(true)
      const events = (await bytesOf(client.audio.speech.create({ ...said, stream_format: 'sse' }))).toString()
      expect(events).toContain('speech.audio.done')
      const model = 'gpt-4o-transcribe'
      const heard = await client.audio.transcriptions.create({ file: await recording(), model })
      expect(heard.text).toBe(spokenText)
      const plain = await client.audio.transcriptions.create({
        file: await recording(),
        model,
        response_format: 'text',
      })
      expect(plain).toBe(`${spokenText}\n`)
      const live = await readAll(
        await client.audio.transcriptions.create({ file: await recording(), model, stream: true }),
      )
      expect(live.at(-1)).toMatchObject({ type: 'transcript.text.done', text: spokenText })
      expect((await client.audio.translations.create({ file: await recording(), model: 'whisper-1' })).text).toBe(
        spokenText,
      )
    },
  },
  {
    family: 'voices',
    since: 7,
    async walk(client) {
      const consent = await client.audio.voiceConsents.create({
        name: 'me',
        language: 'en',
        recording: await recording(),
      })
      expect((await client.audio.voiceConsents.retrieve(consent.id)).name).toBe('me')
      expect((await client.audio.voiceConsents.update(consent.id, { name: 'I' })).name).toBe('I')
      expect(await ids(client.audio.voiceConsents.list({ limit: 1 }))).toContain(consent.id)
      const sample = { audio_sample: await recording(), consent: consent.id, name: 'mine' }
      const voice = await client.audio.voices.create(sample)
      await expectNotFound(client.audio.voices.create({ ...sample, consent: 'cons_of_others' }))
      const said = { model: 'gpt-4o-mini-tts', input: 'hello', voice: { id: voice.id } }
      expect((await bytesOf(client.audio.speech.create(said))).equals(sound)).toBe(true)
      expect((await client.audio.voices.delete(voice.id)).deleted).toBe(true)
      expect((await client.audio.voiceConsents.delete(consent.id)).deleted).toBe(true)
    },
  },
  {
    family: 'videos',
    async walk(client) {
      const clip = () => toFile(sound, 'a.mp4', { type: 'video/mp4' })
      const video = await client.videos.create({ prompt: 'a cat', model: 'sora-2' })
      expect((await client.videos.retrieve(video.id)).status).toBe('completed')
      const pictured = await client.videos.create({ prompt: 'a cat', input_reference: await picture() })
      expect(await ids(client.videos.list({ limit: 1 }))).toEqual(expect.arrayContaining([video.id, pictured.id]))
      const shown = await bytesOf(client.videos.downloadContent(video.id, { variant: 'thumbnail' }))
      expect(shown.toString()).toBe(`thumbnail of ${video.id}`)
      const remixed = await client.videos.remix(video.id, { prompt: 'a dog' })
      expect((await client.videos.retrieve(remixed.id)).remixed_from_video_id).toBe(video.id)
      await client.videos.edit({ prompt: 'brighter', video: { id: remixed.id } })
      await client.videos.extend({ prompt: 'on', seconds: '4', video: { id: remixed.id } })
      const others = { id: 'video_of_others' }
      await expectNotFound(client.videos.edit({ prompt: 'brighter', video: others }))
      await expectNotFound(client.videos.extend({ prompt: 'on', seconds: '4', video: others }))
      await expectNotFound(client.videos.create({ prompt: 'a cat', input_reference: { file_id: 'file-of-others' } }))
      const character = await client.videos.createCharacter({ name: 'Tom', video: await clip() })
      expect((await client.videos.getCharacter(character.id ?? '')).name).toBe('Tom')
      expect((await client.videos.delete(video.id)).deleted).toBe(true)
    },
  },
  {
    family: 'content provenance',
    since: 7,
    async walk(client) {
      const check = await client.contentProvenanceChecks.create({ file: await textFile('a.png') })
      expect(check.results[0]).toMatchObject({ outcome: 'not_detected' })
    },
  },
]
