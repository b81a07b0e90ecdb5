import type { Endpoint } from '../../contract.ts'
import { creates, deletes, json, jsonOrMultipart, lists, multipart, uses } from '../../endpoint-row.ts'
import { asksForEvents, inspectJson } from '../inspection.ts'
import { createdBeside } from '../objects/created-objects.ts'
import { findNoReferences } from '../objects/references.ts'
import { readAudio, readCounted, readImages, readTranscript } from '../readers.ts'
import { readImageUnits, readSpeechUnits, readTranscriptionUnits } from '../units.ts'
import { row } from './row.ts'

const video = { video: 'video' } as const
const images = { media: 'answer', readUnits: readImageUnits, unitFields: ['n', 'size', 'quality'] } as const

/** Images, audio, voices, videos. Source: wire/lanes.md, section 1.3. */
export const media: readonly Endpoint[] = [
  row('images.generations', 'POST /images/generations', {
    model: 'body-optional',
    requestForms: json,
    stream: 'sse',
    reader: readImages,
    references: findNoReferences,
    ...images,
  }),
  row('images.edits', 'POST /images/edits', {
    model: 'body-optional',
    requestForms: jsonOrMultipart,
    stream: 'sse',
    reader: readImages,
    formObjects: { image: 'file', mask: 'file' },
    ...images,
  }),
  row('images.variations', 'POST /images/variations', {
    model: 'body-optional',
    requestForms: multipart,
    reader: readCounted,
    ...images,
  }),
  row('content_provenance_checks', 'POST /content_provenance_checks', { requestForms: multipart }),

  row('audio.speech', 'POST /audio/speech', {
    model: 'body',
    requestForms: json,
    responseForm: 'bytes',
    stream: 'sse',
    inspect: inspectJson({ readStream: asksForEvents }),
    reader: readAudio,
    readUnits: readSpeechUnits,
  }),
  row('audio.transcriptions', 'POST /audio/transcriptions', {
    model: 'body',
    requestForms: multipart,
    responseForm: 'json-or-text',
    stream: 'sse',
    reader: readTranscript,
    readUnits: readTranscriptionUnits,
  }),
  row('audio.translations', 'POST /audio/translations', {
    model: 'body',
    requestForms: multipart,
    responseForm: 'json-or-text',
    reader: readTranscript,
    readUnits: readTranscriptionUnits,
  }),
  row('voices.create', 'POST /audio/voices', {
    requestForms: multipart,
    object: creates('voice'),
    formObjects: { consent: 'voice_consent' },
  }),
  row('voices.delete', 'DELETE /audio/voices/{object}', { object: deletes('voice') }),
  row('voice_consents.create', 'POST /audio/voice_consents', {
    requestForms: multipart,
    object: creates('voice_consent'),
  }),
  row('voice_consents.list', 'GET /audio/voice_consents', { object: lists('voice_consent') }),
  row('voice_consents.get', 'GET /audio/voice_consents/{object}', { object: uses('voice_consent') }),
  row('voice_consents.update', 'POST /audio/voice_consents/{object}', {
    requestForms: json,
    object: uses('voice_consent'),
  }),
  row('voice_consents.delete', 'DELETE /audio/voice_consents/{object}', { object: deletes('voice_consent') }),

  row('videos.create', 'POST /videos', {
    media: 'answer',
    model: 'body-optional',
    requestForms: jsonOrMultipart,
    object: creates('video'),
    formObjects: { input_reference: 'file', characters: 'character', character_ids: 'character' },
  }),
  row('videos.list', 'GET /videos', { object: lists('video') }),
  row('videos.edits', 'POST /videos/edits', {
    billed: true,
    media: 'answer',
    requestForms: jsonOrMultipart,
    object: creates('video'),
    formObjects: video,
  }),
  row('videos.extensions', 'POST /videos/extensions', {
    billed: true,
    media: 'answer',
    requestForms: jsonOrMultipart,
    object: creates('video'),
    formObjects: video,
  }),
  row('videos.characters.create', 'POST /videos/characters', {
    requestForms: multipart,
    object: creates('character'),
    formObjects: video,
  }),
  row('videos.characters.get', 'GET /videos/characters/{object}', { object: uses('character') }),
  row('videos.get', 'GET /videos/{object}', { object: uses('video') }),
  row('videos.delete', 'DELETE /videos/{object}', { object: deletes('video') }),
  row('videos.content', 'GET /videos/{object}/content', { responseForm: 'bytes', object: uses('video') }),
  row('videos.remix', 'POST /videos/{object}/remix', {
    billed: true,
    media: 'answer',
    requestForms: jsonOrMultipart,
    object: uses('video'),
    createdObjects: createdBeside,
  }),
]
