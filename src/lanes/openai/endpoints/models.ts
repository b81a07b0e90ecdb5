import type { Endpoint, Match } from '../../contract.ts'
import { creates, deletes, json, lists, uses } from '../../endpoint-row.ts'
import { readChat } from '../chat-reader.ts'
import {
  chatLimits,
  completionLimits,
  inspectJson,
  isCompletionStored,
  isResponseStored,
  responseLimits,
} from '../inspection.ts'
import { endedResponse, startedResponse } from '../objects/ended.ts'
import { chatNames, findChatReferences, findNoReferences, responseNames } from '../objects/references.ts'
import { readCounted, readResponse, readStoredResponse } from '../readers.ts'
import { row } from './row.ts'

const counted = { requestForms: json, reader: readCounted, references: findNoReferences }

/** Chat, stored chat completions, and other calls that a model answers at once. Source: wire/lanes.md, section 1.3. */
export const generation: readonly Endpoint[] = [
  row('chat', 'POST /chat/completions', {
    format: 'chat',
    model: 'body',
    requestForms: json,
    stream: 'sse',
    object: creates('chat_completion'),
    outputLimits: chatLimits,
    signedReasoning: { hint: 'thought_signature', names: ['thought_signature'] },
    inspect: inspectJson({ watch: chatNames, isStored: isCompletionStored, asksForUsage: true }),
    reader: readChat,
    references: findChatReferences,
  }),
  row('chat.list', 'GET /chat/completions', { object: lists('chat_completion') }),
  row('chat.get', 'GET /chat/completions/{object}', { object: uses('chat_completion') }),
  row('chat.update', 'POST /chat/completions/{object}', { requestForms: json, object: uses('chat_completion') }),
  row('chat.delete', 'DELETE /chat/completions/{object}', { object: deletes('chat_completion') }),
  row('chat.messages', 'GET /chat/completions/{object}/messages', { object: uses('chat_completion') }),
  row('completions', 'POST /completions', {
    model: 'body',
    requestForms: json,
    stream: 'sse',
    outputLimits: completionLimits,
    inspect: inspectJson({ asksForUsage: true }),
    reader: readChat,
    references: findNoReferences,
  }),
  row('embeddings', 'POST /embeddings', { embeds: true, model: 'body', ...counted }),
  row('moderations', 'POST /moderations', { model: 'body-optional', usesTokens: false, ...counted }),
  row('decisions', 'POST /decisions', { model: 'body', ...counted }),
]

const createResponse = row('responses', 'POST /responses', {
  format: 'responses',
  // A response in the background is counted when its end is shown.
  billed: false,
  model: 'body',
  requestForms: json,
  stream: 'sse',
  object: creates('response'),
  outputLimits: responseLimits,
  signedReasoning: { hint: 'encrypted_content', names: ['encrypted_content'] },
  inspect: inspectJson({ watch: responseNames, isStored: isResponseStored }),
  reader: readResponse,
  startedWork: startedResponse,
})

/**
 * The call whose rules apply to the frames of WebSockets: some contain its body, and all refer to objects as it does.
 */
export const responseCall: Match = {
  endpoint: createResponse,
  pathModel: null,
  path: createResponse.path,
  version: null,
  object: null,
}

/**
 * Responses and conversations. The `?beta=true` variants have the same paths. A stored response is streamed again when
 * its query says `stream=true`. Source: wire/lanes.md, section 1.3.
 */
export const responses: readonly Endpoint[] = [
  createResponse,
  row('responses.compact', 'POST /responses/compact', { model: 'body', requestForms: json, reader: readResponse }),
  row('responses.input_tokens', 'POST /responses/input_tokens', {
    counts: 'responses',
    model: 'body-optional',
    requestForms: json,
    usesTokens: false,
  }),
  row('responses.get', 'GET /responses/{object}', {
    keptForm: 'response',
    stream: 'sse',
    object: uses('response'),
    reportsUsage: 'end',
    reader: readStoredResponse,
    endedWork: endedResponse,
  }),
  row('responses.delete', 'DELETE /responses/{object}', {
    keptForm: 'deleted',
    responseForm: 'nothing',
    object: deletes('response'),
  }),
  row('responses.cancel', 'POST /responses/{object}/cancel', {
    keptForm: 'cancelled',
    object: uses('response'),
    reportsUsage: 'end',
    endedWork: endedResponse,
  }),
  row('responses.input_items', 'GET /responses/{object}/input_items', { keptForm: 'items', object: uses('response') }),

  row('conversations.create', 'POST /conversations', { requestForms: json, object: creates('conversation') }),
  row('conversations.get', 'GET /conversations/{object}', { object: uses('conversation') }),
  row('conversations.update', 'POST /conversations/{object}', { requestForms: json, object: uses('conversation') }),
  row('conversations.delete', 'DELETE /conversations/{object}', { object: deletes('conversation') }),
  row('conversations.items.create', 'POST /conversations/{object}/items', {
    requestForms: json,
    object: uses('conversation'),
  }),
  row('conversations.items.list', 'GET /conversations/{object}/items', { object: uses('conversation') }),
  row('conversations.items.get', 'GET /conversations/{object}/items/{item}', { object: uses('conversation') }),
  row('conversations.items.delete', 'DELETE /conversations/{object}/items/{item}', { object: uses('conversation') }),
]
