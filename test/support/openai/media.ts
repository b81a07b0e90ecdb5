import { isObject, type MockUsage, spoken, spokenText } from '../mock-format.ts'
import {
  created,
  type FamilyCall,
  type FamilyRow,
  type Given,
  list,
  make,
  notFound,
  on,
  Refusal,
  remove,
  show,
  update,
  withOne,
} from './family.ts'

/** Images, audio, voices and videos. */
export const media: readonly FamilyRow[] = [
  on('POST /images/generations', (given) => answerImages(given, 'image_generation'), 'json', 'prompt'),
  on('POST /images/edits', (given) => answerImages(given, 'image_edit'), 'either', 'prompt'),
  on('POST /images/variations', (given) => answerImages(given, 'image_edit'), 'form', 'image'),
  on('POST /content_provenance_checks', checkProvenance, 'form', 'file'),

  on('POST /audio/speech', speak, 'json', 'model', 'input', 'voice'),
  on('POST /audio/transcriptions', transcribe, 'form', 'file', 'model'),
  on('POST /audio/translations', transcribe, 'form', 'file', 'model'),
  on('POST /audio/voices', createVoice, 'form', 'audio_sample', 'consent', 'name'),
  on('DELETE /audio/voices/{id}', remove('voice', 'audio.voice')),
  on('POST /audio/voice_consents', makeConsent, 'form', 'recording', 'language', 'name'),
  on('GET /audio/voice_consents', list('voice_consent')),
  on('GET /audio/voice_consents/{id}', withOne('voice_consent', show)),
  on('POST /audio/voice_consents/{id}', update('voice_consent'), 'json', 'name'),
  on('DELETE /audio/voice_consents/{id}', remove('voice_consent', 'audio.voice_consent')),

  on('POST /videos', (given) => makeVideo(given, null), 'either', 'prompt'),
  on('GET /videos', list('video')),
  on('POST /videos/edits', workOn, 'either', 'prompt'),
  on('POST /videos/extensions', workOn, 'either', 'prompt', 'seconds'),
  on('POST /videos/characters', makeCharacter, 'form', 'name', 'video'),
  on('GET /videos/characters/{id}', withOne('character', show)),
  on('GET /videos/{id}', withOne('video', show)),
  on('DELETE /videos/{id}', remove('video')),
  on(
    'GET /videos/{id}/content',
    withOne('video', ({ id }, { call }) => Buffer.from(`${call.query.get('variant')} of ${id}`)),
  ),
  on(
    'POST /videos/{id}/remix',
    withOne('video', (video, given) => makeVideo(given, video.id)),
    'either',
    'prompt',
  ),
]

export const image = Buffer.from('an image of the mock')

function imageUsage(usage: MockUsage) {
  const details = { text_tokens: usage.input - 10, image_tokens: 10, cached_tokens: usage.cacheRead }
  const input_tokens_details = { ...details, cache_write_tokens: usage.cacheWrite }
  const output_tokens_details = { reasoning_tokens: usage.reasoning }
  const total_tokens = usage.input + usage.output
  return {
    input_tokens: usage.input,
    input_tokens_details,
    output_tokens: usage.output,
    output_tokens_details,
    total_tokens,
  }
}

function answerImages({ body, usage, account }: FamilyCall, type: string): Given {
  for (const part of Array.isArray(body.images) ? body.images.filter(isObject) : [])
    if (typeof part.file_id === 'string' && account.find('file', part.file_id) === null)
      return notFound('file', part.file_id)
  const b64_json = image.toString('base64')
  if (body.stream !== true && body.stream !== 'true')
    return { created, data: [{ b64_json }], output_format: 'png', size: '1024x1024', usage: imageUsage(usage) }
  const about = {
    b64_json,
    created_at: created,
    size: '1024x1024',
    quality: 'high',
    background: 'opaque',
    output_format: 'png',
  }
  const events = [
    { type: `${type}.partial_image`, ...about, partial_image_index: 0 },
    { type: `${type}.partial_image`, ...about, partial_image_index: 1 },
    { type: `${type}.completed`, ...about, usage: imageUsage(usage) },
  ]
  return { stream: events.map(writeEvent), tokens: true }
}

function writeEvent(event: { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

export const sound = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) & 0xff))

function speak({ body, usage }: FamilyCall): Given {
  if (body.stream_format !== 'sse') return sound
  const audio = sound.toString('base64')
  const half = audio.length / 2
  const events = [
    { type: 'speech.audio.delta', audio: audio.slice(0, half) },
    { type: 'speech.audio.delta', audio: audio.slice(half) },
    { type: 'speech.audio.done', usage: imageUsage(usage) },
  ]
  return { stream: events.map(writeEvent), tokens: true }
}

/** As the form asks for it: JSON, plain text, or events. */
function transcribe({ body, usage }: FamilyCall): Given {
  const used = { type: 'tokens', ...imageUsage(usage), input_token_details: { audio_tokens: 10, text_tokens: 1 } }
  if (body.stream === 'true') {
    const events = [
      ...spoken.map((delta) => ({ type: 'transcript.text.delta', delta })),
      { type: 'transcript.text.done', text: spokenText, usage: used },
    ]
    return { stream: events.map(writeEvent), tokens: true }
  }
  const format = body.response_format ?? 'json'
  if (['text', 'srt', 'vtt'].includes(String(format))) return { text: `${spokenText}\n` }
  return { text: spokenText, usage: used }
}

function checkProvenance(): Given {
  const results = [
    {
      type: 'c2pa',
      outcome: 'not_detected',
      validation_state: 'not_present',
      issuer: null,
      model: null,
      generated_at: null,
    },
  ]
  return { object: 'content_provenance_check', created_at: created, results }
}

function createVoice(given: FamilyCall): Given {
  const consent = String(given.body.consent)
  if (given.account.find('voice_consent', consent) === null) return notFound('voice_consent', consent)
  return make('voice', 'voice_', ({ body }) => ({ object: 'audio.voice', created_at: created, name: body.name }))(given)
}

function makeConsent(given: FamilyCall): Given {
  const { name, language } = given.body
  return make('voice_consent', 'cons_', () => ({ object: 'audio.voice_consent', created_at: created, name, language }))(
    given,
  )
}

function makeVideo(given: FamilyCall, remixed: string | null): Given {
  const { body } = given
  const { model = 'sora-2', prompt, seconds = '4', size = '720x1280' } = body
  const reference = body['input_reference[file_id]']
  if (typeof reference === 'string' && given.account.find('file', reference) === null)
    return notFound('file', reference)
  const times = { created_at: created, completed_at: created, expires_at: null, error: null, progress: 100 }
  const about = { object: 'video', status: 'completed', model, prompt, seconds, size, remixed_from_video_id: remixed }
  return make('video', 'video_', () => ({ ...about, ...times }))(given)
}

/** On a video that it has, or one that comes with the form. */
function workOn(given: FamilyCall): Given {
  const { body, account, files } = given
  const id = isObject(body.video) ? body.video.id : body['video[id]']
  if (typeof id === 'string') return account.find('video', id) === null ? notFound('video', id) : makeVideo(given, id)
  return files.length === 0 ? new Refusal(400, "Missing required parameter: 'video'.", 'video') : makeVideo(given, null)
}

function makeCharacter(given: FamilyCall): Given {
  return make('character', 'char_', ({ body }) => ({ created_at: created, name: body.name }))(given)
}
